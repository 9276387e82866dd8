"""Kills a process with ``kill -9`` while it works on a project, again and again, and looks at what is left.

Usage: ``python benchmarks/store_kills.py [--kills 240] [--seed 1] [--json PATH]``.

The process reports each finished action through a pipe before it begins the next. After each kill everything
reported must be in the file, at most the action in flight may be missing, SQLite must find the file sound, the
state must be what the log says, and work must go on. This shows what a dying process leaves; a power cut
would also test the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.store_corpus import build
from benchmarks.store_kill_child import ITEMS, KINDS
from sciextract.store import Project, open_project
from sciextract.store.maintenance import checks
from sciextract.store.maintenance.backup import folder_of
from sciextract.store.maintenance.checks import Severity
from sciextract.store.sqlite import connect
from sciextract.store.sqlite_errors import problems

DOCUMENTS = 60
SECONDS = 0.4
"""The longest time from a child's first word to its end."""


@dataclass
class Tally:
    """What was found after the kills of one kind of work.

    Attributes:
        reported: Actions that the killed processes had reported.
        lost: Those of them that were missing afterwards.
        unreported: Actions in flight that were in the file although they had not been reported.
        broken: What else was wrong, in words.
    """

    kills: int = 0
    reported: int = 0
    lost: int = 0
    unreported: int = 0
    broken: list[str] = field(default_factory=list)


def main() -> None:
    options = _options()
    chance = random.Random(options.seed)
    begin = time.perf_counter()
    tallies = {kind: Tally() for kind in KINDS}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        base = make_base(Path(folder))
        for turn in range(options.kills):
            kind = KINDS[turn % len(KINDS)]
            kill_once(kind, base, chance.randrange(10**9), tallies[kind])
    print(_markdown(tallies, time.perf_counter() - begin))
    if options.json:
        report = {kind: asdict(tally) for kind, tally in tallies.items()}
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if any(tally.lost or tally.broken for tally in tallies.values()):
        raise SystemExit(1)


def make_base(folder: Path) -> Path:
    """The project that every child starts from."""
    base = folder / "base.sciextract"
    build(base, [], DOCUMENTS, ITEMS)
    return base


def kill_once(kind: str, base: Path, seed: int, tally: Tally) -> None:
    """Let a child work on a copy of the project, kill it, and look at what is left."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=base.parent) as folder:
        path = Path(folder) / "p.sciextract"
        path.write_bytes(base.read_bytes())
        reports = _kill(kind, path, chance)
        tally.kills += 1
        tally.reported += len(reports)
        for found in _LOOK[kind](path, reports, tally):
            tally.broken.append(f"{kind}, seed {seed}: {found}")


def _kill(kind: str, path: Path, chance: random.Random) -> list[dict[str, Any]]:
    """What a child reported until it was killed at a random moment of its work."""
    command = [sys.executable, "-m", "benchmarks.store_kill_child", kind, str(path)]
    with subprocess.Popen(
        [*command, str(chance.randrange(10**9))],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as child:
        if child.stdout is None or not child.stdout.readline():
            raise SystemExit(f"the child for {kind!r} did not start")
        time.sleep(chance.random() * SECONDS)
        child.kill()
        lines = child.stdout.read().split(b"\n")[:-1]  # the last line is whole, or not there
    return [json.loads(line) for line in lines]


def _after_work(path: Path, reports: list[dict[str, Any]], tally: Tally) -> Iterator[str]:
    """A project that was worked on: sound, complete, and good for more work."""
    with open_project(path, "survivor") as project:
        yield from _sound(project)
        yield from _complete(project, reports, tally)
        before = len(project.log())
        project.actions.note(1, f"{time.monotonic_ns()}")
        if len(project.log()) != before + 1:
            yield "no action can be done afterwards"
    left = [path.name + end for end in ("-wal", "-shm", "-journal")]
    yield from (f"{name} is left after closing" for name in left if (path.parent / name).exists())


def _sound(project: Project) -> Iterator[str]:
    """What SQLite or the doctor's checks find wrong."""
    yield from problems(project.connection)
    connection = project.connection
    looks = (checks.check_references, checks.check_words)
    for check in (*looks, checks.check_documents):
        for finding in check(connection):
            if finding.severity is Severity.ERROR:
                yield finding.message


