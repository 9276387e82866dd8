"""Token tables and spaCy tokens: the same text, cut by two conventions.

spaCy keeps one space as a property of the token before it and makes tokens of all other white space;
sciextract leaves white space and control characters between tokens.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from sciextract.documents.document import TokenTable
from sciextract.documents.spans import Span, TokenRange
from sciextract.errors import FormatError, MissingExtraError
from sciextract.text.characters import BLANK
from sciextract.text.sentences import split_sentences

try:
    import spacy
    from spacy.tokens import Doc
    from spacy.tokens import Span as DocSpan
    from spacy.vocab import Vocab
except ModuleNotFoundError as error:
    raise MissingExtraError("the spaCy bridge", "spacy") from error

_BLANK_ONLY = re.compile(f"[{BLANK}]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class AlignedTokens:
    """The tokens of a Doc that are tokens for sciextract, too.

    Attributes:
        doc: The Doc.
        table: Character ranges of its tokens without white space and control characters.
        indices: Index in the Doc of each token of the table.
    """

    doc: Doc
    table: TokenTable
    indices: tuple[int, ...]

    def doc_span(self, span: Span, label: str) -> DocSpan | None:
        """The spaCy span over every token that a character range touches; ``None`` if it touches none."""
        tokens = self.table.covering(span)
        if tokens is None:
            return None
        first, last = self.indices[tokens.token_start], self.indices[tokens.token_end - 1]
        return DocSpan(self.doc, first, last + 1, label=label)


def aligned_tokens(doc: Doc) -> AlignedTokens:
    """A Doc's own tokens, and its own sentences; where it has none, sciextract's splitter finds them."""
    kept = [token for token in doc if not _BLANK_ONLY.fullmatch(token.text)]
    spans = tuple(Span(token.idx, token.idx + len(token.text)) for token in kept)
    indices = tuple(token.i for token in kept)
    if doc.has_annotation("SENT_START"):
        sentences = _own_sentences(doc, indices)
    else:
        sentences = split_sentences(doc.text, spans)
    return AlignedTokens(doc, TokenTable(spans, sentences), indices)


def _own_sentences(doc: Doc, indices: tuple[int, ...]) -> tuple[TokenRange, ...]:
    """The Doc's sentences in kept tokens; those of white space only are left out."""
    starts = {bisect_left(indices, sentence.start) for sentence in doc.sents}
    edges = sorted({*starts, len(indices)})
    return tuple(TokenRange(start, end) for start, end in pairwise(edges))


def new_doc(vocab: Vocab, text: str, table: TokenTable) -> Doc:
    """A Doc with exactly this text, these tokens and sentences.

    Raises:
        FormatError: The text has a lone surrogate, which spaCy cannot hold.
    """
    refuse_surrogates(text, "the text")
    pieces = _Pieces()
    starts = {sentence.token_start for sentence in table.sentences}
    position = 0
    for index, token in enumerate(table.spans):
        pieces.add_gap(text[position : token.char_start])
        # White space at the start of the text opens the first sentence in place of its first token.
        pieces.add(token.of(text), index in starts if index else not pieces.words)
        position = token.char_end
    pieces.add_gap(text[position:])
    return Doc(vocab, words=pieces.words, spaces=pieces.spaces, sent_starts=pieces.sent_starts)


def refuse_surrogates(string: str, what: str) -> None:
    """Checks that spaCy can hold a string.

    Raises:
        FormatError: It has a lone surrogate.
    """
    found = _LONE_SURROGATE.search(string)
    if found:
        raise FormatError(
            f"{what} has the lone surrogate U+{ord(found[0]):04X} at character {found.start()}, "
            "which spaCy cannot hold",
            hint='replace it first: text.encode("utf-8", "replace").decode("utf-8")',
        )


@dataclass(slots=True)
class _Pieces:
    """Words of a Doc with their trailing spaces and sentence starts."""

    words: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    sent_starts: list[bool | int | None] = field(default_factory=list)

    def add(self, word: str, starts_sentence: bool) -> None:
        """Appends a token without a space behind it."""
        self.words.append(word)
        self.spaces.append(False)
        self.sent_starts.append(starts_sentence)

    def add_gap(self, gap: str) -> None:
        """Appends what lies between two tokens: one space to the token before, the rest as a token."""
        if self.words and gap.startswith(" "):
            self.spaces[-1] = True
            gap = gap[1:]
        if gap:
            self.add(gap, starts_sentence=not self.words)


def blank_with_ruler() -> tuple[Any, Any]:
    """A blank English pipeline and its entity ruler, which matches patterns that are given to it."""
    pipeline = spacy.blank("en")
    return pipeline, pipeline.add_pipe("entity_ruler", config={"validate": True})
