"""A document: exact text, its token table, and its annotations."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pkgutil import resolve_name
from typing import Any

from sciextract.documents.annotations import Annotations, Span, TokenRange
from sciextract.documents.project_state import ProjectState


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Tokens and sentences as ranges, derived once from the text or given with it.

    Attributes:
        spans: One character range per token, ascending, never overlapping, never empty.
        sentences: Token ranges that cover all tokens, ascending, without gaps, never empty.
        forms: The token strings as they were given, when they differ from the text
            (Penn Treebank escapes such as ``-LRB-``); ``None`` when each form is its slice of the text.
    """

    spans: tuple[Span, ...]
    sentences: tuple[TokenRange, ...]
    forms: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.spans)

    def strings(self, text: str) -> tuple[str, ...]:
        """Token strings for export: the given forms, else the slices of ``text``."""
        return self.forms if self.forms is not None else self.slices(text)

    def slices(self, text: str) -> tuple[str, ...]:
        """The characters of ``text`` under each token."""
        return tuple([text[span.char_start : span.char_end] for span in self.spans])

    def char_span(self, tokens: TokenRange) -> Span:
        """The character range from the first to the last token of a non-empty range."""
        return Span(
            self.spans[tokens.token_start].char_start, self.spans[tokens.token_end - 1].char_end
        )

    def aligned(self, span: Span) -> TokenRange | None:
        """The tokens whose edges are exactly those of ``span``, or ``None`` if an edge cuts a token."""
        covering = self.covering(span)
        if covering is None or self.char_span(covering) != span:
            return None
        return covering

    def covering(self, span: Span) -> TokenRange | None:
        """The smallest token range that touches every token under ``span``, or ``None`` if none does."""
        first = bisect_right(self.spans, span.char_start, key=attrgetter("char_end"))
        last = bisect_left(self.spans, span.char_end, key=attrgetter("char_start"))
        return TokenRange(first, last) if first < last else None

    def sentence_of(self, token_index: int) -> int:
        """The index of the sentence that holds a token."""
        return bisect_right(self.sentences, token_index, key=attrgetter("token_start")) - 1

    def sentences_around(self, span: Span) -> Span:
        """The characters from the first to the last sentence that ``span`` touches; itself where it touches none."""
        tokens = self.covering(span)
        if tokens is None:
            return span
        first = self.sentences[self.sentence_of(tokens.token_start)]
        last = self.sentences[self.sentence_of(tokens.token_end - 1)]
        return self.char_span(TokenRange(first.token_start, last.token_end))

    def problems(self, text_length: int) -> list[str]:
        """What breaks the table's rules, in words; empty when it is sound."""
        problems, previous_end = [], 0
        for index, span in enumerate(self.spans):
            if not previous_end <= span.char_start < span.char_end <= text_length:
                problems.append(
                    f"token {index} has the range [{span.char_start}, {span.char_end}); expected "
                    f"non-empty ranges from {previous_end} to {text_length}, ascending"
                )
            previous_end = max(previous_end, span.char_end)
        expected = 0
        for index, sentence in enumerate(self.sentences):
            if sentence.token_start != expected or not len(sentence) > 0:
                problems.append(
                    f"sentence {index} has the tokens [{sentence.token_start}, {sentence.token_end}); "
                    f"it must start at {expected} and hold at least one token"
                )
            expected = sentence.token_end
        if expected != len(self.spans):
            problems.append(f"sentences end at token {expected}, the document at {len(self.spans)}")
        return problems


@dataclass(frozen=True, slots=True)
class Document:
    """Exact Unicode text with code-point offsets.

    Attributes:
        doc_key: The document's name in its file.
        text: The text, never normalised.
        tokens: Its token table.
        fields: Input fields that sciextract does not interpret; kept on export.
    """

    doc_key: str
    text: str
    tokens: TokenTable
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def text_sha256(self) -> str:
        """Hex SHA-256 of the text in UTF-8; lone surrogates are hashed as they stand."""
        return text_hash(self.text)


def text_hash(text: str) -> str:
    """Hex SHA-256 of a text in UTF-8; lone surrogates are hashed as they stand."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


ADAPTER = "+adapter"
"""The variant of a model whose heads were trained on the decisions in a project."""


@dataclass(frozen=True, slots=True)
class ModelId:
    """Which model made a prediction: its name, the hash of its manifest, and ``+adapter`` for heads trained on it.

    Examples:
        >>> str(ModelId("sci", "e2741165c0ff", ADAPTER))
        'sci@e2741165+adapter'
    """

    name: str
    hash: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.name}@{self.hash[:8]}{self.variant}"


def warnings_of(remarks: Mapping[str, int]) -> tuple[str, ...]:
    """One warning a kind, with how often it occurred."""
    found = ((kind, "once" if n == 1 else f"{n} times") for kind, n in remarks.items() if n)
    return tuple([f"{kind} ({often})" for kind, often in found])


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document with the annotations of one source.

    Attributes:
        model: The model that predicted them, ``None`` for imported or human annotations.
        warnings: Remarks that are not errors (another language, unknown label...).
        done: Whether a person has decided all of it; ``None`` where nobody began, or nothing is known of that.
        unread: What its file held and a document has no place for, by kind: what reading has lost.
        held_back: Predicted items that a promise of precision does not cover and that are left out, by task and label.
        bare_offsets: Whether its file gives offsets without a copy of each mention and without tokens, so that only
            words tell what they count.
        project_state: What a project knows of it beyond these annotations, where it comes from one.
    """

    document: Document
    annotations: Annotations = field(default_factory=Annotations)
    model: ModelId | None = None
    warnings: tuple[str, ...] = ()
    done: bool | None = field(default=None, compare=False)
    unread: Mapping[str, int] = field(default_factory=dict, compare=False)
    held_back: Mapping[str, int] = field(default_factory=dict, compare=False)
    bare_offsets: bool = field(default=False, compare=False)
    project_state: ProjectState | None = field(default=None, compare=False)

    def renamed(self, *names: Mapping[str, str]) -> AnnotatedDocument:
        """The same with new labels by old ones: of entities, relations and attributes."""
        if not any(names):
            return self
        state = self.project_state and self.project_state.renamed(*names)
        annotations = self.annotations.renamed(*names)
        return replace(self, annotations=annotations, project_state=state)

    def to_dict(self, candidates: bool = False) -> dict[str, Any]:
        """The exchange record in plain Python values: what a line of the format ``jsonl`` holds.

        Args:
            candidates: Whether to include what the model considered, where that is kept.
        """
        record: dict[str, Any] = _resolve("formats.exchange:record_of")(self, candidates)
        return record

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> AnnotatedDocument:
        """The annotated document of an exchange record, such as :meth:`to_dict` gives.

        Raises:
            FormatError: A field has a wrong shape.
        """
        source = _resolve("formats.base:Source")("record")
        document: AnnotatedDocument = _resolve("formats.jsonl:parse_record")(record, source, 1)
        return document

    def _repr_html_(self) -> str:
        """The view in notebooks."""
        return str(_resolve("interop.notebook:to_html")(self))


def _resolve(name: str) -> Callable[..., Any]:
    """A function for the methods above, which are there for users: this package knows none of its readers and writers."""
    # By name, as the registry of formats has them: imported here, every module would be one circle.
    function: Callable[..., Any] = resolve_name(f"sciextract.{name}")
    return function
