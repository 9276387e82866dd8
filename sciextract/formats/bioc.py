"""BioC JSON: a collection, or documents as PubTator gives them (in a list, one a line, or under another name)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TextIO
from xml.etree.ElementTree import Element

from bioc.biocjson import toJSON
from bioc.biocxml.encoder import encode_document
from lxml import etree

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, Place, ReadItem, Source, shown
from sciextract.formats.bioc_documents import Collection, other_fields, parse_document, to_bioc
from sciextract.formats.decoding import decoded_content
from sciextract.formats.json_values import Record, dump_line, parse_object
from sciextract.formats.safe_xml import local_name, numbered_elements, xml_safe
from sciextract.formats.sink import LineWriter


def read_bioc_json(source: Source) -> Iterator[ReadItem]:
    """Read the documents of a BioC JSON file; its text is held in memory, its objects one by one.

    Raises:
        FormatError: The file is empty, broken JSON, or holds no documents; documents in front of the place
            where it breaks are given first.
    """
    content = decoded_content(source)
    for number, (found, line) in enumerate(_documents(content, source.path), start=1):
        if isinstance(found, BadRecord):
            yield found
            continue
        try:
            if not isinstance(found, dict):
                problem = f"{shown(found)} found, allowed is a BioC document (an object)"
                raise Place(source.path, line).error(problem, field=f"documents[{number - 1}]")
            yield parse_document(found, source, number, line)
        except FormatError as error:
            yield BadRecord(error)


def _documents(content: str, path: str) -> Iterator[tuple[object, int | None]]:
    if _is_lines(content):
        return _lines(content, path)
    start = _LIST.match(content) or _DOCUMENTS.search(content)
    if start is not None:
        return _elements(content, start, path)
    value = _parsed(content, path)
    if isinstance(value, dict) and "passages" in value:
        return iter([(value, None)])
    return ((document, None) for document in _listed(value, path))


def _is_lines(content: str) -> bool:
    """Whether each line is an object of its own: the first is, and others follow."""
    first, _, rest = content.strip().partition("\n")
    return bool(rest) and first.startswith("{") and first.rstrip().endswith("}")


def _lines(content: str, path: str) -> Iterator[tuple[object, int | None]]:
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            try:
                yield parse_object(line, path, number), number
            except FormatError as error:
                yield BadRecord(error), number


def _elements(content: str, start: re.Match[str], path: str) -> Iterator[tuple[object, int | None]]:
    """The documents of a list, decoded one at a time, with what the file says about the collection."""
    about, problem = _about(content, start)
    line, counted = 1, 0
    for position, _, document in _decoded(content, start.end(), path):
        line += content.count("\n", counted, position)
        counted = position
        yield _with_collection(document, about), line
    if problem is not None:
        raise FormatError(f"around the documents: {problem.problem}", path=path)


def _decoded(content: str, position: int, path: str) -> Iterator[tuple[int, int, object]]:
    """Start and end of each element of the list at ``position``, and the element."""
    with _placed(path):
        position = _after_blanks(content, position)
        while not content.startswith("]", position):
            value, end = _DECODER.raw_decode(content, position)
            yield position, end, value
            position = _after_blanks(content, end)
            if content.startswith(",", position):
                position = _after_blanks(content, position + 1)
            elif not content.startswith("]", position):
                raise json.JSONDecodeError("Expecting ',' delimiter", content, position)


def _about(content: str, start: re.Match[str]) -> tuple[Record, FormatError | None]:
    """The other fields of the collection, or what is wrong with the file."""
    end = start.end()
    try:
        for found in _decoded(content, start.end(), ""):
            end = found[1]
        closing = _after_blanks(content, end)
        value = _parsed(content[: start.end()] + content[closing:], "")
    except FormatError as error:
        return {}, error
    fields = value if isinstance(value, dict) else {}
    return {k: v for k, v in fields.items() if v and k not in ("bioctype", "documents")}, None


def _after_blanks(content: str, position: int) -> int:
    found = _BLANKS.match(content, position)
    return found.end() if found else position


def _listed(value: object, path: str) -> list[Any]:
    """The list that PubTator gives under a name of its own."""
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        if len(lists) == 1 and "documents" not in value:
            return lists[0]
    problem = f"{shown(value)} found, allowed is a BioC collection with `documents`"
    raise FormatError(problem, path=path)


def _with_collection(document: object, about: Record) -> object:
    return {**document, "collection": about} if isinstance(document, dict) and about else document


def _parsed(content: str, path: str) -> object:
    with _placed(path):
        return _DECODER.decode(content)


@contextmanager
def _placed(path: str) -> Iterator[None]:
    """Turns what is wrong with JSON into errors that name the place."""
    try:
        yield
    except json.JSONDecodeError as error:
        problem = f"broken JSON: {error.msg}"
        raise FormatError(problem, path=path, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise FormatError("the JSON is nested too deeply", path=path) from None
    except ValueError as error:
        raise FormatError(f"broken JSON: {error}", path=path) from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse, strict=False)
_BLANKS = re.compile(r"[ \t\r\n]*")
_LIST = re.compile(r"[ \t\r\n]*\[")
_DOCUMENTS = re.compile(r'"documents"[ \t\r\n]*:[ \t\r\n]*\[')


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
        problem = "no document found, allowed is a BioC collection with `document` elements"
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
        if lost := len(other_fields(document)):
            self.losses["other data of bioc"] += lost
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
