from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Layer,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ModelNotFoundError
from sciextract.inference.extractor import Extractor
from sciextract.snapshot.documents import TrainingDocument
from sciextract.workflows.evaluate import DocumentMismatchError
from sciextract.workflows.models.compare import compare, gate, gate_gold
from sciextract.workflows.models.registry import register
from tests.cli.fakes import RuleExtractor, install
from tests.unit.metrics.builders import words
from tests.unit.workflows.models.builders import model_folder

TEXT = "kernels rank proteins and kernels learn ideas"


def item(word: str, label: str = "Method", state: State = State.ACCEPTED, at: int = 0) -> Entity:
    start = TEXT.index(word, at)
    return Entity(f"{word}{start}", (Span(start, start + len(word)),), label, state=state)


FIRST, PROTEINS, SECOND = item("kernels"), item("proteins"), item("kernels", at=10)
IDEAS = item("ideas", state=State.REJECTED)
ALL = frozenset(Layer)


def training(
    *entities: Entity,
    relations: tuple[Relation, ...] = (),
    clusters: tuple[Cluster, ...] = (),
    complete: frozenset[Layer] = ALL,
    key: str = "d",
) -> TrainingDocument:
    document = Document(key, TEXT, words(TEXT))
    return TrainingDocument(
        AnnotatedDocument(document, Annotations(entities, relations, clusters)), complete
    )


class Silent(RuleExtractor):
    """Finds nothing."""

    def annotate(self, document: Document, /) -> AnnotatedDocument:
        return AnnotatedDocument(document)


def test_only_what_is_true_counts_as_gold() -> None:
    undecided = item("rank", state=State.UNDECIDED)
    document = training(
        FIRST,
        PROTEINS,
        SECOND,
        IDEAS,
        undecided,
        relations=(
            Relation("r", FIRST.id, PROTEINS.id, "USED-FOR", state=State.ACCEPTED),
            Relation("s", PROTEINS.id, FIRST.id, "USED-FOR", state=State.UNDECIDED),
        ),
        clusters=(
            Cluster(
                "c",
                (FIRST.id, SECOND.id, PROTEINS.id),
                state=State.ACCEPTED,
                mention_states=(State.ACCEPTED, State.ACCEPTED, State.REJECTED),
            ),
        ),
    )
    found = gate([document], Silent(), RuleExtractor())
    tasks = found.tasks
    assert {name: task.gold for name, task in tasks.items()} == {
        "entity": 3,
        "relation": 1,
        "coreference": 1,
    }
    assert (tasks["entity"].before, tasks["entity"].after) == (0, 100)
    assert tasks["coreference"].after == 100
    assert found.verdict == "too few"


def test_layers_that_are_not_done_are_left_out() -> None:
    done = training(FIRST, PROTEINS, SECOND, key="a")
    begun = training(FIRST, complete=frozenset({Layer.RELATIONS}), key="b")
    found = gate([done, begun], Silent(), RuleExtractor())
    assert (found.documents, found.tasks["entity"].documents) == (2, 1)
    assert found.tasks["entity"].after == 100


@pytest.mark.parametrize(
    ("state", "counted"),
    [(State.ACCEPTED, True), (State.EDITED, True), (State.REJECTED, False)],
)
def test_documents_with_what_a_model_proposed_are_counted(state: State, counted: bool) -> None:
    suggested = replace(FIRST, source="model:sci@1a2b3c4d/run", state=state)
    by_hand = replace(PROTEINS, source="person:ann")
    found = gate([training(suggested, key="a"), training(by_hand, key="b")], Silent(), Silent())
    assert any(reason.startswith("1 of 2 gate documents") for reason in found.reasons) is counted


def test_plain_gold_is_complete_whatever_its_state() -> None:
    imported = training(replace(FIRST, state=State.UNDECIDED), PROTEINS, SECOND).annotated
    found = gate_gold([imported], Silent(), RuleExtractor())
    assert found.tasks["entity"].gold == 3
    assert not any("suggestions" in reason for reason in found.reasons)


class TestComparing:
    @pytest.fixture
    def two(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
        monkeypatch.setattr(Extractor, "load", Extractor.__dict__["load"])
        install(RuleExtractor())
        made = []
        for name, ner in (("old", 60.0), ("new", 62.5)):
            scores = {"int8": {"ner": ner, "parity": True}, "fp32": {"ner": 1.0}, "documents": 5}
            folder = model_folder(tmp_path / name, name, scores=scores, weights=name)
            made.append(register(folder).id)
        return made[0], made[1]

    def test_on_a_file(self, two: tuple[str, str], tmp_path: Path) -> None:
        (tmp_path / "g.jsonl").write_text(
            '{"doc_key": "a", "sentences": [["Kernels", "sleep"]], "ner": [[[0, 0, "Method"]]],'
            ' "relations": [[]], "clusters": []}\nnot json\n'
        )
        found = compare(*two, str(tmp_path / "g.jsonl"))
        assert (found.report.tasks["entity"].after, found.report.verdict) == (100, "too few")
        assert len(found.bad_records) == 1
        (tmp_path / "empty.jsonl").write_text('{"bad": 1}\n{"bad": 2}\n')
        with pytest.raises(DocumentMismatchError):
            compare(*two, str(tmp_path / "empty.jsonl"))

    def test_unknown(self, two: tuple[str, str]) -> None:
        with pytest.raises(ModelNotFoundError):
            compare(two[0], "nosuch", "g.jsonl")
