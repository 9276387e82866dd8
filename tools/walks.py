"""Counts the files that a document crosses in ``annotate``, an accepted item at the desk, and a retraining.

    python tools/walks.py annotate      # files that run again for every further abstract
    python tools/walks.py key           # Enter on an undecided entity, to the commit
    python tools/walks.py retrain       # an epoch on nine abstracts from the default model, to the registered model

Prints each file with its number of calls. Files of value types and helpers count like those that decide something.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("sciextract/", "app/sciextract_app/", "trainer/sciextract_trainer/")


def calls(work: Callable[[], object]) -> Counter[str]:
    """Calls by file of this checkout's packages, in all threads; code of imported modules does not count."""
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
        if event == "call" and name.startswith(PACKAGES) and frame.f_code.co_name != "<module>":
            counted[name] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return counted


def annotate() -> Counter[str]:
    """What six abstracts call beyond what two call."""
    from sciextract.cli.main import main

    lines = (ROOT / "sample_data" / "abstracts.jsonl").read_text("utf-8").splitlines(True)
    found: list[Counter[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in (2, 2, 6):  # the first loads what later runs share
            path = Path(folder, f"{len(found)}.jsonl")
            path.write_text("".join(lines[:number]), "utf-8")
            sys.argv = ["sciextract", "annotate", str(path), "--export", "jsonl"]
            sys.argv += ["--output", str(path.with_suffix(".out"))]
            found.append(calls(main))
    return found[2] - found[1]


def key() -> Counter[str]:
    """Enter, as the desk's screen passes it to the presenter."""
    from sciextract_app.presenters.desk import Desk
    from tests.app.presenter.abstracts import AGAIN, TEXT, gold, project_with

    with (
        tempfile.TemporaryDirectory() as folder,
        project_with(Path(folder), gold(), (TEXT, AGAIN, "")) as project,
    ):
        desk = Desk(project)
        desk.press("enter")
        return calls(lambda: desk.press("enter"))


def retrain() -> Counter[str]:
    """``sciextract retrain`` on this machine."""
    from sciextract.cli.main import main
    from sciextract.documents.schema_file import load_schema
    from tests.trainer.correction.rounds import otters

    with tempfile.TemporaryDirectory() as folder:
        os.environ["SCIEXTRACT_HOME"] = folder
        project = otters(Path(folder), load_schema("scierc"))
        words = ["--project", str(project), "--epochs", "1", "--device", "cpu", "--json"]
        sys.argv = ["sciextract", "retrain", *words]
        return calls(main)


if __name__ == "__main__":
    walks = {"annotate": annotate, "key": key, "retrain": retrain}
    if len(sys.argv) != 2 or sys.argv[1] not in walks:
        sys.exit(__doc__)
    counted = walks[sys.argv[1]]()
    for name, number in counted.most_common():
        print(f"{number:8,}  {name}")
    print(f"{len(counted)} files")
