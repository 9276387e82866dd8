"""XML of unknown origin: streamed, every problem placed, nothing expanded and nothing fetched.

The parser of the standard library does this with a few hooks. ``defusedxml`` would add a dependency whose
refusals name no line, and which swaps the streaming parser for a slower one.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import TypeVar
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, Place, Source, quoted, read_placed, refuse_binary
from sciextract.text.characters import REPLACEMENT, control_picture

_Read = TypeVar("_Read")
_CHUNK_BYTES = 1 << 16
#: Code that walks over elements may recurse: this stays far below Python's own limit.
_DEEPEST = 200
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BEFORE = re.compile(rb"\A(?:\xef\xbb\xbf|\xc3\xaf\xc2\xbb\xc2\xbf|\s)+")
_NO_ENTITIES = "entities can fill the memory and read other files: replace them by their text"
_NOT_UTF8 = "name the encoding in the first line, or convert: iconv -f windows-1252 -t utf-8"


def numbered_elements(source: Source, tags: Collection[str]) -> Iterator[tuple[int, Element]]:
    """Each element of these local names when it is complete, with the line its start tag ends on.

    Nothing else is kept in memory. Of elements inside an element of these names only the outermost is given. Names in
    namespaces are ``{uri}local``, as in :mod:`xml.etree.ElementTree`; ``tags`` are compared without the namespace.

    Raises:
        FormatError: The file is empty, broken, truncated or wrongly encoded, declares entities or default
            attributes, or is nested deeper than 200 levels; with line and column. What was complete before
            that place is given first.
        InputMissingError: It does not exist.
    """
    return _read(_Reader(source.path, frozenset(tags)), source)


def read_elements(
    source: Source, tags: Collection[str], read: Callable[[Element, Place], _Read], nothing: str
) -> Iterator[_Read | BadRecord]:
    """Read each of :func:`numbered_elements` with ``read(element, place)``; the place has its number as the document's key.

    Args:
        source: The file.
        tags: Local names.
        read: Gives the document of an element.
        nothing: What is said of a file without such elements.

    Raises:
        FormatError: As for :func:`numbered_elements`, or there are no such elements.
    """
    return read_placed(source, numbered_elements(source, tags), read, nothing)


def parse(source: Source) -> Element:
    """The root element of the whole file.

    Raises:
        FormatError: As for :func:`numbered_elements`.
        InputMissingError: The file does not exist.
    """
    (_, root), *_ = _read(_Reader(source.path, None), source)
    return root


def local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _read(reader: _Reader, source: Source) -> Iterator[tuple[int, Element]]:
    started = False
    for line in source.lines():
        if not started:
            # XML allows nothing before its declaration, also no second mark.
            line = _BEFORE.sub(b"", line)
            if not line:
                reader.lines_before += 1
                continue
            if not line.startswith(_UTF16):
                refuse_binary(line, source.path)
        started = True
        for start in range(0, len(line), _CHUNK_BYTES):
            yield from reader.feed(line[start : start + _CHUNK_BYTES])
    yield from reader.feed(b"", last=True)


class _Reader:
    """Feeds the parser and builds only the requested elements."""

    def __init__(self, path: str, tags: frozenset[str] | None) -> None:
        self._path = path
        self._tags = tags
        self._open: list[str] = []
        self._builder: TreeBuilder | None = None
        self._wanted_depth = 0
        self._wanted_line = 0
        self.lines_before = 0
        self._complete: list[tuple[int, Element]] = []
        self._names: dict[str, str] = {}
        parser = self._parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end

        def refuse_entity(name: str, *_: object) -> None:
            raise self._error(f"the file declares the entity {quoted(name)}", _NO_ENTITIES)

        def refuse_unknown(name: str, *_: object) -> None:
            raise self._error(f"the entity {quoted(name)} is not defined in the file", _NO_ENTITIES)

        def refuse_default(element: str, name: str, kind: str, default: str | None, _: int) -> None:
            # An attribute without a default only declares its type, as DTDs of journals do.
            if default is not None:
                problem = f"the file declares a default for the attribute {quoted(name)}"
                raise self._error(problem, _NO_ENTITIES)

        parser.EntityDeclHandler = refuse_entity
        parser.SkippedEntityHandler = refuse_unknown
        parser.AttlistDeclHandler = refuse_default

    def feed(self, chunk: bytes, *, last: bool = False) -> Iterator[tuple[int, Element]]:
        """The elements that ``chunk`` completes; an error comes after them."""
        problem: FormatError | None = None
        try:
            self._parser.Parse(chunk, last)
        except FormatError as error:
            problem = error
        except expat.ExpatError as error:
            words = expat.ErrorString(error.code) or str(error)
            what, hint = f"broken XML: {words}", ""
            if not chunk and self._open:
                name = self._open[-1].rpartition("}")[2]
                what = f"broken XML: the file ends inside the element {quoted(name)}"
            if error.code == expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]:
                # The chunk may begin and end inside of a character.
                whole = chunk.lstrip(bytes(range(0x80, 0xC0)))
                try:
                    codecs.getincrementaldecoder("utf-8")().decode(whole)
                except UnicodeDecodeError:
                    hint = _NOT_UTF8
            line, column = error.lineno + self.lines_before, error.offset + 1
            problem = FormatError(what, path=self._path, line=line, column=column, hint=hint)
        except (LookupError, ValueError) as error:
            problem = self._error(f"the declared encoding cannot be read: {error}")
        complete, self._complete = self._complete, []
        yield from complete
        if problem is not None:
            raise problem

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._open.append(name)
        if len(self._open) > _DEEPEST:
            raise self._error(f"elements are nested deeper than {_DEEPEST} levels")
        if self._builder is None:
            if self._tags is not None and name.rpartition("}")[2] not in self._tags:
                return
            self._builder = TreeBuilder()
            self._wanted_depth = len(self._open)
            self._wanted_line = self._line_number
            self._parser.CharacterDataHandler = self._builder.data
        named = {self._full_name(key): value for key, value in attributes.items()}
        self._builder.start(self._full_name(name), named)

    def _end(self, name: str) -> None:
        if self._builder is not None:
            self._builder.end(self._full_name(name))
            if len(self._open) == self._wanted_depth:
                self._complete.append((self._wanted_line, self._builder.close()))
                self._builder = None
                self._parser.CharacterDataHandler = None
        self._open.pop()

    def _full_name(self, name: str) -> str:
        """``{uri}local`` for the parser's ``uri}local``."""
        if "}" not in name:
            return name
        return self._names.setdefault(name, "{" + name)

    def _error(self, problem: str, hint: str = "") -> FormatError:
        line, column = self._line_number, self._parser.CurrentColumnNumber + 1
        return FormatError(problem, path=self._path, line=line, column=column, hint=hint)

    @property
    def _line_number(self) -> int:
        return self._parser.CurrentLineNumber + self.lines_before


LOSS = "character that XML cannot hold"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_safe(text: str, losses: Counter[str]) -> str:
    """The text with each such character replaced by one visible character, counted in ``losses``.

    Control characters become their Unicode symbols; lone surrogates and non-characters become U+FFFD. Every
    offset stays right, in code points and in UTF-16 units alike.

    >>> xml_safe("a\\x1bb", Counter())
    'a\u241bb'
    """

    def replace(found: re.Match[str]) -> str:
        return control_picture(found[0]) if found[0] < " " else REPLACEMENT

    safe, count = _FORBIDDEN.subn(replace, text)
    losses += Counter({LOSS: count})
    return safe
