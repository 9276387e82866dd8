"""Plain text: a file per abstract, or a paragraph per abstract. The text is kept exactly."""

from __future__ import annotations

from collections.abc import Iterator

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import (
    Block,
    LineRole,
    ReadItem,
    Source,
    blocks_of,
    decode_content,
    read_each,
    readable_lines,
)
from sciextract.text.analyse import make_document

_NOTHING = "the file is empty: it holds white space only"


def read_text(source: Source) -> Iterator[ReadItem]:
    """Read the whole file as one abstract; every character is kept, line ends included."""
    text = decode_content(source)
    if not text.strip():
        raise FormatError(_NOTHING, path=source.path)
    yield _document(source.stem, text)


def read_paragraphs(source: Source) -> Iterator[ReadItem]:
    """Read one abstract a paragraph; lines of white space only lie between them.

    The line end after a paragraph is not part of it, those inside are. Keys are ``FILE:LINE``.
    """

    def read(block: Block, _: int) -> AnnotatedDocument:
        lines = readable_lines(block)
        text = "".join([line for _, line in lines]).removesuffix("\n").removesuffix("\r")
        return _document(f"{source.stem}:{lines[0][0]}", text)

    def role_of(line: str, _: Block) -> LineRole:
        return LineRole.INSIDE if line.strip() else LineRole.BETWEEN

    nothing = FormatError(_NOTHING, path=source.path)
    return read_each(blocks_of(source, role_of), read, nothing)


def _document(doc_key: str, text: str) -> AnnotatedDocument:
    return AnnotatedDocument(make_document(doc_key, text))
