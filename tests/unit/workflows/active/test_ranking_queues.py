"""Queues from a project: what the order goes by, what counts, what is asked of which model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    LabelScore,
    Span,
    SpanCandidate,
)
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ActionRefusedError, ModelNotFoundError, UsageError
from sciextract.inference.extractor import Extractor
from sciextract.store import EntityRef, Project, create_project, open_project
from sciextract.store.ingest import Import, ModelRun
from sciextract.store.queries import read_queue
from sciextract.workflows.active.queues import MadeQueue, QueueOrder, make_queue
from sciextract.workflows.active.ranking import By
from sciextract.workflows.models.registry import KnownModel, register
from tests.cli.fakes import RuleExtractor
from tests.unit.store.projects import document, guess
from tests.unit.workflows.models.builders import model_folder

WORDS = ("plain kernels", "graph grammars", "lattice parsers", "neural nets")
TEXTS = tuple(f"We study {words} here." for words in WORDS)
SPAN = Span(9, 14)


class Watched(RuleExtractor):
    """Counts what it predicts."""

    def __init__(self, model: ModelId, score: float = 0.9) -> None:
        super().__init__(model, candidates=True)
        self.seen: list[str] = []
        self.score = score

    def annotate(self, document: Document, /) -> AnnotatedDocument:
        self.seen.append(document.doc_key)
        return AnnotatedDocument(document, considered(self.score), self.model)


def considered(score: float, label: str = "Method") -> Annotations:
    span = SpanCandidate(SPAN, (LabelScore(label, score),))
    found = guess("e", SPAN, label, score)
    return Annotations((found,) if score >= 0.5 else (), candidates=Candidates((span,)))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    path = tmp_path / "p.sciextract"
    create_project(path, load_schema("scierc"), "ann").close()
    with open_project(path, "ann") as opened:
        job = Import(opened, "import:t.txt", {})
        job.add(
            [
                (AnnotatedDocument(document(text, f"d{n}"), Annotations()), ())
                for n, text in enumerate(TEXTS, 1)
            ]
        )
        yield opened


@pytest.fixture
def parsing(tmp_path: Path) -> KnownModel:
    return register(model_folder(tmp_path / "parsing"))


@pytest.fixture
def other(tmp_path: Path) -> KnownModel:
    return register(model_folder(tmp_path / "other", "other", "others"))


@pytest.fixture
def extractor(parsing: KnownModel, monkeypatch: pytest.MonkeyPatch) -> Watched:
    found = Watched(ModelId("parsing", parsing.hash))
    monkeypatch.setattr(Extractor, "load", lambda *_, **__: found)
    return found


def stored(project: Project, model: KnownModel, scores: dict[int, float]) -> None:
    run = ModelRun(project, ModelId(model.name, model.hash), {})
    for number, score in scores.items():
        text = project.document_state(number).stored.document
        run.add([(number, AnnotatedDocument(text, considered(score)))])
    run.finish()


def made(project: Project, by: By, model: KnownModel | None = None, **changes: object) -> MadeQueue:
    order = QueueOrder(by, model.id if model else "", **changes)  # type: ignore[arg-type]
    return make_queue(project, order, lambda done, total: None)


def test_the_most_uncertain_come_first_from_what_the_project_holds(
    project: Project, parsing: KnownModel, extractor: Watched
) -> None:
    stored(project, parsing, {1: 0.99, 2: 0.55, 3: 0.7, 4: 0.1})
    found = made(project, By.ENTROPY, parsing, most=3)
    assert found.queue.numbers == (2, 3, 4)
    assert (found.pool, found.predicted, extractor.seen) == (4, 0, [])
    assert read_queue(project, "entropy") == found.queue


def test_only_what_is_missing_is_predicted_and_nothing_of_it_kept(
    project: Project, parsing: KnownModel, other: KnownModel, extractor: Watched
) -> None:
    stored(project, parsing, {1: 0.6, 3: 0.99})
    stored(project, other, {2: 0.5, 4: 0.5})
    before = [project.document_state(number).changes() for number in project.numbers()]
    events = len(project.log())
    found = made(project, By.ENTROPY, parsing)
    assert sorted(extractor.seen) == ["d2", "d4"] and found.predicted == 2
    assert found.queue.numbers == (1, 2, 4, 3)
    assert len(project.log()) == events
    assert before == [project.document_state(number).changes() for number in project.numbers()]


def test_an_undone_run_does_not_count(
    project: Project, parsing: KnownModel, extractor: Watched
) -> None:
    stored(project, parsing, {1: 0.5, 2: 0.5, 3: 0.5, 4: 0.5})
    project.undo()
    assert made(project, By.ENTROPY, parsing).predicted == 4


def test_what_is_decided_counts_no_longer(
    project: Project, parsing: KnownModel, extractor: Watched
) -> None:
    stored(project, parsing, {1: 0.5, 2: 0.6, 3: 0.7, 4: 0.8})
    [item] = project.document_state(1).entities
    project.actions.accept(1, EntityRef(item.id))
    assert made(project, By.ENTROPY, parsing).queue.numbers == (2, 3, 4, 1)


def test_abstracts_that_are_done_are_left_out(
    project: Project, parsing: KnownModel, extractor: Watched
) -> None:
    project.actions.mark_done(2)
    assert 2 not in made(project, By.RANDOM).queue.numbers
    assert 2 not in made(project, By.ENTROPY, parsing).queue.numbers
    for number in (1, 3, 4):
        project.actions.mark_done(number)
    with pytest.raises(ActionRefusedError, match="left to correct"):
        made(project, By.RANDOM, name="none")


def test_chance_is_the_same_for_a_seed(project: Project) -> None:
    found = {
        seed: made(project, By.RANDOM, seed=seed, name=f"{seed}").queue.numbers for seed in range(9)
    }
    assert made(project, By.RANDOM, seed=3).queue.numbers == found[3]
    assert len(set(found.values())) > 1 and all(
        sorted(order) == [1, 2, 3, 4] for order in found.values()
    )


def test_names_are_free_or_refused(project: Project) -> None:
    assert [made(project, By.RANDOM).queue.name for _ in range(3)] == [
        "random",
        "random 2",
        "random 3",
    ]
    assert made(project, By.RANDOM, name=" two\nlines\x1b[31m ").queue.name == "two lines [31m"
    with pytest.raises(ActionRefusedError, match="already"):
        made(project, By.RANDOM, name="random")
    with pytest.raises(UsageError, match="cannot be called"):
        made(project, By.RANDOM, name="\x1b")


def test_models_that_do_not_fit_the_order(project: Project, parsing: KnownModel) -> None:
    with pytest.raises(UsageError):
        made(project, By.RANDOM, parsing)
    with pytest.raises(ModelNotFoundError):
        make_queue(project, QueueOrder(By.ENTROPY, "nosuch"), lambda *_: None)


def test_an_interruption_leaves_no_trace(
    project: Project, parsing: KnownModel, extractor: Watched
) -> None:
    def interrupted(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_queue(project, QueueOrder(By.ENTROPY, parsing.id), interrupted)
    assert read_queue(project, "entropy") is None
    assert made(project, By.ENTROPY, parsing).queue.name == "entropy"


def test_the_summary_is_json(project: Project) -> None:
    told = json.loads(json.dumps(made(project, By.RANDOM, most=2).to_json()))
    assert told == {
        "name": "random",
        "by": "random",
        "abstracts": 2,
        "of": 4,
        "model": "",
        "predicted": 0,
    }
