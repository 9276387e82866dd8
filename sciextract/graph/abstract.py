"""An annotated abstract, as far as a graph needs it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sciextract.documents.annotations import Annotations
from sciextract.documents.bibliography import publication_year
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span


@dataclass(frozen=True, slots=True)
class Abstract:
    """An annotated abstract without its tokens.

    Attributes:
        doc_key: Its name.
        text: Its text.
        text_sha256: The hash of the text.
        model: ``NAME@HASH``; empty where no model predicted.
        year: Of publication, where it is known.
        annotations: What was found in it, the rejected included.
        sentences: Where its sentences lie.
    """

    doc_key: str
    text: str
    text_sha256: str
    model: str
    year: int | None
    annotations: Annotations
    sentences: Sentences


@dataclass(frozen=True, slots=True)
class Sentences:
    """Where the sentences of a text begin and end, in characters, ascending; ends are exclusive."""

    starts: Sequence[int]
    ends: Sequence[int]

    def around(self, first: Span, second: Span) -> tuple[int, int] | None:
        """From the start of the first to the end of the last sentence that one of the spans touches.

        ``None`` in a text without sentences.
        """
        if not self.starts:
            return None
        begin = bisect_right(self.starts, min(first.char_start, second.char_start)) - 1
        end = bisect_right(self.starts, max(first.char_end, second.char_end) - 1) - 1
        return self.starts[max(begin, 0)], self.ends[max(end, 0)]


def abstract_of(annotated: AnnotatedDocument, year: int | None = None) -> Abstract:
    """What a graph needs of an annotated document.

    Args:
        annotated: The document.
        year: Of publication; that of the document's fields when ``None``.
    """
    document = annotated.document
    tokens = document.tokens
    return Abstract(
        document.doc_key,
        document.text,
        document.text_sha256,
        str(annotated.model or ""),
        year or publication_year(document.fields),
        annotated.annotations,
        Sentences(
            [tokens.spans[each.token_start].char_start for each in tokens.sentences],
            [tokens.spans[each.token_end - 1].char_end for each in tokens.sentences],
        ),
    )
