"""The text of a BioC document from its passages, and what their offsets count."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sciextract.documents.annotations import Span
from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.schema import LINK
from sciextract.errors import FormatError
from sciextract.formats.base import Place, quoted
from sciextract.formats.bibliographic import keep_unusable
from sciextract.formats.json_values import Record, objects_at, string_at, whole_number
from sciextract.text.offsets import OffsetMap, Unit

_WIDEST_GAP = 100_000


@dataclass(frozen=True, slots=True)
class TextPassage:
    """A passage: its pieces of text with their offsets, and the objects that hold annotations.

    Attributes:
        infons: The passage's own infons.
        pieces: Offset and text of the passage, or of each of its sentences where only these have text.
        sentences: Offset and text of its sentences.
        containers: The passage and its sentences, each with what its fields' names begin with.
    """

    infons: dict[str, object]
    pieces: list[tuple[int, str]]
    sentences: list[tuple[int, str]]
    containers: list[tuple[Record, str]]

    @property
    def kind(self) -> str:
        """Its ``type`` or ``section_type`` (``title``, ``abstract``...), in lower case."""
        found = self.infons.get("type") or self.infons.get("section_type") or ""
        return str(found).lower()


def passages_at(record: Record, place: Place) -> list[TextPassage]:
    """The passages of a document.

    Raises:
        FormatError: One has a wrong shape.
    """
    found = []
    for passage, field in objects_at(record["passages"], "passages", place):
        containers, sentences = [(passage, f"{field}.")], []
        for sentence, name in objects_at(passage.get("sentences"), f"{field}.sentences", place):
            containers.append((sentence, f"{name}."))
            sentences.append(_piece(sentence, name, place))
        own = _piece(passage, field, place)
        pieces = [own] if own[1] else sentences
        found.append(TextPassage(infons_of(passage), pieces, sentences, containers))
    return found


def infons_of(parent: Record) -> dict[str, Any]:
    """The infons of a document, passage, annotation or relation."""
    infons = parent.get("infons")
    return infons if isinstance(infons, dict) else {}


def _piece(part: Record, field: str, place: Place) -> tuple[int, str]:
    text = part.get("text")
    if text is None:
        return 0, ""
    offset = whole_number(part.get("offset"), f"{field}.offset", place)
    return offset, string_at(text, f"{field}.text", place)


class BiocText:
    """The text that a document's passages form when offsets count ``unit``.

    Attributes:
        text: The passages in order of their offsets; a line feed between passages, spaces where their
            offsets leave more room, so that all offsets hold.
        offset: The offset of the first passage, at which ``text`` starts.
        sentences: The sentences that the file marks; empty when it marks none.
        title_length: The length of a first passage that is a title.
    """

    def __init__(self, passages: list[TextPassage], unit: Unit, place: Place) -> None:
        """Put the passages together.

        Raises:
            FormatError: Passages overlap, or lie very far apart.
        """
        self._unit = unit
        self._place = place
        pieces = sorted(
            (offset, number, text, index == 0)
            for number, passage in enumerate(passages)
            for index, (offset, text) in enumerate(passage.pieces)
            if text
        )
        self.offset = pieces[0][0] if pieces else 0
        parts: list[str] = []
        end = self.offset
        for offset, number, text, opens in pieces:
            gap = offset - end
            if not 0 <= gap <= _WIDEST_GAP:
                found = "starts before the one in front of it ends"
                problem = found if gap < 0 else f"starts {gap} behind it"
                problem += f"; expected gaps of 0 to {_WIDEST_GAP} between passages"
                raise place.error(problem, field=f"passages[{number}].offset")
            if gap and parts and opens:
                # PubMed's files count one character between title and abstract: it is a line end.
                parts.append("\n")
                gap -= 1
            parts += [" " * gap, text]
            end = offset + sum(unit.widths(text))
        self.text = "".join(parts)
        self._map = OffsetMap(self.text)
        self.sentences = self._sentences(passages)
        titled = pieces and "title" in passages[pieces[0][1]].kind
        self.title_length = len(pieces[0][2]) if titled else 0

    def span_at(self, location: Record, field: str) -> Span:
        """The characters at a ``location``.

        Raises:
            FormatError: It has no offset and length, is empty, or lies outside the text.
        """
        start = whole_number(location.get("offset"), f"{field}.offset", self._place)
        length = whole_number(location.get("length"), f"{field}.length", self._place)
        if length == 0:
            raise self._place.error("0 found; expected lengths from 1", field=f"{field}.length")
        return Span(self._char(start, field), self._char(start + length, field))

    def _char(self, offset: int, field: str) -> int:
        try:
            return self._map.from_unit(self._unit, offset - self.offset)
        except FormatError as error:
            last = self.offset + sum(self._unit.widths(self.text))
            problem = f"offset {offset} ({self._unit.name}): {error.problem}"
            if not self.offset <= offset <= last:
                problem = f"offset {offset} found, the passages go from {self.offset} to {last}"
            raise self._place.error(problem, field=field, hint=error.hint) from None

    def _sentences(self, passages: list[TextPassage]) -> list[Span]:
        """Marked sentences, whose text must be what stands there; none if a passage marks none."""
        spans = []
        for passage in passages:
            for offset, text in passage.sentences:
                if not text:
                    continue
                start = self._char(offset, "sentence")
                span = Span(start, start + len(text))
                if (there := span.of(self.text)) != text:
                    found = f"{quoted(text)} found, but the passage has {quoted(there)}"
                    raise self._place.error(found, field=f"sentence at offset {offset}")
                spans.append(span)
        marked = all(passage.sentences for passage in passages if any(t for _, t in passage.pieces))
        return spans if marked else []


ENTITY_KEYS = ("type", "label", "entity", "entity_type", "category")
RELATION_KEYS = ("type", "relation", "relation type", "relation_type", "label")
_LABEL_KEYS = frozenset({*ENTITY_KEYS, *RELATION_KEYS})
#: Infons of passages in the BioC files of PubMed and PubMed Central.
INFON_NAMES = {
    "pmid": "article-id_pmid",
    "doi": "article-id_doi",
    "year": "year",
    "venue": "journal",
}
_AUTHOR = re.compile(r"surname:([^;]*)(?:;given-names:(.*))?")


def label_of(infons: Mapping[str, Any], keys: Sequence[str] = ENTITY_KEYS) -> str:
    """The type of an annotation, or of a relation with its keys; empty when it has none."""
    values = (infons.get(key) for key in keys)
    return next((str(value) for value in values if isinstance(value, str | int) and str(value)), "")


#: Before the names of attributes: of those that are there or not, and of those with a value.
FLAG, VALUE = "flag:", "attribute:"
#: The infon of a link to a vocabulary, as PubTator and others write it.
IDENTIFIER = "identifier"


def attributes_of(infons: Mapping[str, Any]) -> dict[str, str]:
    """Values of attributes by label, as our writers put them; empty for those that are there or not."""
    pairs = [(*key.partition(":"), str(value)) for key, value in infons.items()]
    kinds = {FLAG[:-1]: False, VALUE[:-1]: True}
    found = {
        label: value * kinds[kind] for kind, _, label, value in pairs if label and kind in kinds
    }
    link = str(infons.get(IDENTIFIER) or "")
    return found | ({LINK: link} if link.strip("-") else {})


def score_of(infons: Mapping[str, Any]) -> float | None:
    """The infon ``score`` where it is a probability."""
    try:
        score = float(infons.get("score", ""))
    except (TypeError, ValueError):
        return None
    return score if 0 <= score <= 1 else None


def has_others(infons: Mapping[str, Any]) -> bool:
    """Whether there are infons that are neither the label, the score nor attributes."""
    label = label_of(infons) or label_of(infons, RELATION_KEYS)
    others = {key for key, value in infons.items() if key not in _LABEL_KEYS or str(value) != label}
    return len(others) > (score_of(infons) is not None) + len(attributes_of(infons))


def other_infons(infons: Mapping[str, Any]) -> int:
    """How many infons of a document or passage tell neither its kind, the paper's bibliography nor attributes."""
    known = {*INFON_NAMES.values(), "type", "section_type"}
    others = (key for key, value in infons.items() if value and key not in known)
    return sum(not key.startswith(("name_", FLAG, VALUE)) for key in others)


def bibliography(record: Record, passages: Sequence[TextPassage]) -> dict[str, Any]:
    """``title``, ``pmid``, ``doi``, ``year``, ``venue`` and ``authors``, as far as the document has them."""
    infons: dict[str, Any] = {}
    for passage in reversed(passages):
        infons |= passage.infons
    infons |= infons_of(record)
    known = bibliography_of({"pmid": record.get("pmid"), **infons})
    given = ((name, getattr(known, name)) for name in INFON_NAMES)
    fields: dict[str, Any] = {name: value for name, value in given if value}
    keep_unusable(fields, {name: infons.get(key) for name, key in INFON_NAMES.items()}, "bioc")
    # PubMed Central numbers the authors: name_0, name_1 and so on.
    authors: list[str] = []
    while found := _AUTHOR.fullmatch(str(infons.get(f"name_{len(authors)}", ""))):
        authors.append(", ".join(part for part in found.groups() if part))
    if authors:
        fields["authors"] = authors
    for passage in passages[:1]:
        if "title" in passage.kind and (title := " ".join(text for _, text in passage.pieces)):
            fields["title"] = title
    return fields
