"""Strings that were decided are proposed wherever else they stand, for types that no model predicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.documents.document import ModelId
from sciextract.documents.schema_file import parse_schema
from sciextract.store import create_project, open_project
from sciextract.store.ingest import ModelRun
from sciextract.workflows.import_files import import_files
from tests.app.screens_support import opened, until_shown

SCHEMA = parse_schema(
    {"name": "metals", "entities": [{"label": "Alloy", "key": "a", "colour": "#4e79a7"}]}, "here"
)
ABSTRACTS = (
    "Old grey brass rusts. New grey brass and brass wires do not. Brasses vary.",
    "Nobody wants grey brass, brassware, some brass or other brass.",
    "A last brass, and one more grey brass.",
)


def own_project(folder: Path) -> Path:
    texts, path = folder / "texts", folder / "metals.sciextract"
    texts.mkdir()
    for place, text in enumerate(ABSTRACTS):
        (texts / f"{place}.txt").write_text(text)
    with create_project(path, SCHEMA) as made:
        import_files(made, [str(texts)])
    return path


def waiting(path: Path, number: int) -> list[tuple[str, str]]:
    """What is proposed in an abstract, with its source."""
    with open_project(path, read=True) as project:
        doc, sources = project.document_state(number), project.sources
        undecided = (row for row in doc.entities if row.state is State.UNDECIDED)
        return [(row.surface(doc.text), sources[row.source_id]) for row in undecided]


@pytest.mark.asyncio
async def test_decided_strings_are_proposed_here_in_later_abstracts_and_after_a_restart(
    tmp_path: Path,
) -> None:
    path = own_project(tmp_path)
    long, short = ("grey brass", "import:as in 0"), ("brass", "import:as in 0")
    async with opened(path) as (_, pilot):
        await until_shown(pilot, "wires")
        await pilot.press("l", "v", "l", "1")
        assert waiting(path, 1) == [long]
        await pilot.press("u")
        assert waiting(path, 1) == [], "one step of undo"
        await pilot.press("U", "tab", "enter", "l", "l", "l", "1")
        assert waiting(path, 1) == [], "nothing within what is decided, nor within a word"
        await pilot.press("D", "u")
        assert waiting(path, 2) == [long, short, short], (
            "the person's undo takes back their own work"
        )
        await pilot.press("n", "enter", "x", "x")
    async with opened(path) as (_, pilot):
        await pilot.press("n")
        await until_shown(pilot, "one more")
        proposed = [("grey brass", "import:as in 1")]
        assert waiting(path, 3) == proposed, "one brass was right and two were not"


@pytest.mark.asyncio
async def test_types_that_a_model_predicts_are_left_to_it(tmp_path: Path) -> None:
    path = own_project(tmp_path)
    with open_project(path) as project:
        run = ModelRun(project, ModelId("known", "f" * 64), {})
        run.add([(1, project.document(1))])
    async with opened(path) as (_, pilot):
        await until_shown(pilot, "wires")
        await pilot.press("l", "v", "l", "1", "n")
        await until_shown(pilot, "brassware")
    assert waiting(path, 1) == waiting(path, 2) == []
