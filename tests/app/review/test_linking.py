"""Links of mentions to a vocabulary, by keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Entity, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import parse_schema
from sciextract.store import Project, create_project
from sciextract.store.actions.bulk import counting, spreading
from sciextract.store.ingest import Import
from sciextract.text.analyse import make_document
from sciextract.vocabulary.file import file_of, import_vocabulary
from sciextract_app.review.keys.desk import Desk
from sciextract_app.shared.view_models import ASK_VALUE
from tests.app.review.abstracts import press

TEXTS = (
    "Basaltic rocks weather fast.",
    "Here basaltic rocks are rare.",
    "We dated basaltic rocks.",
)
SCHEMA = {
    "name": "rocks",
    "entities": [{"label": "Rock", "key": "r", "colour": "#112233"}],
    "attributes": [
        {"label": "link", "key": "l", "on": ["Rock"], "kind": "link", "vocabularies": ["B"]}
    ],
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Three abstracts with a rock each; the last one is done."""
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    (tmp_path / "rocks.tsv").write_text("B:1\tbasalt\tbasaltic rock\nB:2\tbasanite\n", "utf-8")
    import_vocabulary(str(tmp_path / "rocks.tsv"), "B")
    made = create_project(tmp_path / "p.sciextract", parse_schema(SCHEMA, "test"), "ann")
    items = []
    for number, text in enumerate(TEXTS):
        start = text.lower().index("basaltic")
        rock = Entity(f"e{number}", (Span(start, start + 14),), "Rock", state=State.IMPORTED)
        document = make_document(f"r{number}", text, {})
        items.append((AnnotatedDocument(document, Annotations((rock,))), ()))
    Import(made, "import:t", {}).add(items)
    made.actions.mark_done(3)
    return made


def links(project: Project) -> list[list[str]]:
    return [[row.value for row in project.document_state(n).attributes] for n in (1, 2, 3)]


@pytest.mark.parametrize("keys", ["= =", "= enter", "= 1", "' l 1"])
def test_the_first_candidate(project: Project, keys: str) -> None:
    desk = Desk(project)
    press(desk, "=")
    assert [hint.words.split()[0] for hint in desk.legend()] == ["basalt", "basanite"]
    press(desk, f"escape {keys}")
    assert links(project)[0] == ["B:1"]
    assert any("basalt" in words for _, words in desk.inspector().lines)
    press(desk, "u")
    assert links(project)[0] == []


def test_another_candidate_and_other_words(project: Project) -> None:
    desk = Desk(project)
    press(desk, "= 2")
    press(desk, "=")
    assert desk.press("/").request == ASK_VALUE
    desk.say("basalts")
    press(desk, "enter")
    assert links(project)[0] == ["B:1"]
    press(desk, "= x")
    assert links(project)[0] == []


def test_all_same_strings_of_the_project(project: Project) -> None:
    desk = Desk(project)
    press(desk, "n = =")
    *_, count = counting(project, 2, "e1")
    assert count.numbers == (3,), "done, but nobody linked it"
    *_, done = spreading(project, 2, "e1", count)
    assert (done.documents, done.items) == (1, 1)
    assert links(project) == [[], ["B:1"], ["B:1"]]
    project.undo()
    assert links(project) == [[], ["B:1"], []]


def test_a_link_that_was_decided_stays(project: Project) -> None:
    project.actions.set_attribute(3, "e2", "link", "B:2")
    project.actions.set_attribute(2, "e1", "link", "B:1")
    *_, count = counting(project, 2, "e1")
    assert count.numbers == ()


def test_without_its_vocabulary(project: Project) -> None:
    project.actions.set_attribute(1, "e0", "link", "B:1")
    file_of("B").unlink()
    desk = Desk(project)
    assert "no vocabulary 'B'" in desk.press("=").message
    assert any("not imported" in words for _, words in desk.inspector().lines)
