"""What the encoder sees of one subject and its objects."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from sciextract.inference.pipeline import Labels
from sciextract.inference.results import given_of
from sciextract_trainer.build import PieceRules
from sciextract_trainer.markers.batches import collate_marked, marked_examples
from sciextract_trainer.markers.texts import (
    CONTEXT_WORDS,
    OBJECT_END,
    OBJECT_START,
    SUBJECT_END,
    SUBJECT_START,
    TEXT,
    MarkedText,
    marked_texts,
    visible,
)
from tests.trainer.corpus import TEN_SENTENCES, gold

OTTERS = TEN_SENTENCES[0]


def texts_of(
    annotated: object, labels: Labels, rules: PieceRules, limit: int = 0
) -> list[MarkedText]:
    given = given_of(annotated, labels).mentions  # type: ignore[arg-type]
    document = annotated.document  # type: ignore[attr-defined]
    return list(
        marked_texts(document, given.spans, rules.encoder(), rules.pad, limit or rules.limit)
    )


def test_each_mention_is_the_subject_once_with_those_of_its_sentence(
    labels: Labels, rules: PieceRules
) -> None:
    found = [(text.subject, text.objects.tolist()) for text in texts_of(OTTERS, labels, rules)]
    assert found == [(0, [1]), (1, [0]), (2, [3]), (3, [2])]


def test_without_its_markers_a_text_is_that_of_the_document(
    labels: Labels, rules: PieceRules
) -> None:
    document = OTTERS.document
    split = rules.encoder().split(document.tokens.slices(document.text))
    whole = rules.encoder().frame(split, 0, len(document.tokens)).input_ids
    for text in texts_of(OTTERS, labels, rules):
        np.testing.assert_array_equal(text.ids[text.roles == TEXT], whole)


def test_solid_markers_stand_around_the_subject_and_levitated_ones_at_the_object(
    labels: Labels, rules: PieceRules
) -> None:
    text = texts_of(OTTERS, labels, rules)[0]
    assert text.roles[: text.text].tolist().count(SUBJECT_START) == 1
    opening, closing = (
        int(np.flatnonzero(text.roles == role)[0]) for role in (SUBJECT_START, SUBJECT_END)
    )
    vocabulary = rules.tokenizer
    between = [vocabulary.id_to_token(int(piece)) for piece in text.ids[opening + 1 : closing]]
    assert between == ["river", "model"]
    assert text.roles[text.text :].tolist() == [OBJECT_START, OBJECT_END]
    first, last = text.positions[text.text :].tolist()
    shared = [vocabulary.id_to_token(int(piece)) for piece in text.ids[first : last + 1]]
    assert shared == ["otter", "counting"]
    np.testing.assert_array_equal(text.positions[: text.text], np.arange(text.text))


def test_a_levitated_marker_sees_text_itself_and_its_partner_only(
    labels: Labels, rules: PieceRules
) -> None:
    many = gold("many", "A [model|Method], a [parser|Method] and a [grammar|Method].")
    text = texts_of(many, labels, rules)[0]
    seen = visible(text, text.piece_count + 2)
    assert len(text.objects) == 2 and text.piece_count == text.text + 4
    assert seen[: text.text, : text.text].all() and not seen[: text.text, text.text :].any()
    levitated = seen[text.text : text.piece_count, text.text : text.piece_count]
    blocks = np.kron(np.eye(2, dtype=bool), np.ones((2, 2), dtype=bool))
    np.testing.assert_array_equal(levitated, blocks)
    assert seen[text.piece_count :].sum() == 2, "padding sees one place, so that softmax has one"


def test_context_is_limited_and_the_sentence_is_whole(labels: Labels, rules: PieceRules) -> None:
    filler = " ".join(["We train a model."] * 30)
    long = gold("long", f"{filler} The [parser|Method] beats the [grammar|Method]. {filler}")
    first, second = texts_of(long, labels, rules)
    words = {rules.tokenizer.id_to_token(int(piece)) for piece in first.ids if piece != rules.pad}
    assert {"parser", "grammar"} <= words
    assert first.text <= CONTEXT_WORDS + 8
    assert len(second.objects) == 1


def test_a_sentence_that_is_longer_than_the_window_is_seen_around_the_subject(
    labels: Labels, rules: PieceRules
) -> None:
    middle = " ".join(["model"] * 60)
    endless = gold("endless", f"The [parser|Method] {middle} the [grammar|Method].")
    near = gold("near", f"The [parser|Method] beats the [grammar|Method] {middle}.")
    assert [text.objects.tolist() for text in texts_of(endless, labels, rules, 40)] == []
    assert [text.objects.tolist() for text in texts_of(near, labels, rules, 40)] == [[1], [0]]
    assert all(text.text <= 42 for text in texts_of(near, labels, rules, 40))


def test_gold_relations_are_read_from_the_subject(labels: Labels, rules: PieceRules) -> None:
    examples = list(marked_examples([OTTERS], labels, rules))
    used = labels.relations.forward_class("USED-FOR")
    wanted = [used, int(labels.relations.mirror()[used])]
    assert [int(each.targets[0].argmax()) for each in examples[:2]] == wanted
    assert [each.types[0].sum() for each in examples] == [0.0] * 4


def test_markers_of_a_batch_are_found_in_its_flattened_places(
    labels: Labels, rules: PieceRules
) -> None:
    batch = collate_marked(list(marked_examples(TEN_SENTENCES, labels, rules)), rules.pad)
    roles = batch.roles.flatten()
    assert set(roles[batch.subject_markers[:, 0]].tolist()) == {SUBJECT_START}
    assert set(roles[batch.subject_markers[:, 1]].tolist()) == {SUBJECT_END}
    assert set(roles[batch.object_markers[:, 0]].tolist()) == {OBJECT_START}
    assert set(roles[batch.object_markers[:, 1]].tolist()) == {OBJECT_END}
    assert len(batch.targets) == len(batch.subject_markers)
    assert batch.attention_mask.sum() == sum(
        (each.text.roles == TEXT).sum() for each in batch.examples
    )
