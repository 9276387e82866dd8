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

import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sciextract.documents.annotations import Annotations, Entity, State, stable_id
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span, TokenRange
from sciextract.errors import FormatError, MissingExtraError
from sciextract.formats.layers import token_layers
from sciextract.interop.spacy_layers import (
    CLUSTER_PREFIX,
    SPAN_KEY,
    USER_DATA,
    LayerOptions,
    SpanKey,
    own_cluster_groups,
    put_layers,
    register_extensions,
    span_keys,
    stored_annotations,
    stored_span_key,
    visible_keys,
)
from sciextract.interop.spacy_tokens import AlignedTokens, aligned_tokens, new_doc
from sciextract.text.analyse import split_at
from sciextract.text.characters import visible

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


try:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab
except ModuleNotFoundError as error:
    raise MissingExtraError("the spaCy bridge", "spacy") from error

__all__ = ["SOURCE", "from_doc", "register_extensions", "render_html", "to_doc", "to_docs"]

SOURCE = "import:spacy"
"""The source of spans that something else put on a Doc."""


def to_doc(
    annotated: AnnotatedDocument,
    vocab: Vocab,
    *,
    span_key: str = SPAN_KEY,
    set_ents: bool = True,
    cluster_prefix: str = CLUSTER_PREFIX,
) -> Doc:
    """An annotated document as a Doc: ``doc.text`` is the exact text.

    Tokens are cut where the edge of an entity falls inside one. Rejected items, and entities that cover
    white space only, are not shown but come back with :func:`from_doc`.

    Args:
        annotated: The document.
        vocab: The vocabulary that the Doc shares, such as ``spacy.blank("en").vocab``.
        span_key: Name of the span group that holds all entities.
        set_ents: Whether ``doc.ents`` gets a subset without overlap.
        cluster_prefix: Each cluster is a span group ``PREFIX_1``, ``PREFIX_2``...; empty for no such groups.

    Raises:
        FormatError: The text or a label has a lone surrogate, which spaCy cannot hold.
    """
    doc = new_doc(vocab, annotated.document.text, token_layers(annotated).table)
    options = LayerOptions(span_key, set_ents, cluster_prefix=cluster_prefix)
    put_layers(aligned_tokens(doc), annotated, options)
    return doc


def to_docs(
    documents: Iterable[AnnotatedDocument],
    vocab: Vocab,
    *,
    span_key: str = SPAN_KEY,
    set_ents: bool = True,
    cluster_prefix: str = CLUSTER_PREFIX,
) -> Iterator[Doc]:
    """:func:`to_doc` of each document, one at a time."""
    for annotated in documents:
        yield to_doc(
            annotated, vocab, span_key=span_key, set_ents=set_ents, cluster_prefix=cluster_prefix
        )


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
    shown = visible_keys(tokens, annotations.entities)
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


try:
    import srsly  # type: ignore[import-untyped]
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab
except ModuleNotFoundError as error:
    raise MissingExtraError("the spaCy bridge", "spacy") from error

# Sentence starts in place of spaCy's dependency heads, of which there are none; the two exclude each other.
_ATTRIBUTES = ("ORTH", "SENT_START", "ENT_IOB", "ENT_TYPE")
_TOKEN_LAYERS = ("TAG", "POS", "MORPH", "LEMMA", "DEP")
_NEEDED = ("attrs", "tokens", "spaces", "lengths", "strings", "cats")
# spaCy checks nothing of what it unpacks, so that damage shows wherever it first gets in the way.
_DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    AssertionError,
    OverflowError,
    ZeroDivisionError,
)


