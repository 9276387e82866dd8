"""Annotated documents as spaCy Docs and back, and as displaCy HTML.

>>> import spacy
>>> from sciextract.interop.spacy_docs import from_doc, to_doc
>>> from sciextract.text.analyse import make_document
>>> from sciextract.documents.document import AnnotatedDocument
>>> doc = to_doc(AnnotatedDocument(make_document("a", "We  parse\\ngraphs.")), spacy.blank("en").vocab)
>>> [token.text for token in doc]
['We', ' ', 'parse', '\\n', 'graphs', '.']
>>> from_doc(doc).document.doc_key
'a'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sciextract.documents.annotations import Annotations, Entity, State
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.ids import stable_id
from sciextract.documents.spans import Span
from sciextract.documents.tokens import TokenTable
from sciextract.errors import MissingExtraError
from sciextract.formats.token_layers import token_layers
from sciextract.interop.spacy_html import render_html
from sciextract.interop.spacy_layers import (
    SPAN_KEY,
    SpanKey,
    put_layers,
    register_extensions,
    shown_keys,
    span_keys,
    stored_annotations,
    stored_span_key,
)
from sciextract.interop.spacy_tokens import AlignedTokens, aligned_tokens, new_doc

try:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab
except ModuleNotFoundError as error:
    raise MissingExtraError("the spaCy bridge", "spacy") from error

__all__ = ["SOURCE", "from_doc", "register_extensions", "render_html", "to_doc", "to_docs"]

SOURCE = "import:spacy"
"""The source of spans that something else put on a Doc."""


def to_doc(
    annotated: AnnotatedDocument, vocab: Vocab, *, span_key: str = SPAN_KEY, set_ents: bool = True
) -> Doc:
    """An annotated document as a Doc: ``doc.text`` is the exact text.

    Tokens are cut where the edge of an entity falls inside one. Rejected items, and entities that cover
    white space only, are not shown but come back with :func:`from_doc`.

    Args:
        annotated: The document.
        vocab: The vocabulary that the Doc shares, such as ``spacy.blank("en").vocab``.
        span_key: Name of the span group that holds all entities.
        set_ents: Whether ``doc.ents`` gets a subset without overlap.

    Raises:
        FormatError: The text or a label has a lone surrogate, which spaCy cannot hold.
    """
    doc = new_doc(vocab, annotated.document.text, token_layers(annotated).table)
    put_layers(aligned_tokens(doc), annotated, span_key, set_ents)
    return doc


def to_docs(
    documents: Iterable[AnnotatedDocument],
    vocab: Vocab,
    *,
    span_key: str = SPAN_KEY,
    set_ents: bool = True,
) -> Iterator[Doc]:
    """:func:`to_doc` of each document, one at a time."""
    for annotated in documents:
        yield to_doc(annotated, vocab, span_key=span_key, set_ents=set_ents)


def from_doc(doc: Doc, *, doc_key: str = "", span_key: str = "") -> AnnotatedDocument:
    """A Doc as an annotated document.

    Entities are those of the span group, or of ``doc.ents`` where the Doc has no such group. What
    sciextract put on the Doc comes back whole as far as its spans are still there; spans added since, or by
    anyone else, become imported entities.

    Args:
        doc: Any Doc. Without sentences of its own it gets those of sciextract's splitter.
        doc_key: The document's name; the one it had, or one made from its text, when empty.
        span_key: Name of the span group; the one that sciextract filled when empty.
    """
    tokens, stored = aligned_tokens(doc), stored_annotations(doc)
    if stored is None:
        document = Document("", doc.text, tokens.table)
        stored = AnnotatedDocument(document)
    key = doc_key or stored.document.doc_key or stable_id("doc", doc.text)
    table = _with_forms(tokens.table, stored.document.tokens)
    document = replace(stored.document, doc_key=key, tokens=table)
    wanted = span_keys(doc, span_key or stored_span_key(doc))
    annotations = _kept(stored.annotations, tokens, wanted)
    entities = (*annotations.entities, *_added(key, wanted))
    return replace(stored, document=document, annotations=replace(annotations, entities=entities))


def _with_forms(table: TokenTable, stored: TokenTable) -> TokenTable:
    """The Doc's table with the forms that its tokens were given, if they are still the same tokens."""
    return replace(table, forms=stored.forms) if table.spans == stored.spans else table


def _kept(annotations: Annotations, tokens: AlignedTokens, wanted: Counter[SpanKey]) -> Annotations:
    """The items whose spans are still there; takes their spans out of ``wanted``."""
    shown = shown_keys(tokens, annotations.entities)
    lost: set[str] = set()
    for entity_id, key in shown.items():
        if wanted[key] > 0:
            wanted[key] -= 1
        else:
            lost.add(entity_id)
    if not lost:
        return annotations
    kept = {entity.id for entity in annotations.entities} - lost
    clusters = (cluster.only(kept) for cluster in annotations.clusters)
    return Annotations(
        tuple(entity for entity in annotations.entities if entity.id in kept),
        tuple(each for each in annotations.relations if lost.isdisjoint((each.head, each.tail))),
        tuple(cluster for cluster in clusters if len(cluster.mentions) > 1),
        annotations.candidates,
    )


def _added(doc_key: str, wanted: Counter[SpanKey]) -> Iterator[Entity]:
    for number, (start, end, label) in enumerate(wanted.elements()):
        yield Entity(
            id=stable_id("entity", doc_key, SOURCE, number, start, end, label),
            fragments=(Span(start, end),),
            label=label,
            state=State.IMPORTED,
            source=SOURCE,
        )
