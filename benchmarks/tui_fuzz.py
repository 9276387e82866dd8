"""Presses keys at random on the whole desk, headless, and looks whether the project stays sound.

Usage: ``python benchmarks/tui_fuzz.py [--keys 50000] [--seed 1] [--session 500] [--jobs 2] [--json PATH]``.

Each session presses some hundred keys on a fresh copy of a project and follows from its own seed alone, so that a failed
one can be repeated: ``--seed 17 --keys 1``. Sessions that passed are kept in ``--done FILE`` when it is given; the
next run with the same file goes on behind them.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "app")]

from benchmarks.rows import machine, write_report
from tests.app.random_pilot import KEPT, Session
from tests.app.review.random_keys import original_project

Found = dict[str, Any]


def main() -> None:
    options = _options()
    begin, passed, failed = time.perf_counter(), 0, []
    for found in _sessions(options, _seeds(options)):
        if found["failure"]:
            failed.append(found)
            print(_tell(found), file=sys.stderr, flush=True)
        else:
            passed += found["presses"]
            _note(options.done, found["seed"])
    seconds = time.perf_counter() - begin
    print(f"{passed:,} presses passed, {len(failed)} sessions failed, {seconds:.0f} s; {machine()}")
    write_report(options.json, options, [], {"passed": passed, "failed": failed})
    sys.exit(bool(failed))


def _sessions(options: argparse.Namespace, seeds: list[int]) -> Iterator[Found]:
    """What came of each session, in processes of their own: the app has signals and a working folder."""
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=5) as pool:
        yield from pool.imap_unordered(_session, [(seed, options.session) for seed in seeds])


def _session(wanted: tuple[int, int]) -> Found:
    seed, presses = wanted
    session = Session(seed, presses)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name in ("original", "work"):
            (Path(folder) / name).mkdir()
        os.environ["SCIEXTRACT_HOME"] = f"{folder}/home"
        original = original_project(Path(folder) / "original")
        asyncio.run(session.run(original, Path(folder) / "work"))
    pressed = session.pressed
    return {
        "seed": seed,
        "presses": len(pressed),
        "starts": session.starts,
        "failure": session.failure,
        "last": pressed[-KEPT:] if session.failure else [],
    }


def _seeds(options: argparse.Namespace) -> list[int]:
    """The sessions that are still to do."""
    done: set[int] = set()
    if options.done and Path(options.done).exists():
        done = {int(line) for line in Path(options.done).read_text("utf-8").split()}
    first, count = options.seed, -(-options.keys // options.session)
    return [seed for seed in range(first, first + count) if seed not in done]


def _note(file: str | None, seed: int) -> None:
    if file:
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(f"{seed}\n")


def _tell(found: Found) -> str:
    again = f"python benchmarks/tui_fuzz.py --seed {found['seed']} --keys 1"
    return (
        f"seed {found['seed']} failed after {found['presses']} presses; the last ones:\n"
        f"{' '.join(found['last'])}\n{found['failure']}\nagain: {again}\n"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keys", type=int, default=50_000, help="how many in all")
    parser.add_argument("--seed", type=int, default=1, help="of the first session")
    parser.add_argument("--session", type=int, default=500, help="keys of a session")
    parser.add_argument("--jobs", type=int, default=2, help="sessions at a time")
    parser.add_argument("--done", metavar="FILE", help="keeps the seeds that passed")
    parser.add_argument("--json", metavar="PATH", help="write what was found there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
