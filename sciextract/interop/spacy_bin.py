"""DocBins: the Docs of a ``.spacy`` file as annotated documents, and the other way round."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import replace
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, MissingExtraError
from sciextract.interop.spacy_docs import SOURCE, from_doc, to_doc
from sciextract.interop.spacy_layers import SPAN_KEY, USER_DATA, span_keys, stored_span_key
from sciextract.text.analyse import split_at

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
    """The Docs of a DocBin, each unpacked when it is asked for, so that a damaged one spares the others.

    Args:
        message: The DocBin, decompressed.

    Raises:
        FormatError: It is no DocBin.
    """

    def __init__(self, message: bytes) -> None:
        self._vocab = Vocab()
        try:
            self._bin = _loaded(message)
            for string in self._bin.strings:
                self._vocab.strings.add(string)
        except _DAMAGE as error:
            raise FormatError(f"this is no DocBin: {_first_line(error)}") from error
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
    counts = Counter(
        {
            f"span of the group {name!r} is not read": len(group)
            for name, group in doc.spans.items()
            if name != span_key
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