def _complete(project: Project, reports: list[dict[str, Any]], tally: Tally) -> Iterator[str]:
    """Whether everything reported is there, and at most one action more."""
    for report in reports:
        if not all(_HAS[what](project, value) for what, value in report.items()):
            tally.lost += 1
            yield f"{report} was reported and is lost"
    if reports and all("event" in report for report in reports):
        further = project.log(1)[0].id - max(report["event"] for report in reports)
        tally.unreported += further
        if further > 1:
            yield f"{further} events are there that were never reported"


def _after_backup(path: Path, reports: list[dict[str, Any]], tally: Tally) -> Iterator[str]:
    """Every file that looks like a backup is whole."""
    yield from _after_work(path, reports, tally)
    for backup in (file for file in folder_of(path).glob("*.sciextract")):
        with closing(connect(backup, "immutable")) as connection:
            yield from problems(connection)


def _after_create(path: Path, reports: list[dict[str, Any]], tally: Tally) -> Iterator[str]:
    """A new project is whole or not there."""
    made = {str(file) for file in path.parent.glob("made-*.sciextract")}
    reported = {report["created"] for report in reports}
    tally.lost += len(reported - made)
    tally.unreported += len(made - reported)
    if len(made - reported) > 1:
        yield "more than one project was made without a report"
    for copy in made:
        with open_project(copy, "survivor") as project:
            yield from _sound(project)


def _has_keys(project: Project, keys: list[str]) -> bool:
    marks = ", ".join("?" * len(keys))
    query = f"SELECT count(*) FROM document WHERE doc_key IN ({marks})"
    return bool(project.connection.execute(query, keys).fetchone()[0] == len(keys))


def _has_predictions(project: Project, value: tuple[str, list[int]]) -> bool:
    source, numbers = value
    found = project.connection.execute(
        """SELECT a.document_id FROM annotation_set a JOIN source s ON s.id = a.source_id
        WHERE s.name = ?""",
        (source,),
    )
    return {number for (number,) in found} >= set(numbers)


def _has_finished(project: Project, run: str) -> bool:
    query = "SELECT finished FROM run WHERE id = ?"
    return project.connection.execute(query, (run,)).fetchone()[0] is not None


def _has_event(project: Project, event: int) -> bool:
    query = "SELECT 1 FROM event WHERE id = ?"
    return project.connection.execute(query, (event,)).fetchone() is not None


def _has_backup(project: Project, backup: str) -> bool:
    """It is there, or ten newer ones are."""
    names = sorted(path.name for path in folder_of(project.path).glob("*.sciextract"))
    return Path(backup).name in names or (len(names) >= 10 and Path(backup).name < names[0])


_HAS: dict[str, Callable[[Project, Any], bool]] = {
    "keys": _has_keys,
    "event": _has_event,
    "predicted": _has_predictions,
    "finished": _has_finished,
    "backup": _has_backup,
}
_LOOK: dict[str, Callable[[Path, list[dict[str, Any]], Tally], Iterator[str]]] = {
    **dict.fromkeys(KINDS, _after_work),
    "backup": _after_backup,
    "new project": _after_create,
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--folder", metavar="DIR", help="where the projects lie, on the disk to be tested"
    )
    parser.add_argument("--json", metavar="PATH", help="write every number there")
    return parser.parse_args()


def _markdown(tallies: dict[str, Tally], seconds: float) -> str:
    total = Counter[str]()
    kills = sum(tally.kills for tally in tallies.values())
    lines = [
        f"{kills} kills in {seconds:.0f} s; {platform.system()}, Python {platform.python_version()}.",
        "",
        "| killed during | kills | actions reported | of them lost | in flight, yet saved | broken |",
        "|---|---|---|---|---|---|",
    ]
    for kind, tally in tallies.items():
        row = {
            "kills": tally.kills,
            "reported": tally.reported,
            "lost": tally.lost,
            "unreported": tally.unreported,
            "broken": len(tally.broken),
        }
        total.update(row)
        lines.append(f"| {kind} | " + " | ".join(map(str, row.values())) + " |")
    lines.append("| all | " + " | ".join(str(total[name]) for name in row) + " |")
    return "\n".join([*lines, *(text for t in tallies.values() for text in t.broken)])


if __name__ == "__main__":
    main()
