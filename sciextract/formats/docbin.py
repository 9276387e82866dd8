"""spaCy's DocBin (``.spacy``): a compressed collection of Docs, with entities, span groups and user data.

What sciextract writes comes back whole. Of Docs made by others, the span group ``sc`` or ``doc.ents`` become
entities, or the only span group there is. spaCy is imported on first use.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sciextract import atomic
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, OutputError
from sciextract.formats.base import BadRecord, Place, ReadItem, Source
from sciextract.formats.packing import allowed_bytes

LARGEST_BYTES = 1 << 31
"""A file that unpacks to more is refused: it is damaged, or made to fill the memory."""

_CHUNK_BYTES = 1 << 20
_HINT = "DocBin.to_disk of spaCy 3 writes such files; those of Doc.to_disk and pickle are others"


def read_docbin(source: Source) -> Iterator[ReadItem]:
    """Read the Docs of a DocBin.

    Raises:
        FormatError: The file is empty, no DocBin, or unpacks to more than 2 GiB or
            :func:`~sciextract.formats.packing.allowed_bytes`.
        MissingExtraError: spaCy is not installed.
    """
    from sciextract.interop.spacy_docs import StoredDocs

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


class DocBinWriter:
    """Writes a DocBin when it is closed, since spaCy can only write one as a whole.

    Nothing is lost but documents with lone surrogates, which spaCy cannot hold: ``losses`` counts them. Rejected
    items are not shown on the Docs, but come back.
    """

    def __init__(self, destination: Path | str) -> None:
        """Prepare to write the file ``destination``.

        Raises:
            OutputError: Its folder does not exist, or it is a folder.
            MissingExtraError: spaCy is not installed.
        """
        from sciextract.interop.spacy_docs import DocBinBuilder

        self.losses: Counter[str] = Counter()
        self._path = Path(destination)
        self._builder: DocBinBuilder | None = DocBinBuilder()
        if self._path.is_dir() or not self._path.parent.is_dir():
            problem = f"{destination}: is not a file in a folder that exists"
            raise OutputError(problem, "choose another --output")

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""
        builder = self._builder
        if builder is None:
            raise OutputError(f"{self._path}: is closed already")
        try:
            builder.add(document)
        except FormatError:
            self.losses["document with a lone surrogate"] += 1

    def close(self) -> None:
        """Write the file, all of it or nothing.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        if self._builder is None:
            return
        content, self._builder = self._builder.content(), None
        try:
            atomic.write(self._path, content)
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror}") from error
