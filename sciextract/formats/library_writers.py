"""RIS and CSL JSON for reference managers: the record as it came, with what was decided about the abstract as keywords."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, TextIO

from sciextract.documents.annotations import Annotations, State
from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import ABSTRACT, AttributeKind, LabelSchema
from sciextract.formats.layers import encodable
from sciextract.formats.sink import ArraySink, LineSink, LineWriter

_TAG = re.compile(r"[A-Z][A-Z0-9]")
_WRITTEN_ANEW = frozenset({"TY", "ER", "ID", "KW", "AB", "TI", "AU", "DO", "PY"})
_NOTE = "sciextract: "
"""Begins the note of a project among those of the record."""


class _LibraryWriter(LineWriter):
    """Writes one record an abstract; attributes of the abstract become keywords, the note of a project a note.

    Keywords and notes that an earlier export of the same labels has left in the record are replaced. Mentions,
    relations, clusters and their attributes are counted in ``losses``.
    """

    def __init__(
        self, destination: Path | str | TextIO, *, schema: LabelSchema | None = None
    ) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream.

        Args:
            destination: Where the records go.
            schema: Of the project, whose attributes may stand among the keywords from an earlier export.
        """
        super().__init__(destination)
        self._kinds = {
            kind.label: kind for kind in (schema.attributes_of(ABSTRACT) if schema else ())
        }

    def _count_losses(self, found: Annotations) -> None:
        self.losses["entity"] += len(found.entities)
        self.losses["relation"] += len(found.relations)
        self.losses["cluster"] += len(found.clusters)
        self.losses["attribute of an item"] += sum(bool(said.target) for said in found.attributes)
        self.losses += type(self.losses)()  # without those that are 0

    def _keywords_of(self, annotated: AnnotatedDocument) -> list[str]:
        """The keywords of the record, and the attributes of the abstract: ``included``, ``design: cohort``."""
        given = _values(annotated.document.fields.get("keywords"))
        said = [
            f"{attribute.label}: {attribute.value}" if attribute.value else attribute.label
            for attribute in annotated.annotations.attributes
            if not attribute.target and attribute.state is not State.REJECTED
        ]
        return [*(word for word in given if not self._is_ours(word)), *said]

    def _is_ours(self, word: str) -> bool:
        """Whether a keyword is one that an attribute of the schema has left."""
        label, colon, value = word.partition(": ")
        kind = self._kinds.get(label)
        return (
            kind is not None
            and (kind.kind is AttributeKind.FLAG) != bool(colon)
            and kind.takes(value)
        )


class RisWriter(_LibraryWriter):
    """Writes RIS."""

    def write(self, document: AnnotatedDocument) -> None:
        self._count_losses(document.annotations)
        for tag, value in self._lines(document):
            line = " ".join(encodable(value, self.losses).split())
            self._sink.write_line(f"{tag}  - {line}")
        self._sink.write_line("ER  - ")
        self._sink.write_line("")

    def _lines(self, annotated: AnnotatedDocument) -> Iterator[tuple[str, str]]:
        document = annotated.document
        fields, known = document.fields, bibliography_of(document.fields)
        given = {tag: _values(value) for tag, value in fields.items() if _TAG.fullmatch(tag)}
        yield "TY", next(iter(given.get("TY", ())), "JOUR")
        yield from (("AU", author) for author in known.authors)
        title, abstract = _parts_of(document)
        yield from [("TI", title)] if title else []
        if known.venue and known.venue not in {
            value for tag in _VENUES for value in given.get(tag, ())
        }:
            yield "T2", known.venue
        yield from [("PY", str(known.year))] if known.year and "PY" not in given else []
        yield from (("PY", value) for value in given.get("PY", ()))
        yield from [("DO", known.doi)] if known.doi else []
        if known.pmid and "AN" not in given:
            yield from (("AN", known.pmid), ("DB", "PubMed"))
        for tag, values in given.items():
            if tag not in _WRITTEN_ANEW and not (tag == "DB" and known.pmid and "AN" not in given):
                yield from ((tag, value) for value in values if not value.startswith(_NOTE))
        yield from (("UR", value) for value in _values(fields.get("url")) if "UR" not in given)
        yield "AB", abstract
        yield from (("KW", word) for word in self._keywords_of(annotated))
        state = annotated.project_state
        yield from [("N1", _NOTE + state.note)] if state and state.note else []
        yield "ID", document.doc_key


class CslWriter(_LibraryWriter):
    """Writes an array of CSL JSON."""

    _SINK: ClassVar[type[LineSink]] = ArraySink

    def write(self, document: AnnotatedDocument) -> None:
        self._count_losses(document.annotations)
        fields = document.document.fields
        known, words = bibliography_of(fields), self._keywords_of(document)
        title, abstract = _parts_of(document.document)
        kind = fields.get("type")
        usual = kind if isinstance(kind, str) and _CSL_TYPE.fullmatch(kind) else "article-journal"
        names = [author.partition(", ") for author in known.authors]
        given = "\n".join(_values(fields.get("note"))).splitlines()
        state = document.project_state
        notes = [line for line in given if not line.startswith(_NOTE)]
        notes += [_NOTE + " ".join(state.note.split())] if state and state.note else []
        named = {
            "title": title,
            "abstract": abstract,
            "author": [
                {"family": family, "given": given} if given else {"literal": family}
                for family, _, given in names
            ],
            "container-title": known.venue,
            "DOI": known.doi,
            "PMID": known.pmid,
            "URL": next(iter(_values(fields.get("url"))), None),
            # A comma would make two keywords of one.
            "keyword": words if any("," in word for word in words) else ", ".join(words),
            "note": "\n".join(notes),
        }
        year = {"issued": {"date-parts": [[known.year]]}} if known.year else {}
        kept = {name: value for name, value in fields.items() if name not in _IN_CSL}
        record = {"id": document.document.doc_key, "type": usual} | year | kept | {"type": usual}
        record |= {name: value for name, value in named.items() if value}
        self._sink.write_line(encodable(json.dumps(record, ensure_ascii=False), self.losses))


_CSL_TYPE = re.compile(r"[a-z][a-z_-]*")
_IN_CSL = frozenset({"title", "authors", "venue", "doi", "pmid", "url", "keywords", "year", "note"})
_VENUES = ("JF", "JO", "T2", "JA", "J2", "J1")


def _parts_of(document: Document) -> tuple[str, str]:
    """Title and abstract."""
    title, text = bibliography_of(document.fields).title or "", document.text
    starts = bool(title) and text.startswith(title)
    return title, text[len(title) :].strip() if starts else text


def _values(value: Any) -> list[str]:
    """A field's values as strings; one that is no text has none."""
    listed = value if isinstance(value, list | tuple) else [value]
    return [str(text) for text in listed if isinstance(text, str | int) and str(text).strip()]
