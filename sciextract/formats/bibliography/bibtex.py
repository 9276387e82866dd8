"""BibTeX and BibLaTeX: one document an entry, LaTeX decoded before the text is made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bibtexparser.middlewares.names import (
    InvalidNameError,
    parse_single_name_into_parts,
    split_multiple_persons_names,
)

from sciextract.documents.bibliography import bare_doi, pmid_of, year_of
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, Place, ReadItem, Source, shown
from sciextract.formats.bibliography.bibliographic import keep_unusable, make_record, unwrapped
from sciextract.formats.bibliography.bibtex_entries import BibtexEntry, read_entries, read_parents
from sciextract.formats.bibliography.latex import decode_latex

_VENUES = ("journal", "journaltitle", "booktitle", "maintitle", "series", "venue")
_INTERPRETED = frozenset(
    {"title", "abstract", "author", "authors", "doi", "pmid", "year", "url", "keywords"}
)
#: Values of these are addresses and paths, in which LaTeX is only escaping.
_VERBATIM = frozenset({"url", "doi", "file", "eprint", "bdsk-url-1", "bdsk-file-1"})
#: What a child takes from its parent when it has none itself.
_INHERITED = ("year", "date", "publisher", "editor", "series", "volume")


def read_bibtex(source: Source) -> Iterator[ReadItem]:
    """Read the entries one after the other; ``@string``, ``@preamble``, ``@comment`` and heads are no records.

    Raises:
        FormatError: The file is empty, binary, in UTF-16 or UTF-32, or holds no entry.
    """
    found = False
    keys: set[str] = set()
    parents: Mapping[str, BibtexEntry] = read_parents(source)
    for number, entry in enumerate(read_entries(source), start=1):
        found = True
        if isinstance(entry, FormatError):
            yield BadRecord(entry)
        elif entry.is_record:
            again = entry.key in keys
            keys.add(entry.key)
            yield _item(_filled(entry, parents), source, number, again)
    if not found:
        hint = "an entry looks like @article{key, title = {...}, abstract = {...}}"
        raise FormatError("the file holds no BibTeX entry", path=source.path, hint=hint)


def _item(entry: BibtexEntry, source: Source, number: int, again: bool) -> ReadItem:
    place = Place(source.path, entry.line, entry.key or f"{source.stem}:{number}")
    values = {name: _decoded(name, value) for name, value in entry.fields.items()}
    warnings = [f"the key {shown(entry.key)} occurs a second time"] if again and entry.key else []
    warnings += [
        f"the field {shown(name)} occurs twice, the first counts" for name in entry.repeated
    ]
    title, abstract = values.get("title", ""), values.get("abstract", "")
    try:
        return make_record(place, title, abstract, _fields(entry, values), tuple(warnings))
    except FormatError as error:
        return BadRecord(error)


def _filled(entry: BibtexEntry, parents: Mapping[str, BibtexEntry]) -> BibtexEntry:
    """The entry with what its ``crossref`` parent adds; its own fields win."""
    parent = parents.get(entry.fields.get("crossref", "").strip().lower())
    if parent is None:
        return entry
    added = {name: parent.fields[name] for name in _INHERITED if name in parent.fields}
    title = parent.fields.get("booktitle") or parent.fields.get("title")
    if title:
        added["booktitle"] = title
    return BibtexEntry(entry.kind, entry.key, entry.line, added | entry.fields, entry.repeated)


def _decoded(name: str, value: str) -> str:
    if name in _VERBATIM:
        return re.sub(r"\\([_%&#~{}])", r"\1", value).strip()
    return decode_latex(unwrapped(value))


def _fields(entry: BibtexEntry, values: Mapping[str, str]) -> dict[str, Any]:
    venue = next((name for name in _VENUES if values.get(name)), "")
    found: dict[str, Any] = {
        "year": year_of(values.get("year")) or year_of(values.get("date")),
        "doi": bare_doi(values.get("doi")) or bare_doi(values.get("url")),
        "pmid": pmid_of(values.get("pmid")),
        "venue": values.get(venue),
        "authors": _names(entry.fields.get("author") or entry.fields.get("authors", "")),
        "url": values.get("url"),
        "keywords": [
            word for each in re.split("[;,]", values.get("keywords", "")) if (word := each.strip())
        ],
        "entry_type": entry.kind,
    }
    keep_unusable(found, {name: values.get(name) for name in ("year", "doi", "pmid")}, "bibtex")
    return found | {
        name: value for name, value in values.items() if name not in {*_INTERPRETED, venue}
    }


def _names(value: str) -> list[str]:
    """``Family, Given`` of each author, groups in braces whole."""
    names = split_multiple_persons_names(unwrapped(value)) if value else []
    return [name for each in names if (name := _name(each.strip()))]


def _name(name: str) -> str:
    if name.startswith("{") and name.endswith("}"):
        return decode_latex(name)
    try:
        parts = parse_single_name_into_parts(name)
    except InvalidNameError:
        return decode_latex(name)
    family = " ".join([*parts.von, *parts.last])
    given = " ".join([*parts.first, *parts.jr])
    return decode_latex(f"{family}, {given}" if family and given else family or given)
