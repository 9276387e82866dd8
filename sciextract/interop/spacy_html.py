"""Annotated documents as HTML through displaCy, safe for hostile text and labels."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from sciextract.documents.annotations import Entity, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.errors import MissingExtraError
from sciextract.formats.token_layers import token_layers
from sciextract.text.visible import visible

try:
    from spacy import displacy
    from spacy.util import escape_html
except ModuleNotFoundError as error:
    raise MissingExtraError("the displaCy view", "spacy") from error

MENTION = "mention"
"""Shown for entities without a type."""


def render_html(
    annotated: AnnotatedDocument, *, schema: LabelSchema | None = None, page: bool = True
) -> str:
    """The entities of a document in HTML, nested ones too, one block a sentence.

    Control characters between tokens are left out, those inside become visible symbols. displaCy escapes
    the text but puts labels into the markup as they are, so they are escaped here.

    Args:
        annotated: The document; rejected entities are not shown.
        schema: Where the colours come from; displaCy's grey when ``None``.
        page: Whether to give a whole page, not only what goes into one.
    """
    table = token_layers(annotated).table
    words = [visible(word) for word in table.slices(annotated.document.text)]
    blocks = [
        {"text": "", "tokens": words[start:end], "spans": spans, "settings": {"lang": "en"}}
        for (start, end), spans in _sentences(table, annotated.annotations.entities)
    ]
    colours = {_safe(each.label): each.colour for each in schema.entities} if schema else {}
    markup: str = displacy.render(
        blocks, style="span", page=page, jupyter=False, manual=True, options={"colors": colours}
    )
    return markup


def _sentences(
    table: TokenTable, entities: Iterable[Entity]
) -> Iterator[tuple[tuple[int, int], list[dict[str, Any]]]]:
    """Each sentence with the parts of entities inside it."""
    starts = [sentence.token_start for sentence in table.sentences]
    spans: list[list[dict[str, Any]]] = [[] for _ in starts]
    for entity in entities:
        tokens = table.covering(entity.span) if entity.state is not State.REJECTED else None
        if tokens is not None:
            first = bisect_right(starts, tokens.token_start) - 1
            last = bisect_right(starts, tokens.token_end - 1)
            for sentence in range(first, last):
                spans[sentence].append(_part(tokens, table.sentences[sentence], entity.label))
    for sentence_range, found in zip(table.sentences, spans, strict=True):
        yield (sentence_range.token_start, sentence_range.token_end), found


def _part(tokens: TokenRange, sentence: TokenRange, label: str) -> dict[str, Any]:
    start = max(tokens.token_start, sentence.token_start) - sentence.token_start
    end = min(tokens.token_end, sentence.token_end) - sentence.token_start
    return {"start_token": start, "end_token": end, "label": _safe(label or MENTION)}


def _safe(label: str) -> str:
    escaped: str = escape_html(visible(label))
    return escaped.replace("'", "&#39;")
