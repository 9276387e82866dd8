"""The base of a project's adapters: the one that does best by folds, kept until another is clearly better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sciextract import Extractor
from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ModelNotFoundError
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.batching import RunOptions
from sciextract.learning import bases
from sciextract.store import Project, create_project
from sciextract.store.ingest import Import
from sciextract.text.analyse import make_document
from sciextract.workflows.learn import Learner, compare_bases, suggest_with
from sciextract.workflows.model_choice import base_for
from tests.unit.workflows.alloys import ALLOYS, OWN, finish, text


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with create_project(tmp_path / "p.sciextract", OWN, "ann") as project:
        documents = [make_document(alloy, text(alloy)) for alloy in ALLOYS]
        Import(project, "import:t", {}).add(
            [(AnnotatedDocument(document), ()) for document in documents]
        )
        yield project


class Knowing:
    """An adapter that finds what is right in some of the abstracts that it is asked for."""

    def __init__(self, right: dict[str, Annotations]) -> None:
        self.right = right

    def stream(self, documents: Sequence[Document]) -> list[AnnotatedDocument]:
        return [
            AnnotatedDocument(document, self.right.get(document.doc_key, Annotations()))
            for document in documents
        ]


def pretend(monkeypatch: pytest.MonkeyPatch, project: Project, knows: dict[str, set[str]]) -> None:
    """Adapters on a base find what is right in the abstracts that it knows, and never see these in training."""
    gold = {e: project.document(n).annotations for n, e in enumerate(ALLOYS, 1)}

    def learn(
        finished: Sequence[object], schema: object, states: EncoderStates, _: object
    ) -> Knowing:
        seen = {document.annotated.document.doc_key for document in finished}  # type: ignore[attr-defined]
        known = knows[states.extractor.model.name] - seen
        return Knowing({key: gold[key] for key in known})

    monkeypatch.setattr(bases, "learn", learn)


EVERY = set(ALLOYS)


@pytest.mark.parametrize(
    ("science", "chosen"), [(EVERY, "science"), ({"brass", "bronze"}, "sci"), (set(), "sci")]
)
def test_another_base_is_taken_where_it_is_clearly_better(
    project: Project, monkeypatch: pytest.MonkeyPatch, science: set[str], chosen: str
) -> None:
    for number in range(1, 6):
        finish(project, number)
    known = {"sci": {"steel", "nitinol"}, "science": science, "bio": set[str]()}
    pretend(monkeypatch, project, known)
    comparison = compare_bases(project, EncoderStates(Extractor.load("sci", threads=1)), None)
    assert comparison is not None
    assert comparison.best().extractor.model.name == chosen


def test_the_desk_goes_over_to_the_better_base_and_stays_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, named = Learner(project.path, None), Learner(project.path, "sci")
    for number in (1, 2, 3):
        assert not learner.compare()
        finish(project, number)
        assert learner.learn().model.name == "sci"
    pretend(monkeypatch, project, {"sci": set(), "science": EVERY, "bio": set()})
    named.learn()
    assert not named.compare(), "a base that a person names is not compared"
    while learner.compare():
        pass
    learned = learner.learn()
    assert (learned.model.name, learner.learn().change) == ("science", "")
    assert "science 100 / 100" in learned.change
    assert base_for(project) == "sci"
    assert learner._adapter is not None
    suggest_with(project, learner._adapter)
    assert base_for(project) == "science", "the next process begins where this one was"


def test_a_base_that_is_not_there_is_left_out_and_named(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = EncoderStates(Extractor.load("sci", threads=1))
    for number in (1, 2, 3):
        finish(project, number)
    pretend(monkeypatch, project, dict.fromkeys(("sci", "science"), EVERY))
    load = Extractor.load

    def some(name: str, options: RunOptions) -> Extractor:
        if name == "bio":
            raise ModelNotFoundError("bio is not there", "get it")
        return load(name, options)

    monkeypatch.setattr(Extractor, "load", some)
    comparison = compare_bases(project, states, None)
    assert comparison is not None and comparison.best() is states
    assert "bio left out: bio is not there" in comparison.words()
