"""spaCy's DocBin (``.spacy``): a compressed collection of Docs, with entities, span groups and user data.

What sciextract writes comes back whole. Of Docs made by others, the span group ``sc`` or ``doc.ents`` become
entities, or the only span group there is.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from sciextract import atomic
from sciextract.documents.document import AnnotatedDocument, warnings_of
from sciextract.errors import FormatError, MissingExtraError, OutputError, explain_write_errors
from sciextract.formats.base import BadRecord, Place, ReadItem, Source, quoted
from sciextract.formats.opening import allowed_bytes
from sciextract.formats.sink import LossyWriter
from sciextract.interop.spacy_docs import SOURCE, from_doc, to_doc
from sciextract.interop.spacy_layers import (
    SPAN_KEY,
    USER_DATA,
    own_cluster_groups,
    span_keys,
    stored_span_key,
)
from sciextract.text.analyse import split_at

try:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab
except ModuleNotFoundError as error:
    raise MissingExtraError("the spaCy bridge", "spacy") from error

LARGEST_BYTES = 1 << 31
"""A file that unpacks to more is refused: it is damaged, or made to fill the memory."""

_CHUNK_BYTES = 1 << 20
_HINT = "DocBin.to_disk of spaCy 3 writes such files; those of Doc.to_disk and pickle are others"
# Sentence starts in place of spaCy's dependency heads, of which there are none; the two exclude each other.
_ATTRIBUTES = ("ORTH", "SENT_START", "ENT_IOB", "ENT_TYPE")
_TOKEN_LAYERS = ("TAG", "POS", "MORPH", "LEMMA", "DEP")
# spaCy checks nothing of what it unpacks, so that damage shows wherever it first gets in the way.
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError)


def read_docbin(source: Source) -> Iterator[ReadItem]:
    """Read the Docs of a DocBin."""
    message = _unpack(source.content(), source.path)
    try:
        # DocBin wants its bytes compressed; level 0 only wraps them.
        docs = DocBin().from_bytes(zlib.compress(message, 0)).get_docs(Vocab())
    except _DAMAGE as error:
        raise _error("this is not a DocBin", error, source.path) from error
    for number in count(1):
        key = f"{source.stem}:{number}"
        try:
            doc = next(docs, None)
            if doc is None:
                return
            yield _document(doc, key, source.provenance)
        except FormatError as error:
            yield BadRecord(Place(source.path, doc_key=key).error(error.problem))
        except _DAMAGE as error:
            # spaCy stops at a Doc that it cannot unpack.
            damage = "the Doc is damaged, and those behind it may be missing"
            problem = f"doc_key {quoted(key)}: {damage}"
            yield BadRecord(_error(problem, error, source.path))


def _error(problem: str, error: BaseException, path: str) -> FormatError:
    words = str(error).strip().partition("\n")[0][:200]
    return FormatError(f"{problem}: {type(error).__name__} {words}", path=path, hint=_HINT)


def _unpack(content: bytes, path: str) -> bytes:
    """The bytes without compression, chunk by chunk so that a bomb is noticed before it goes off."""
    unpacker, chunks, size = zlib.decompressobj(), [], 0
    largest = min(LARGEST_BYTES, allowed_bytes(len(content)))
    try:
        while not unpacker.eof:
            chunk = unpacker.decompress(content, _CHUNK_BYTES)
            content = unpacker.unconsumed_tail
            if not chunk and not content and not unpacker.eof:
                raise FormatError("the file is cut off", path=path, hint=_HINT)
            size += len(chunk)
            if size > largest:
                problem = f"the file unpacks to more than {largest} bytes"
                raise FormatError(problem, path=path, hint=_HINT)
            chunks.append(chunk)
    except zlib.error as error:
        problem = "this is not a DocBin: it is not compressed with zlib"
        raise FormatError(problem, path=path, hint=_HINT) from error
    return b"".join(chunks)


def _document(doc: Doc, doc_key: str, provenance: str) -> AnnotatedDocument:
    is_own = USER_DATA in doc.user_data
    # spaCy's usual span group, or the only one of a Doc without entities.
    names = [name for name, group in doc.spans.items() if len(group)]
    span_key = names[0] if len(names) == 1 and not doc.ents else SPAN_KEY
    if is_own:
        doc_key, span_key = "", stored_span_key(doc)
    found = from_doc(doc, doc_key=doc_key, span_key=span_key)
    entities = tuple(
        replace(entity, source=provenance) if entity.source == SOURCE else entity
        for entity in found.annotations.entities
    )
    document = found.document
    if not doc.has_annotation("SENT_START"):
        spans = [entity.span for entity in entities if len(entity.fragments) == 1]
        document = replace(document, tokens=split_at(document.tokens, doc.text, spans))
    read = {span_key} | own_cluster_groups(doc, span_key)
    others = {name: len(group) for name, group in doc.spans.items() if name not in read}
    counts = Counter({f"span of the group {name!r}": number for name, number in others.items()})
    if span_key in doc.spans:
        shown = Counter((e.start_char, e.end_char, e.label_) for e in doc.ents)
        counts["entity outside of the span group"] = (shown - span_keys(doc, span_key)).total()
    counts["category of a document"] = len(doc.cats)
    counts["link of an entity to a knowledge base"] = sum(bool(e.kb_id) for e in doc.ents)
    counts["entry of user data"] = sum(key != USER_DATA for key in doc.user_data)
    for name in _TOKEN_LAYERS:
        counts[f"token attribute {name.lower()}"] = int(doc.has_annotation(name))
    words = warnings_of({f"not read: {kind}": count for kind, count in counts.items()})
    annotations = replace(found.annotations, entities=entities)
    found = replace(found, document=document, annotations=annotations)
    return replace(found, warnings=(*found.warnings, *words), unread=+counts)


class DocBinWriter(LossyWriter):
    """Writes a DocBin when it is closed, since spaCy can only write one as a whole.

    Nothing is lost but documents with lone surrogates, which spaCy cannot hold: ``losses`` counts them. Rejected
    items are not shown on the Docs, but come back.
    """

    def __init__(self, destination: Path | str) -> None:
        """Prepare to write the file ``destination``.

        Raises:
            OutputError: Its folder does not exist, or it is a folder.
        """
        super().__init__()
        self._path = Path(destination)
        self._vocab = Vocab()
        self._bin: DocBin | None = DocBin(attrs=list(_ATTRIBUTES), store_user_data=True)
        if self._path.is_dir() or not self._path.parent.is_dir():
            problem = f"{destination}: is not a file in a folder that exists"
            raise OutputError(problem, "choose another --output")

    def write(self, document: AnnotatedDocument) -> None:
        if self._bin is None:
            raise OutputError(f"{self._path}: is closed already")
        try:
            self._bin.add(to_doc(document, self._vocab))
        except FormatError:
            self.lose("document with a lone surrogate")

    def close(self) -> None:
        """Write the file, all of it or nothing.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        if self._bin is None:
            return
        content, self._bin = bytes(self._bin.to_bytes()), None
        with explain_write_errors(self._path):
            atomic.write(self._path, content)
