"""Suggestions before anything is corrected, from the desk: terms, other labels, and the way back."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.store import create_project, open_project
from sciextract.workflows import suggesters
from sciextract.workflows.import_files import import_files
from sciextract.workflows.model_choice import ModelChoice
from sciextract.workflows.pattern_matching import PatternMatcher
from sciextract_app.widgets.dialogs import KeyedDialog
from tests.app.screens_support import desk_of, opened, shown, until, until_shown
from tests.cli.fakes import RuleExtractor

pytestmark = pytest.mark.asyncio
SCHEMA = """name = "alloys"
coreference = false
[[entities]]
label = "Alloy"
key = "a"
colour = "#4e79a7"
"""
Labels = list[tuple[str, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of invented labels that the model does not know."""
    schema = tmp_path / "alloys.toml"
    schema.write_text(SCHEMA)
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("NiTi alloys bend. Steel does not.")
    path = tmp_path / "alloys.sciextract"
    with create_project(path, load_schema(str(schema)), "ann") as made:
        import_files(made, [str(texts)])
    (tmp_path / "terms.csv").write_text("niti alloy,Alloy\nsteel,Alloy\n")
    (tmp_path / "wrong.csv").write_text("steel,Metal\n")
    monkeypatch.chdir(tmp_path)
    return path


def undecided(path: Path) -> Labels:
    with open_project(path, read=True) as opened_project:
        doc = opened_project.document_state(1)
        return [(entity.surface(doc.text), entity.label) for entity in doc.entities]


async def test_a_project_of_unknown_labels_offers_terms_at_once_and_undo_takes_them_back(
    project: Path,
) -> None:
    async with opened(project, load=RuleExtractor) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, KeyedDialog))
        await until_shown(pilot, "Labels of this project: Alloy")
        await pilot.press("t", *"terms.csv", "enter")
        await until_shown(pilot, "2 suggestions in 1 abstract")
        assert undecided(project) == [("NiTi alloys", "Alloy"), ("Steel", "Alloy")]
        await pilot.press("u", "enter")
        await until(pilot, lambda: undecided(project) == [])
        await pilot.press("f9", "t", *"wrong.csv", "enter")
        await until_shown(pilot, "no label 'Metal'")
        await pilot.press("f9", "t", *"terms.csv", "enter")
        await until_shown(pilot, "2 suggestions in 1 abstract")
    async with opened(project, load=RuleExtractor) as (app, pilot):
        await until_shown(pilot, "no model predicts these labels")
        assert app.screen is desk_of(app)  # there is work already: nothing is asked


async def test_bare_mentions_get_their_label_by_one_key_and_others_by_a_map(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Callable[..., RuleExtractor] = lambda *_: RuleExtractor()
    monkeypatch.setattr(ModelChoice, "load", model)
    async with opened(project) as (_, pilot):
        await pilot.press("f9", "s")
        await until(pilot, lambda: ("alloys", "") in undecided(project))
        await until_shown(pilot, "u undoes them")
        await pilot.press("1")
        assert ("alloys", "Alloy") in undecided(project)
        await pilot.press("u", "u", "enter")
        await until(pilot, lambda: undecided(project) == [])
        await pilot.press("f9", "m")
        await until_shown(pilot, "labels of model science: Process, Method")
        await pilot.press(*"Method", "enter")
        await until_shown(pilot, "expected OLD=NEW")
        await pilot.press(*"=Alloy", "enter")
        await until(pilot, lambda: ("alloys", "Alloy") in undecided(project))
        assert "no predictions" not in shown(pilot)


@pytest.mark.full  # four processes load spaCy
async def test_keys_are_answered_while_a_pattern_hangs_and_its_line_is_named(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("spacy")
    (tmp_path / "long.txt").write_text(f"Steel {'a' * 60}b is strong.")
    with open_project(project, "ann") as made:
        import_files(made, [str(tmp_path / "long.txt")])
    patterns = [{"LOWER": "steel"}], [{"TEXT": {"REGEX": "^(a|a)*$"}}]
    lines = [json.dumps({"label": "Alloy", "pattern": pattern}) for pattern in patterns]
    (tmp_path / "slow.jsonl").write_text("\n".join(lines))
    monkeypatch.setattr(suggesters, "PatternMatcher", lambda given: PatternMatcher(given, 2.0))
    async with opened(project) as (app, pilot):
        await pilot.press("f9", "p", *"slow.jsonl", "enter")
        await until_shown(pilot, "suggesting")
        longest, end = 0.0, time.monotonic() + 120
        while time.monotonic() < end and "slow.jsonl:2" not in shown(pilot):
            began = time.monotonic()
            await pilot.press("n", "p")
            assert desk_of(app).desk.number == 1
            longest = max(longest, time.monotonic() - began)
            assert longest < 2, "nothing waits for the pattern"
            await asyncio.sleep(0.3)
        assert "slow.jsonl:2: matching 'long' takes more than" in " ".join(shown(pilot).split())
        await pilot.press("n")
        assert desk_of(app).desk.number == 2
