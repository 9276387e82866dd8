"""RIS for reference managers: the record as it came, with what was decided about the abstract as keywords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from sciextract.documents.annotations import State
from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import ABSTRACT, AttributeKind, LabelSchema
from sciextract.formats.layers import encodable
from sciextract.formats.sink import LineWriter

_TAG = re.compile(r"[A-Z][A-Z0-9]")
_WRITTEN_ANEW = frozenset({"TY", "ER", "ID", "KW", "AB", "TI", "AU", "DO", "PY"})
_NOTE = "sciextract: "
"""Begins the note of a project among those of the record."""


class RisWriter(LineWriter):
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

    def write(self, document: AnnotatedDocument) -> None:
        """Append one record."""
        found = document.annotations
        self.losses["entity"] += len(found.entities)
        self.losses["relation"] += len(found.relations)
        self.losses["cluster"] += len(found.clusters)
        self.losses["attribute of an item"] += sum(bool(said.target) for said in found.attributes)
        self.losses += type(self.losses)()  # without those that are 0
        for tag, value in self._lines(document):
            line = " ".join(encodable(value, self.losses).split())
            self._sink.write_line(f"{tag}  - {line}")
        self._sink.write_line("ER  - ")
        self._sink.write_line("")

    def _lines(self, annotated: AnnotatedDocument) -> Iterator[tuple[str, str]]:
        document = annotated.document
        fields, known, text = document.fields, bibliography_of(document.fields), document.text
        given = {tag: _values(value) for tag, value in fields.items() if _TAG.fullmatch(tag)}
        yield "TY", next(iter(given.get("TY", ())), "JOUR")
        yield from (("AU", author) for author in known.authors)
        title = known.title or ""
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
        starts = bool(title) and text.startswith(title)
        yield "AB", text[len(title) :].strip() if starts else text
        kept = (word for word in _values(fields.get("keywords")) if not self._is_ours(word))
        yield from (("KW", word) for word in [*kept, *self._tags_of(annotated)])
        state = annotated.project_state
        yield from [("N1", _NOTE + state.note)] if state and state.note else []
        yield "ID", document.doc_key

    def _tags_of(self, annotated: AnnotatedDocument) -> Iterator[str]:
        """The attributes of the abstract as keywords: ``included``, ``design: cohort``."""
        for said in annotated.annotations.attributes:
            if not said.target and said.state is not State.REJECTED:
                yield f"{said.label}: {said.value}" if said.value else said.label

    def _is_ours(self, word: str) -> bool:
        """Whether a keyword is one that :meth:`_tags_of` makes of an attribute of the schema."""
        label, colon, value = word.partition(": ")
        kind = self._kinds.get(label)
        return (
            kind is not None
            and (kind.kind is AttributeKind.FLAG) != bool(colon)
            and kind.takes(value)
        )


_VENUES = ("JF", "JO", "T2", "JA", "J2", "J1")


def _values(value: Any) -> list[str]:
    """A field's values as strings; one that is no text has none."""
    listed = value if isinstance(value, list | tuple) else [value]
    return [str(text) for text in listed if isinstance(text, str | int) and str(text).strip()]
