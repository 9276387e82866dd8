"""BioC JSON: a collection, or documents as PubTator gives them (in a list, one a line, or under another name)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO
from xml.etree.ElementTree import Element

from bioc.biocjson import toJSON
from bioc.biocxml.encoder import encode_document
from lxml import etree

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem, Source, read_each
from sciextract.formats.bioc_documents import Collection, other_fields, parse_document, to_bioc
from sciextract.formats.json_streams import Found, JsonObjects
from sciextract.formats.json_values import Record, dump_line
from sciextract.formats.safe_xml import local_name, numbered_elements, xml_safe
from sciextract.formats.sink import LineWriter

#: PubTator gives the list a name of its own, with a number that rises.
_LISTS_OF_DOCUMENTS = r"documents|PubTator\w*"


def read_bioc_json(source: Source) -> Iterator[ReadItem]:
    """Read the documents of a BioC JSON file: of a collection, of a list, or one behind the other.

    All are held in memory, since what the collection says of itself may stand behind them.

    Raises:
        FormatError: The file is empty, no JSON at all, or holds no documents.
    """
    objects = JsonObjects(source, _LISTS_OF_DOCUMENTS)

    def read(found: Found, number: int) -> ReadItem:
        line, record = found
        if isinstance(record, FormatError):
            raise record
        about = {k: v for k, v in objects.around.items() if v and k != "bioctype"}
        return parse_document(
            record | ({"collection": about} if about else {}), source, number, line
        )

    problem = "no document found; expected a BioC collection with `documents`"
    return read_each(list(objects), read, FormatError(problem, path=source.path))


class BiocJsonWriter(LineWriter):
    """Writes a BioC JSON collection, one document a line; what was read from BioC goes back."""

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        super().__init__(destination)
        self._separator = ""
        self._collection = Collection(self.losses)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: An entity lies outside the text, or the disk is full.
        """
        if self._collection.see(document):
            self._open()
        made = other_fields(document) | toJSON(to_bioc(document, self.losses))
        self._sink.write_line(self._separator + dump_line(made))
        self._separator = ","

    def close(self) -> None:
        """End the collection and flush; close the file that was opened here."""
        if not self._separator:
            self._open()
        self._sink.write_line("]}")
        self._sink.close()

    def _open(self) -> None:
        self._sink.write_line(f'{dump_line(self._collection.head())[:-1]},"documents":[')


_ABOUT = frozenset({"source", "date", "key", "infon"})
_LISTS = {
    "passage": "passages",
    "sentence": "sentences",
    "annotation": "annotations",
    "relation": "relations",
    "location": "locations",
    "node": "nodes",
}
_OPENING = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
"""


def read_bioc_xml(source: Source) -> Iterator[ReadItem]:
    """Read the documents of a BioC XML collection.

    Raises:
        FormatError: The file is empty, broken XML or has no `document` at all; documents in front of the
            place where it breaks are given first.
    """
    about: Record = {}
    number = 0
    for line, element in numbered_elements(source, _ABOUT | {"document"}):
        name = local_name(element)
        if name != "document":
            about[element.get("key") or name] = element.text or ""
            continue
        number += 1
        yield _item(element, source, number, line, about)
    if not number:
        problem = "no document found; expected a BioC collection with `document` elements"
        raise FormatError(problem, path=source.path)


def _item(element: Element, source: Source, number: int, line: int, about: Record) -> ReadItem:
    record = _record(element)
    if any(about.values()):
        record["collection"] = dict(about)
    try:
        return parse_document(record, source, number, line)
    except FormatError as error:
        return BadRecord(error)


def _record(element: Element) -> Record:
    """An element as the object that BioC JSON has for it; nested no deeper than the XML may be."""
    record: Record = dict(element.attrib)
    if local_name(element) == "document":
        record["passages"] = None
    for child in element:
        name = local_name(child)
        if name == "infon":
            record.setdefault("infons", {})[child.get("key", "")] = child.text or ""
        elif name in _LISTS:
            _append(record, _LISTS[name], _record(child))
        elif len(child):
            _append(record, name, _record(child))
        else:
            record[name] = child.text or ""
    return record


def _append(record: Record, name: str, item: Any) -> None:
    if not isinstance(record.get(name), list):
        record[name] = []
    record[name].append(item)


class BiocXmlWriter(LineWriter):
    """Writes a BioC collection, one document a line.

    What was read from BioC goes back. Characters that XML cannot hold become visible ones and are counted.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        super().__init__(destination)
        self._collection = Collection(self.losses)
        self._is_open = False

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: An entity lies outside the text, or the disk is full.
        """
        if self._collection.see(document):
            self._open()
        self.losses += Counter({"other data of bioc": len(other_fields(document))})
        encoded = encode_document(to_bioc(document, self.losses, self._safe))
        self._sink.write_line(etree.tostring(encoded, encoding="unicode"))

    def close(self) -> None:
        """End the collection and flush; close the file that was opened here."""
        if not self._is_open:
            self._open()
        self._sink.write_line("</collection>")
        self._sink.close()

    def _safe(self, text: str) -> str:
        return xml_safe(text, self.losses)

    def _open(self) -> None:
        head = self._collection.head()
        collection = etree.Element("collection")
        for name in ("source", "date", "key"):
            etree.SubElement(collection, name).text = self._safe(head[name])
        for key, value in head["infons"].items():
            etree.SubElement(collection, "infon", key=self._safe(key)).text = self._safe(value)
        opened = etree.tostring(collection, encoding="unicode").removesuffix("</collection>")
        self._sink.write_line(_OPENING + opened)
        self._is_open = True
