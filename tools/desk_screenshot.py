"""Draws the review desk on the sample abstracts, and records a session: ``python tools/desk_screenshot.py SVG RECORDING``.

The recording is an SVG whose frames follow each other without a script; viewers that do not animate show the first one.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from sciextract.documents.schema_file import load_schema
from sciextract.store import create_project
from sciextract.workflows.annotate_job import ProjectJob
from sciextract.workflows.import_files import ImportListener
from sciextract.workflows.model_choice import ModelChoice
from sciextract_app.app import DeskApp
from sciextract_app.opening import plan
from sciextract_app.review.view.screen import ReviewScreen

Size = tuple[int, int]
SIZE, SMALL = (120, 36), (104, 28)
SECONDS = 2.2
"""How long a frame stays."""
SAMPLE = "sample_data/library.bib"
STILL = (("enter enter", ""),)
SESSION = (
    ("enter", "Enter: this is right, next"),
    ("enter enter enter enter", "Enter, four times: right, too"),
    ("x", "x: this relation is wrong, reject it"),
    ("enter enter enter enter enter", "Enter, five times: right again"),
    ("2", "2: a Method, as the line with the types shows"),
    ("i", "i: a relation, but the other way round"),
    ("enter enter enter enter enter", "Enter, five times: right again"),
    ("r", "r: a relation between this and ..."),
    ("@lattice_arc", "its letter: ... the lattice arc"),
    ("4", "4: it is a part of it"),
    ("A", "A: accept everything that the model is sure about"),
    ("u", "u: take that back, all of it"),
    ("D", "D: done? The line below says what is left"),
)
"""Keys of each step, and what is written below; ``@`` stands for the letters over these words."""
_VIEW_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def predicted_project(folder: Path) -> Path:
    """A project of the sample library with the bundled model's predictions."""
    path = folder / "library.sciextract"
    create_project(path, load_schema("scierc"), "you").close()
    job = ProjectJob(path, ModelChoice(candidates=True), (SAMPLE,), author="you")
    job.run(ImportListener(), lambda done, total: None, lambda note: None)
    return path


async def frames(project: Path, session: Sequence[tuple[str, str]], size: Size) -> list[str]:
    """The desk at first and after each step of a session, as SVGs that fetch no fonts."""
    app = DeskApp(plan([str(project)]), "you")
    drawn = []
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for keys, _ in (("", ""), *session):
            for key in keys.split():
                await pilot.press(*(_letters_over(app, key[1:]) if key[0] == "@" else (key,)))
            await pilot.pause()
            drawn.append(
                _WEB_FONT.sub("", app.export_screenshot(title="sciextract tui library.bib"))
            )
    app.close_project()
    return drawn


def _letters_over(app: DeskApp, words: str) -> str:
    """The letters that stand over words of the open abstract; ``_`` stands for a blank."""
    desk = next(screen for screen in app.screen_stack if isinstance(screen, ReviewScreen)).desk
    hints = desk.passage().hints
    text = desk.state.open_view.text
    found = (match.start() for match in re.finditer(words.replace("_", " "), text))
    return next(hints[char] for char in found if char in hints)


def recording(drawn: Sequence[str], session: Sequence[tuple[str, str]]) -> str:
    """One SVG that shows frame after frame, with what was pressed below, from the beginning again at the end."""
    found = _VIEW_BOX.search(drawn[0])
    if found is None:
        sys.exit("the drawing of the toolkit has no viewBox")
    width, height = (round(float(size)) for size in found.groups())
    captions = ["sciextract tui library.bib", *(words for _, words in session)]
    share = 100 / len(drawn)
    rules, parts = [], []
    for place, (frame, caption) in enumerate(zip(drawn, captions, strict=True)):
        start, end = share * place, share * (place + 1)
        before = "" if place == 0 else "0% { visibility: hidden } "
        rules.append(
            f"@keyframes f{place} {{ {before}{start:.3f}% {{ visibility: visible }} "
            f"{end:.3f}%, 100% {{ visibility: hidden }} }}\n"
            f".f{place} {{ animation: f{place} {len(drawn) * SECONDS:.1f}s step-end infinite; "
            f"visibility: {'visible' if place == 0 else 'hidden'} }}"
        )
        inner = frame[frame.index("<svg") :].replace(
            "<svg ", f'<svg width="{width}" height="{height}" ', 1
        )
        parts.append(
            f'<g class="f{place}">{inner}<text class="caption" x="{width / 2}" y="{height + 34}">{escape(caption)}</text></g>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 56}">\n<style>\n'
        f".caption {{ font: 24px monospace; text-anchor: middle }}\n"
        + "\n".join(rules)
        + f'\n</style>\n<rect width="{width}" height="{height + 56}" fill="#ffffff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def main() -> None:
    """Makes the projects, runs the desk and writes drawing and recording."""
    if len(sys.argv) != 3:
        sys.exit("usage: python tools/desk_screenshot.py SVG RECORDING")
    for target, session, size in ((sys.argv[1], STILL, SIZE), (sys.argv[2], SESSION, SMALL)):
        with tempfile.TemporaryDirectory() as folder:
            drawn = asyncio.run(frames(predicted_project(Path(folder)), session, size))
        svg = drawn[-1] + "\n" if session is STILL else recording(drawn, session)
        Path(target).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