class StoredDocs:
    """The Docs of a DocBin, each unpacked when it is needed, so that a damaged one spares the others.

    Args:
        message: The DocBin, decompressed.

    Raises:
        FormatError: It is not a DocBin.
    """

    def __init__(self, message: bytes) -> None:
        self._vocab = Vocab()
        try:
            self._bin = _loaded(message)
            for string in self._bin.strings:
                self._vocab.strings.add(string)
        except _DAMAGE as error:
            raise FormatError(f"this is not a DocBin: {_first_line(error)}") from error
        self._bin.strings = set()

    def __len__(self) -> int:
        return len(self._bin.tokens)

    def read(self, index: int, doc_key: str, provenance: str) -> AnnotatedDocument:
        """One Doc as an annotated document; what is not read is counted in its warnings.

        Args:
            index: Which one.
            doc_key: The document's name, if sciextract has not stored one with the Doc.
            provenance: The source of entities that others put on the Doc.

        Raises:
            FormatError: The Doc, or what sciextract stored with it, is damaged.
        """
        try:
            return _document(self._doc(index), doc_key, provenance)
        except _DAMAGE as error:
            raise FormatError(f"the Doc is damaged: {_first_line(error)}") from error

    def _doc(self, index: int) -> Doc:
        stored, one = self._bin, DocBin()
        one.attrs, one.strings = stored.attrs, set()
        one.tokens, one.spaces = [stored.tokens[index]], [stored.spaces[index]]
        one.cats, one.flags = [stored.cats[index]], [stored.flags[index]]
        one.span_groups, one.user_data = [stored.span_groups[index]], [stored.user_data[index]]
        (doc,) = one.get_docs(self._vocab)
        return doc


def _loaded(message: bytes) -> DocBin:
    content = srsly.msgpack_loads(message)
    if not isinstance(content, dict):
        raise TypeError(f"it holds {type(content).__name__}, not an object")
    missing = [name for name in _NEEDED if name not in content]
    if missing:
        raise KeyError(f"it lacks {', '.join(missing)}")
    if len(content["tokens"]) != 8 * len(content["attrs"]) * len(content["spaces"]):
        raise ValueError("its tokens and spaces do not fit together")
    return DocBin().from_bytes(zlib.compress(message, 0))


def _document(doc: Doc, doc_key: str, provenance: str) -> AnnotatedDocument:
    is_own = USER_DATA in doc.user_data
    span_key = stored_span_key(doc) if is_own else _span_key(doc)
    found = from_doc(doc, doc_key="" if is_own else doc_key, span_key=span_key)
    annotations = found.annotations
    entities = tuple(
        replace(each, source=provenance) if each.source == SOURCE else each
        for each in annotations.entities
    )
    document = found.document
    if not doc.has_annotation("SENT_START"):
        spans = [each.span for each in entities if len(each.fragments) == 1]
        document = replace(document, tokens=split_at(document.tokens, doc.text, spans))
    if doc.cats:
        document = replace(document, fields={**document.fields, "docbin": {"cats": dict(doc.cats)}})
    warnings = (*found.warnings, *_unread(doc, span_key))
    annotations = replace(annotations, entities=entities)
    return replace(found, document=document, annotations=annotations, warnings=warnings)


def _span_key(doc: Doc) -> str:
    """The span group to read: spaCy's usual one, or the only one of a Doc without entities."""
    names = [name for name, group in doc.spans.items() if len(group)]
    return names[0] if len(names) == 1 and not doc.ents else SPAN_KEY


def _unread(doc: Doc, span_key: str) -> list[str]:
    read = {span_key} | own_cluster_groups(doc)
    counts = Counter(
        {
            f"span of the group {name!r} is not read": len(group)
            for name, group in doc.spans.items()
            if name not in read
        }
    )
    if span_key in doc.spans:
        others = Counter((e.start_char, e.end_char, e.label_) for e in doc.ents)
        counts["entity outside of the span group is not read"] = (
            others - span_keys(doc, span_key)
        ).total()
    counts["link of an entity to a knowledge base is not read"] = sum(
        bool(entity.kb_id) for entity in doc.ents
    )
    counts["entry of user data is not read"] = sum(key != USER_DATA for key in doc.user_data)
    layers = [name.lower() for name in _TOKEN_LAYERS if doc.has_annotation(name)]
    counts[f"token attributes are not read: {', '.join(layers)}"] = bool(layers)
    return [f"{kind} ({'once' if n == 1 else f'{n} times'})" for kind, n in counts.items() if n]


class DocBinBuilder:
    """Collects documents for one DocBin, which spaCy can only write as a whole."""

    def __init__(self) -> None:
        self._vocab = Vocab()
        self._bin = DocBin(attrs=list(_ATTRIBUTES), store_user_data=True)

    def add(self, annotated: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            FormatError: The text or a label has a lone surrogate, which spaCy cannot hold.
        """
        self._bin.add(to_doc(annotated, self._vocab))

    def content(self) -> bytes:
        """The bytes of the file."""
        return bytes(self._bin.to_bytes())


def _first_line(error: BaseException) -> str:
    text: Any = error.args[0] if error.args else type(error).__name__
    return str(text).strip().partition("\n")[0][:200]
