"""What the tests of bibliographic readers share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, Source
from sciextract.formats.record_check import NO_ABSTRACT
from sciextract.formats.registry import get_format
from tests.shared_data import shared_path

__all__ = ["NO_ABSTRACT", "bad_and_good", "document", "read_items", "read_sample"]


def read_items(
    folder: Path, format_id: str, content: str | bytes
) -> list[AnnotatedDocument | BadRecord]:
    """What the format's reader yields for a file called ``lib``."""
    path = folder / "lib"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(get_format(format_id).load_reader()(Source(str(path))))


def document(folder: Path, format_id: str, content: str | bytes) -> AnnotatedDocument:
    """The only document of a file."""
    (item,) = read_items(folder, format_id, content)
    assert isinstance(item, AnnotatedDocument), item
    return item


def bad_and_good(items: list[Any]) -> tuple[list[FormatError], list[str]]:
    """The errors and the keys of the documents among what a reader yields."""
    errors = [item.error for item in items if isinstance(item, BadRecord)]
    keys = [item.document.doc_key for item in items if isinstance(item, AnnotatedDocument)]
    return errors, keys


def read_sample(relative: str, format_id: str) -> list[AnnotatedDocument]:
    """The documents of a real file, all of whose records must be readable; skips when it is absent."""
    source = Source(str(shared_path(relative)))
    items = list(get_format(format_id).load_reader()(source))
    assert not bad_and_good(items)[0]
    for item in items:
        assert isinstance(item, AnnotatedDocument)
        found = item.document
        assert found.text == found.text.strip() and found.text.startswith(found.fields["title"])
        assert not found.tokens.problems(len(found.text))
        first = found.tokens.char_span(found.tokens.sentences[0])
        assert first.char_end <= len(found.fields["title"])
    return [item for item in items if isinstance(item, AnnotatedDocument)]
