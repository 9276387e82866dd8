"""Results that abstracts report, as leaderboards: read from single sentences by the build, looked up by an index."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict
from functools import cache
from sqlite3 import Connection
from typing import Any, NamedTuple

from sciextract.errors import UsageError
from sciextract.graph.database import property_of, unpacked
from sciextract.graph.queries.nodes import Node, narrower, node_of, types_of
from sciextract.graph.queries.papers import (
    ALL_YEARS,
    IN_YEARS,
    PAPER,
    NamingSentence,
    Paper,
    Years,
    paper_of,
)

_LOWER_IS_BETTER = re.compile(
    r"(?i)error|\b[WTCE]ER\b|\b(?:R?MSE|MAE|MAPE|FID)\b|perplexity|\bPPL\b|loss|distance|time|latency|cost"
)


class Result(NamedTuple):
    """A value that an abstract reports.

    Attributes:
        metric: What is measured.
        material: What it is measured on; ``None`` where the abstract names nothing.
        system: The method whose value it is, where the sentence tells.
        value: The number.
        unit: ``%``, the symbol of a unit of length, time, angle or frequency, or nothing.
        split: The part of the data: ``test``, ``val``, ``test-dev``...; empty where nobody tells.
        is_difference: Whether it is an improvement or another distance, not a value of its own.
        paper: Whose abstract it is.
        sentence: Where it stands; its mentions are number, metric and, where it names it, material.
    """

    metric: Node
    material: Node | None
    system: Node | None
    value: float
    unit: str
    split: str
    is_difference: bool
    paper: Paper
    sentence: NamingSentence

    @property
    def board(self) -> tuple[str, str]:
        """The names of material and metric, which the results of a leaderboard share."""
        return self.material.name if self.material else "no data set named", self.metric.name

    @property
    def amount(self) -> str:
        """Number and unit."""
        space = " " if self.unit not in ("", "%", "°") else ""
        return f"{self.value:g}{space}{self.unit}"

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "material": self.material and self.material.name,
            "metric": self.metric.name,
            **{name: getattr(self, name) for name in ("value", "unit", "split", "is_difference")},
            "system": self.system and self.system.name,
            "doc_key": self.paper.doc_key,
            **asdict(self.paper.published),
            "sentence": asdict(self.sentence),
        }


def results(
    connection: Connection,
    *,
    metric: Node | None = None,
    material: Node | None = None,
    named: Node | None = None,
    years: Years = ALL_YEARS,
    differences: bool = False,
    with_narrower: bool = False,
) -> list[Result]:
    """What abstracts report, by material and metric, those with most values first, the best value first.

    Values on a material that nobody names come last.

    Args:
        connection: The graph.
        metric: Only values of this metric.
        material: Only on this material.
        named: Only of abstracts that name this node.
        years: Only of these years.
        differences: Improvements and other distances instead of values.
        with_narrower: Values of kinds of the metric, and on kinds of the material, too.

    Raises:
        UsageError: The graph has no nodes of a type that values belong to.
    """
    measured, types = property_of(connection, "measurement"), types_of(connection, "entity")
    if types.keys().isdisjoint(measured.split(", ")):
        hint = f"build it with --measurement TYPE, one of {', '.join(types) or 'none'}"
        raise UsageError(
            f"the graph has no nodes of the type {measured}, to which values belong", hint
        )
    where = f"v.is_difference = :differences AND {IN_YEARS}"
    for column, node in (("metric", metric), ("material", material)):
        if node:
            kinds = narrower(connection, node) if with_narrower else []
            numbers = ", ".join([str(kind.id) for kind in (node, *kinds)])
            where += f" AND r.{column} IN ({numbers})"
    if named:
        where += f" AND r.document IN (SELECT document FROM node_document WHERE node = {named.id})"
    query = f"""SELECT {PAPER}, r.metric, r.material, r.method, v.value, v.unit, v.split, v.is_difference,
            v.char_start, v.char_end, v.places, t.content
        FROM result r JOIN reported v ON v.document = r.document AND v.number = r.number
        JOIN document d ON d.id = r.document JOIN text t ON t.document = r.document
        WHERE {where} ORDER BY r.document, r.number"""
    values = {"differences": differences, **years._asdict()}
    rows = connection.execute(query, values).fetchall()
    known = cache(lambda node: None if node is None else node_of(connection, node))
    found = []
    for *row, value, unit, split, is_difference, start, end, places, content in rows:
        ends = json.loads(places)
        marks = tuple(sorted(zip(ends[::2], ends[1::2], strict=True)))
        sentence = NamingSentence(start, end, unpacked(content)[start:end], marks)
        told = value, unit, split, bool(is_difference), paper_of(row[:-3]), sentence
        found.append(Result(*(*map(known, row[-3:]), *told)))
    sizes = Counter([result.board for result in found])

    def rank(result: Result) -> tuple[object, ...]:
        best = 1 if _LOWER_IS_BETTER.search(result.metric.name) else -1
        return result.material is None, -sizes[result.board], result.board, best * result.value

    return sorted(found, key=rank)
