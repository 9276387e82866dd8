"""Plain text: a file per abstract, or a paragraph per abstract. The text is kept exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem, Source
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
    found = False
    paragraph = _Paragraph()
    for number, line in decoded_lines(source):
        if isinstance(line, str) and not line.strip():
            yield from paragraph.item(source)
            paragraph = _Paragraph()
            continue
        found = True
        paragraph.add(number, line)
    yield from paragraph.item(source)
    if not found:
        raise FormatError("the file is empty: it holds white space only", path=source.path)


@dataclass(slots=True)
class _Paragraph:
    """The lines of one paragraph so far, and the first thing that is wrong with one."""

    first: int = 0
    lines: list[str] = field(default_factory=list)
    error: FormatError | None = None

    def add(self, number: int, line: str | FormatError) -> None:
        self.first = self.first or number
        if isinstance(line, FormatError):
            self.error = self.error or line
        else:
            self.lines.append(line)

    def item(self, source: Source) -> Iterator[ReadItem]:
        if self.error is not None:
            yield BadRecord(self.error)
        elif self.lines:
            text = "".join(self.lines).removesuffix("\n").removesuffix("\r")
            yield _document(f"{source.stem}:{self.first}", text)


def _document(doc_key: str, text: str) -> AnnotatedDocument:
    return AnnotatedDocument(make_document(doc_key, text))
