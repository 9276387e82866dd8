"""Plain text: a file per abstract, or a paragraph per abstract. The text is kept exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import Block, ReadItem, Source, read_each
from sciextract.formats.decoding import decoded_content, decoded_lines
from sciextract.text.analyse import make_document


def read_text(source: Source) -> Iterator[ReadItem]:
    """Read the whole file as one abstract; every character is kept, line ends included.

    Raises:
        FormatError: The file is empty or not UTF-8 text.
    """
    yield _document(source.stem, decoded_content(source))


def read_paragraphs(source: Source) -> Iterator[ReadItem]:
    """Read one abstract a paragraph; lines of white space only lie between them.

    The line end after a paragraph is not part of it, those inside are. Keys are ``FILE:LINE``.

    Raises:
        FormatError: The file is empty, holds white space only, or is not UTF-8 text at all.
    """

    def read(paragraph: _Paragraph, _: int) -> AnnotatedDocument:
        text = "".join(paragraph.lines).removesuffix("\n").removesuffix("\r")
        return _document(f"{source.stem}:{paragraph.first_line}", text)

    problem = "the file is empty: it holds white space only"
    return read_each(_paragraphs(source), read, FormatError(problem, path=source.path))


@dataclass(slots=True)
class _Paragraph(Block):
    lines: list[str] = field(default_factory=list)


def _paragraphs(source: Source) -> Iterator[_Paragraph]:
    paragraph: _Paragraph | None = None
    for number, line in decoded_lines(source):
        if isinstance(line, FormatError):
            paragraph = paragraph or _Paragraph(number)
            paragraph.fail(line)
        elif line.strip():
            paragraph = paragraph or _Paragraph(number)
            paragraph.lines.append(line)
        elif paragraph:
            yield paragraph
            paragraph = None
    if paragraph:
        yield paragraph


def _document(doc_key: str, text: str) -> AnnotatedDocument:
    return AnnotatedDocument(make_document(doc_key, text))
