"""Writes what sciextract prints and exports into a folder, to be compared before and after a change of the code's form.

    python tools/golden.py build/golden/before      # at the commit before
    python tools/golden.py build/golden/after
    diff -r build/golden/before build/golden/after  # silent when behaviour is the same

Every line of output comes from the commands that users run. Ids, times and versions, which differ from run to run, are replaced
by their order of appearance. Predicted scores depend on the processor: compare runs of one machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pyarrow.ipc
import pyarrow.parquet
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from sciextract.formats.registry import writable
from sciextract.store import open_project
from sciextract.store.maintenance.rebuild import all_numbers, rebuild

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_data"
#: ULIDs, times of day, versions of this package, and the hash of a model run.
CHANGING = re.compile(
    rb"\b[0-9A-HJKMNP-TV-Z]{26}\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?"
)


def main(folder: Path) -> None:
    """Write all golden outputs.

    Raises:
        SystemExit: The folder holds something, or a command fails.
    """
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        shutil.copytree(SAMPLES, work / "samples", ignore=shutil.ignore_patterns("*.py"))
        os.environ["SCIEXTRACT_HOME"] = str(work / "home")
        write(folder / "hashes.txt", "\n".join(bundled_hashes()).encode())
        shutil.copy(ROOT / "docs" / "cli.md", folder / "cli.md")
        predictions(folder / "annotate", work)
        evaluations(folder / "evaluate", work)
        project(folder / "project", work)
        earlier_projects(folder / "migrated", work)


def predictions(folder: Path, work: Path) -> None:
    """``annotate`` on the samples: the readable view and our own format with each model, every format with one."""
    inputs = [f"samples/{name}" for name in ("abstracts.jsonl", "abstracts.csv", "library.bib")]
    inputs += [
        f"samples/{name}" for name in ("library.ris", "pubmed.nbib", "biomedical.txt", "text")
    ]
    for model in ("sci", "bio", "auto"):
        write(folder / model / "view.txt", run(work, "annotate", *inputs, "--model", model))
        found = run(work, "annotate", *inputs, "--model", model, "--export", "jsonl")
        write(folder / model / "jsonl", found)
    for name in writable_names():
        output = work / f"annotated-{name}"
        words = ["--export", name, "--output", str(output)]
        run(work, "annotate", "samples/abstracts.jsonl", *words)
        keep(output, folder / "formats" / name)
    scored = run(work, "annotate", "samples/abstracts.jsonl", "--export", "jsonl", "--candidates")
    write(folder / "candidates.jsonl", scored)


def evaluations(folder: Path, work: Path) -> None:
    """``evaluate --json`` of each model on the gold samples."""
    for model in ("sci", "bio"):
        words = ("evaluate", "samples/gold.jsonl", "--model", model, "--json")
        write(folder / f"{model}.json", run(work, *words, fails=model == "bio"))


def project(folder: Path, work: Path) -> None:
    """A project with imports, predictions and decisions: every export, and every row of its state."""
    path = work / "work.sciextract"
    run(work, "init", str(path))
    run(work, "import", "samples/gold.jsonl", "samples/abstracts.jsonl", "--project", str(path))
    run(work, "annotate", "--project", str(path), "--export", "jsonl")
    with open_project(path, author="golden") as opened:
        for number in opened.numbers():
            opened.actions.accept_above(0.5 + 0.05 * (number % 5), number)
        opened.actions.accept_above(0.1, opened.numbers()[0])
        opened.undo()
    for name in writable_names():
        output = work / f"exported-{name}"
        words = ("--format", name, "--output", str(output), "--undecided")
        run(work, "export", "--project", str(path), *words)
        keep(output, folder / "formats" / name)
    for command in ("status", "stats", "log", "doctor"):
        printed = run(work, command, "--project", path.name, "--json")
        found = re.sub(rb'("free_bytes": )\d+', rb"\g<1>0", printed)
        write(folder / f"{command}.json", found.replace(str(work).encode(), b"<work>"))
    write(folder / "state.sql", "\n".join(state_of(path)).encode())


def earlier_projects(folder: Path, work: Path) -> None:
    """The state and the export of project files of every schema version, once today's code has migrated and rebuilt them."""
    for script in sorted((ROOT / "tests" / "fixtures" / "projects").glob("*.sql")):
        path = work / f"{script.stem}.sciextract"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script.read_text("utf-8"))
        with open_project(path, author="golden") as opened:
            rebuild(opened, all_numbers(opened.connection))
        write(folder / f"{script.stem}.sql", "\n".join(state_of(path)).encode())
        words = ("--format", "jsonl", "--undecided", "--project", str(path))
        write(folder / f"{script.stem}.jsonl", run(work, "export", *words))


def writable_names() -> list[str]:
    """Ids of all formats that are written."""
    return [spec.id for spec in writable()]


def state_of(path: Path) -> Iterable[str]:
    """All rows of a project file, table by table, as SQL; blobs by their hash."""
    with sqlite3.connect(path) as connection:
        for line in connection.iterdump():
            if "_fts" not in line.split("(")[0]:
                line = re.sub(r"'[0-9a-f]{16}'", "'<hash of a time>'", line)
                yield re.sub(r"X'([0-9A-F]{64,})'", lambda found: _hash(found[1].encode()), line)


def bundled_hashes() -> Iterable[str]:
    """The sha256 of every file of the bundled models."""
    for path in sorted((ROOT / "sciextract" / "bundled").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{_hash(path.read_bytes())} {path.relative_to(ROOT)}"


def run(work: Path, *words: str, fails: bool = False) -> bytes:
    """Standard output of a command, which must succeed unless ``fails``."""
    command = [sys.executable, "-m", "sciextract", *words]
    done = subprocess.run(command, cwd=work, capture_output=True, check=False)
    if done.returncode not in (0, 3) and not fails:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr.decode()}")
    return done.stdout + (done.stderr if fails else b"")


def keep(output: Path, target: Path) -> None:
    """One output file, or a folder of them, with what changes replaced."""
    files = (
        sorted(each for each in output.rglob("*") if each.is_file())
        if output.is_dir()
        else [output]
    )
    for each in files:
        place = target / each.relative_to(output) if output.is_dir() else target
        write(place, unpacked(each))


def unpacked(path: Path) -> bytes:
    """What a file holds; Parquet, Arrow and DocBin as JSON, since their bytes may differ where their rows do not."""
    content = path.read_bytes()
    if content.startswith(b"PAR1"):
        rows: object = pyarrow.parquet.read_table(path).to_pylist()
    elif content.startswith(b"\xff\xff\xff\xff"):
        rows = pyarrow.ipc.open_stream(content).read_all().to_pylist()
    elif content.startswith((b"x\x9c", b"x\xda")):
        docs = DocBin(store_user_data=True).from_bytes(content).get_docs(Vocab())
        rows = [[doc.to_json(), repr(sorted(doc.user_data.items(), key=repr))] for doc in docs]
    else:
        return content
    return json.dumps(rows, indent=1, default=repr).encode()


def write(path: Path, content: bytes) -> None:
    """A file in which ids and times stand as their order of appearance."""
    seen: dict[bytes, bytes] = {}
    stable = CHANGING.sub(lambda found: seen.setdefault(found[0], b"<%d>" % len(seen)), content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(stable.replace(str(ROOT).encode(), b"<root>"))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
