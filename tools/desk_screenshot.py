"""Draws the review desk on the sample abstracts: ``python tools/desk_screenshot.py SVG``."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path

from sciextract.documents.schema_file import load_schema
from sciextract.store import create_project
from sciextract.workflows.annotate_job import ProjectJob
from sciextract.workflows.import_files import ImportListener
from sciextract.workflows.model_choice import ModelChoice
from sciextract_app.app import DeskApp
from sciextract_app.opening import plan

SIZE = (120, 36)
SAMPLE = "sample_data/library.bib"
KEYS = ("enter", "enter", "x", "enter", "tab")
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def predicted_project(folder: Path) -> Path:
    """A project of the sample library with the bundled model's predictions."""
    path = folder / "library.sciextract"
    create_project(path, load_schema("scierc"), "you").close()
    job = ProjectJob(path, ModelChoice(candidates=True), (SAMPLE,), author="you")
    job.run(ImportListener(), lambda done, total: None)
    return path


async def drawing(project: Path) -> str:
    """The desk after a few keys, as SVG that fetches no fonts."""
    app = DeskApp(plan([str(project)]), "you")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        for key in KEYS:
            await pilot.press(key)
        await pilot.pause()
        drawn = app.export_screenshot(title="sciextract tui library.bib")
    app.close_project()
    return _WEB_FONT.sub("", drawn)


def main() -> None:
    """Makes the project, runs the desk and writes the drawing."""
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/desk_screenshot.py SVG")
    with tempfile.TemporaryDirectory() as folder:
        svg = asyncio.run(drawing(predicted_project(Path(folder))))
    Path(sys.argv[1]).write_text(svg + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
