"""A network made of arithmetic, a small tokenizer and documents, so that tests need no model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

from sciextract.documents.annotations import Span, TokenRange
from sciextract.documents.document import Document, TokenTable
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.network import Floats, Ints, PairInput, PairScores, WordStates
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.tokenization import EncoderInput, SubwordTokenizer

HIDDEN = 4
UNKNOWN, PREFIX, SUFFIX = 0, 1, 2
LABELS = Labels(
    entities=("Task", "Method"),
    relations=RelationLayout(("USED-FOR", "COMPARE"), frozenset({"COMPARE"})),
    coreference=True,
    max_span_width=3,
)


def subword_tokenizer() -> SubwordTokenizer:
    """Lower-case letters and digits are subwords of their own; everything else is unknown."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    subwords = ["[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {subword: row for row, subword in enumerate(subwords)}
    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=200)
    return SubwordTokenizer(Tokenizer(model), [PREFIX], [SUFFIX], UNKNOWN)


def byte_encoder() -> SubwordTokenizer:
    """Every byte is a subword of its own, as in a byte-level BPE without merges."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {subword: row for row, subword in enumerate(["<unk>", "<s>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return SubwordTokenizer(tokenizer, [PREFIX], [SUFFIX], UNKNOWN)


class LocalNetwork:
    """Scores that depend on the subwords of a span and on nothing around it."""

    def __init__(self, labels: Labels = LABELS, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self._width = labels.max_span_width
        types, relations = 1 + len(labels.entities), labels.relations.class_count
        self._table = random.standard_normal((101, HIDDEN)).astype(np.float32)
        self._first, self._last = (
            random.standard_normal((HIDDEN, types)).astype(np.float32) for _ in range(2)
        )
        self._head, self._tail = (
            random.standard_normal((HIDDEN, relations)).astype(np.float32) for _ in range(2)
        )
        self.windows: list[EncoderInput] = []

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States from a table of subwords; spans from their first and last word."""
        self.windows += windows
        return [self._states(window) for window in windows]

    def _states(self, window: EncoderInput) -> WordStates:
        first = self._table[window.input_ids[window.word_first] % 101]
        last = self._table[window.input_ids[window.word_last] * 7 % 101]
        ends = np.arange(len(first))[:, None] + np.arange(self._width)[None, :]
        ends = np.minimum(ends, len(first) - 1)
        return WordStates(first, last, (first @ self._first)[:, None] + (last @ self._last)[ends])

    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Relations from the spans and the words between; links where both start with one subword."""
        heads, tails = pairs.relation_pairs[:, 0], pairs.relation_pairs[:, 1]
        between = (pairs.relation_between[:, 1] - pairs.relation_between[:, 0])[:, None]
        relations = pairs.span_first[heads] @ self._head + pairs.span_last[tails] @ self._tail
        late, early = pairs.link_pairs[:, 0], pairs.link_pairs[:, 1]
        apart = np.square(pairs.span_first[late] - pairs.span_first[early]).sum(axis=1)
        return PairScores(
            (relations + 0.1 * between).astype(np.float32),
            (5 - 4 * apart - 0.1 * pairs.link_distance).astype(np.float32),
        )


def pipeline(limit: int = 510, labels: Labels = LABELS) -> Pipeline:
    """The core's pipeline on the arithmetic network."""
    return Pipeline(LocalNetwork(labels), subword_tokenizer(), labels, limit)


def document(words: Sequence[str], sentence_lengths: Sequence[int]) -> Document:
    """Words joined by one space, with sentences of these many words."""
    spans, sentences, at = [], [], 0
    for word in words:
        spans.append(Span(at, at + len(word)))
        at += len(word) + 1
    start = 0
    for length in sentence_lengths:
        sentences.append(TokenRange(start, start + length))
        start += length
    return Document("d", " ".join(words), TokenTable(tuple(spans), tuple(sentences)))


def random_document(seed: int, sentences: int, words: int) -> Document:
    """Sentences of equal length, made of short random words."""
    random = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))
    made = [
        "".join(random.choice(letters, random.integers(1, 5))) for _ in range(sentences * words)
    ]
    return document(made, [words] * sentences)


def spans_of(*pairs: tuple[int, int]) -> Ints:
    """Spans as an array."""
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def logits_of(words: int, width: int, classes: int, seed: int) -> Floats:
    """Random span logits."""
    random = np.random.default_rng(seed)
    return (2 * random.standard_normal((words, width, classes))).astype(np.float32)
