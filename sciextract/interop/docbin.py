"""spaCy's DocBin (``.spacy``): a compressed collection of Docs, with entities, span groups and user data.

What sciextract writes comes back whole. Of Docs made by others, the span group ``sc`` or ``doc.ents`` become
entities, or the only span group there is.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sciextract import atomic
from sciextract.documents.document import AnnotatedDocument, warnings_of
from sciextract.errors import FormatError, MissingExtraError, OutputError, explain_write_errors
from sciextract.formats.base import BadRecord, Place, ReadItem, Source
from sciextract.formats.packing import allowed_bytes
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
    import srsly  # type: ignore[import-untyped]
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


def read_docbin(source: Source) -> Iterator[ReadItem]:
    """Read the Docs of a DocBin.

    Raises:
        FormatError: The file is empty, no DocBin, or unpacks to more than 2 GiB or
            :func:`~sciextract.formats.packing.allowed_bytes`.
    """
    try:
        docs = StoredDocs(_unpacked(source.content(), source.path))
    except FormatError as error:
        raise FormatError(error.problem, path=source.path, hint=error.hint or _HINT) from error
    for index in range(len(docs)):
        key = f"{source.stem}:{index + 1}"
        try:
            yield docs.read(index, key, source.provenance)
        except FormatError as error:
            yield BadRecord(Place(source.path, doc_key=key).error(error.problem))


def _unpacked(content: bytes, path: str) -> bytes:
    """The bytes without compression, chunk by chunk so that a bomb is noticed before it goes off."""
    unpacker, chunks, size = zlib.decompressobj(), [], 0
    largest = min(LARGEST_BYTES, allowed_bytes(len(content)))
    try:
        while not unpacker.eof:
            chunk = unpacker.decompress(content, _CHUNK_BYTES)
            content = unpacker.unconsumed_tail
            if not chunk and not content and not unpacker.eof:
                raise FormatError("the file is cut off", path=path)
            size += len(chunk)
            if size > largest:
                raise FormatError(f"the file unpacks to more than {largest} bytes", path=path)
            chunks.append(chunk)
    except zlib.error as error:
        raise FormatError(
            "this is not a DocBin: it is not compressed with zlib", path=path
        ) from error
    return b"".join(chunks)


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
            content = srsly.msgpack_loads(message)
            if not isinstance(content, dict):
                raise TypeError(f"it holds {type(content).__name__}, not an object")
            missing = [name for name in _NEEDED if name not in content]
            if missing:
                raise KeyError(f"it lacks {', '.join(missing)}")
            if len(content["tokens"]) != 8 * len(content["attrs"]) * len(content["spaces"]):
                raise ValueError("its tokens and spaces do not fit together")
            # DocBin wants its bytes compressed; level 0 only wraps them.
            self._bin = DocBin().from_bytes(zlib.compress(message, 0))
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
        stored, one = self._bin, DocBin()
        try:
            one.attrs, one.strings = stored.attrs, set()
            one.tokens, one.spaces = [stored.tokens[index]], [stored.spaces[index]]
            one.cats, one.flags = [stored.cats[index]], [stored.flags[index]]
            one.span_groups, one.user_data = [stored.span_groups[index]], [stored.user_data[index]]
            (doc,) = one.get_docs(self._vocab)
            return _document(doc, doc_key, provenance)
        except _DAMAGE as error:
            raise FormatError(f"the Doc is damaged: {_first_line(error)}") from error


def _document(doc: Doc, doc_key: str, provenance: str) -> AnnotatedDocument:
    is_own = USER_DATA in doc.user_data
    # spaCy's usual span group, or the only one of a Doc without entities.
    names = [name for name, group in doc.spans.items() if len(group)]
    span_key = names[0] if len(names) == 1 and not doc.ents else SPAN_KEY
    if is_own:
        doc_key, span_key = "", stored_span_key(doc)
    found = from_doc(doc, doc_key=doc_key, span_key=span_key)
    entities = tuple(
        replace(each, source=provenance) if each.source == SOURCE else each
        for each in found.annotations.entities
    )
    document = found.document
    if not doc.has_annotation("SENT_START"):
        spans = [each.span for each in entities if len(each.fragments) == 1]
        document = replace(document, tokens=split_at(document.tokens, doc.text, spans))
    read = {span_key} | own_cluster_groups(doc)
    counts = Counter(
        {
            f"span of the group {name!r}": len(group)
            for name, group in doc.spans.items()
            if name not in read
        }
    )
    if span_key in doc.spans:
        others = Counter((e.start_char, e.end_char, e.label_) for e in doc.ents)
        counts["entity outside of the span group"] = (others - span_keys(doc, span_key)).total()
    counts["category of a document"] = len(doc.cats)
    counts["link of an entity to a knowledge base"] = sum(bool(e.kb_id) for e in doc.ents)
    counts["entry of user data"] = sum(key != USER_DATA for key in doc.user_data)
    for name in _TOKEN_LAYERS:
        counts[f"token attribute {name.lower()}"] = int(doc.has_annotation(name))
    words = warnings_of({f"not read: {kind}": count for kind, count in counts.items()})
    annotations = replace(found.annotations, entities=entities)
    warnings = (*found.warnings, *words)
    return replace(
        found, document=document, annotations=annotations, warnings=warnings, unread=+counts
    )


def _first_line(error: BaseException) -> str:
    text: Any = error.args[0] if error.args else type(error).__name__
    return str(text).strip().partition("\n")[0][:200]


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
        """Append one document."""
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
