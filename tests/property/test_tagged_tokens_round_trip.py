"""CoNLL columns give back the tokens and every entity that tags can hold."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics.sequence_labeling import get_entities

from sciextract.documents.annotations import State, TokenRange
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import open_writer
from sciextract.formats.base import Source
from sciextract.formats.conll import read_conll
from sciextract.formats.tagged_tokens import TaggedRange, tagged_ranges, tags_of
from tests.strategies import PIECES, annotated_documents
from tests.tiers import examples

FEW = settings(max_examples=examples(50), deadline=None, suppress_health_check=list(HealthCheck))
HOSTILE = (*PIECES, "\x0b", "\ud800 ", "-DOCSTART-", "-DOCSTART- {}", "#", "O")
LABELS = ("Task", "O", "Ω-type", "a_b", "a b", "a\tb")


def written(document: AnnotatedDocument) -> tuple[str, dict[str, int]]:
    stream = io.StringIO()
    writer = open_writer("conll", stream)
    writer.write(document)
    writer.close()
    return stream.getvalue(), dict(writer.losses)


def read_back(content: str, folder: Path) -> AnnotatedDocument:
    path = folder / "made.conll"
    path.write_bytes(content.encode("utf-8"))
    (item,) = read_conll(Source(str(path)))
    assert isinstance(item, AnnotatedDocument), item.error
    return item


@FEW
@given(document=annotated_documents(pieces=HOSTILE, labels=LABELS))
def test_what_is_not_counted_comes_back(document: AnnotatedDocument, tmp_path_factory: Any) -> None:
    content, losses = written(document)
    if losses.get("document without tokens"):
        return
    back = read_back(content, tmp_path_factory.mktemp("conll"))
    living = [e for e in document.annotations.entities if e.state is not State.REJECTED]
    changed = ("relation", "cluster", "white space", "document key", "token with", "label with")
    lost = sum(count for kind, count in losses.items() if not kind.startswith(changed))
    assert len(back.annotations.entities) + lost == len(living)
    assert {*_labels(back)} <= {label.replace(" ", "_").replace("\t", "_") for label in LABELS}


def _labels(document: AnnotatedDocument) -> list[str]:
    # Labels that differ in white space only get a number behind their name.
    return [re.sub(r"_[0-9]+$", "", entity.label) for entity in document.annotations.entities]


@FEW
@given(document=annotated_documents(pieces=HOSTILE, labels=LABELS))
def test_a_second_writing_is_the_same(document: AnnotatedDocument, tmp_path_factory: Any) -> None:
    content, losses = written(document)
    if not losses.get("document without tokens"):
        again, losses = written(read_back(content, tmp_path_factory.mktemp("conll")))
        assert again == content
        assert losses == {"document key and exact text": 1}


@st.composite
def flat_ranges(draw: st.DrawFn) -> tuple[int, list[TaggedRange]]:
    length = draw(st.integers(1, 9))
    edges = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    labels = st.sampled_from(["Task", "Method"])
    return length, [TaggedRange(TokenRange(*pair), draw(labels)) for pair in pairs]


@FEW
@given(flat_ranges())
def test_tags_are_read_by_independent_libraries(made: tuple[int, list[TaggedRange]]) -> None:
    length, ranges = made
    tags = tags_of(length, ranges)
    expected = [(r.label, r.tokens.token_start, r.tokens.token_end - 1) for r in ranges]
    assert get_entities(tags) == expected
    assert [*tagged_ranges(tags)] == ranges
    if ranges:
        scores = Evaluator([tags], [tags], ["Task", "Method"], loader="list").evaluate()
        assert scores["overall"]["strict"].correct == len(ranges)


@FEW
@given(st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), max_size=9))
def test_any_sequence_of_iob_tags_means_what_seqeval_says(tags: list[str]) -> None:
    found = [(r.label, r.tokens.token_start, r.tokens.token_end - 1) for r in tagged_ranges(tags)]
    assert found == get_entities(tags)


@FEW
@given(st.lists(st.sampled_from(["O", "B-A", "I-A", "E-A", "S-A", "I-B", "E-B"]), max_size=9))
def test_iobes_tags_give_ranges_that_are_apart(tags: list[str]) -> None:
    ranges = [found.tokens for found in tagged_ranges(tags)]
    covered = [index for r in ranges for index in range(r.token_start, r.token_end)]
    assert covered == sorted(set(covered))
    assert len(covered) == sum(tag != "O" for tag in tags)
