"""Results of one Label Studio annotation: regions with labels, and relations between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from sciextract.documents.annotations import Entity
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import Place, shown
from sciextract.formats.checks import list_at, object_at, string_at
from sciextract.formats.tools.given_offsets import GivenSpan, given_span, to_spans
from sciextract.formats.tools.imported import ImportedItems, score_of

REGION_TYPES = ("labels", "hypertextlabels")
INCLUSIVE_ENDS = "ends count the last character; converted to exclusive ends"
_DIRECTIONS = ("right", "left", "bi")
_Result = Mapping[str, Any]


class ResultReader:
    """Reads the results of one annotation or prediction.

    Attributes:
        items: The entities, relations and clusters found.
        unread: Results of other kinds, such as choices and ratings.
    """

    def __init__(
        self, text: str, items: ImportedItems, place: Place, score: float | None = None
    ) -> None:
        """Take the text, and the score of regions that have none of their own."""
        self.items = items
        self.unread: list[_Result] = []
        self._text = text
        self._place = place
        self._score = score
        self._given: list[tuple[GivenSpan, _Result]] = []
        self._relations: list[tuple[str, _Result]] = []
        self._by_id: dict[str, list[Entity]] = {}

    def read(self, results: object, field: str) -> None:
        """All results; regions first, since relations refer to them.

        Raises:
            FormatError: A result has a wrong shape, leaves the text, or is not the text at its offsets.
        """
        for index, value in enumerate(list_at(results, field, self._place)):
            where = f"{field}[{index}]"
            self._sort(object_at(value, where, self._place), where)
        self._add_entities()
        for where, result in self._relations:
            self._add_relation(result, where)

    def _sort(self, result: _Result, field: str) -> None:
        kind = result.get("type")
        if kind == "relation":
            self._relations.append((field, result))
            return
        offsets = _offsets(result) if kind in REGION_TYPES else None
        if offsets is None:
            self.unread.append(result)
            self.items.remarks[f"result of type {shown(kind)} is not read"] += 1
            return
        mention = result["value"].get("text")
        self._given.append((given_span(*offsets, mention, f"{field}.value", self._place), result))

    def _add_entities(self) -> None:
        spans, remark = self._spans([given for given, _ in self._given])
        if remark:
            self.items.remarks[remark] += 1
        for (given, result), span in zip(self._given, spans, strict=True):
            own = score_of(result.get("score"))
            score = self._score if own is None else own
            labels = list(self._labels(result, given.field))
            entities = [self.items.entity([span], label, score) for label in labels]
            self._by_id.setdefault(str(result.get("id")), []).extend(entities)

    def _spans(self, given: list[GivenSpan]) -> tuple[list[Span], str]:
        """The regions' spans. The first releases wrote the last character's offset as the end."""
        try:
            return to_spans(given, self._text, self._place)
        except FormatError:
            if any(each.mention is None for each in given):
                raise
            longer = [each._replace(end=each.end + 1) for each in given]
            with suppress(FormatError):
                return to_spans(longer, self._text, self._place)[0], INCLUSIVE_ENDS
            raise

    def _labels(self, result: _Result, field: str) -> Iterator[str]:
        """The labels of a region; one that has none is a mention without a type."""
        value = result["value"]
        labels = value.get(result["type"]) or value.get("labels")
        for label in list_at(labels, f"{field}.labels", self._place) or [""]:
            yield string_at(label, f"{field}.labels", self._place)

    def _add_relation(self, result: _Result, field: str) -> None:
        ends = [self._argument(result, name, field) for name in ("from_id", "to_id")]
        if not all(ends):
            self.unread.append(result)
            self.items.remarks["relation of a result that is not read"] += 1
            return
        if any(len(each) > 1 for each in ends):
            self.items.remarks["relation of a region with several labels, read for the first"] += 1
        head, tail = self._directed(result, ends, field)
        labels = list_at(result.get("labels"), f"{field}.labels", self._place)
        for label in labels or [""]:
            name = string_at(label, f"{field}.labels", self._place)
            self.items.add_relation(head, tail, name)

    def _directed(
        self, result: _Result, ends: list[list[Entity]], field: str
    ) -> tuple[Entity, Entity]:
        direction = result.get("direction") or "right"
        if direction not in _DIRECTIONS:
            problem = f"{shown(direction)} found, allowed are {', '.join(_DIRECTIONS)}"
            raise self._place.error(problem, field=f"{field}.direction")
        if direction == "bi":
            self.items.remarks["relation in both directions, read as from its first region"] += 1
        first, second = ends[0][0], ends[1][0]
        return (second, first) if direction == "left" else (first, second)

    def _argument(self, result: _Result, name: str, field: str) -> list[Entity]:
        """The entities of a region; none where the region is of a kind that is not read."""
        region = result.get(name)
        found = self._by_id.get(str(region), [])
        if not found and all(region != each.get("id") for each in self.unread):
            problem = f"{shown(region)} found, allowed is the id of a region of this annotation"
            raise self._place.error(problem, field=f"{field}.{name}")
        return found


def _offsets(result: _Result) -> tuple[object, object] | None:
    """Start and end in characters; regions of HTML have them beside their XPaths, or not at all."""
    value = result.get("value")
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("start"), str) or value.get("start") is None:
        value = value.get("globalOffsets")
    if not isinstance(value, dict) or "start" not in value:
        return None
    return value.get("start"), value.get("end")
