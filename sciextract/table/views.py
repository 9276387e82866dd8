"""The views of a table: which rows and columns there are, and what stands in a cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from sciextract.documents.annotations import Layer
from sciextract.errors import UsageError
from sciextract.graph.extraction import GENERIC
from sciextract.table.papers import Link, Mention, PaperFacts, Standing
from sciextract.text.quantities import in_unit, symbol_of

Types = tuple[Sequence[str], Sequence[str], Sequence[str]]
"""Types of entities, of relations, and attributes of abstracts."""
_Called = Callable[[Mention], Mention]
BETWEEN = "; "
UNKNOWN = "?"
"""What stands in a cell where nobody has looked."""
_RANK = [*Standing].index
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]+)?(?:e[-+][0-9]{2})?")


class Cell(NamedTuple):
    """A cell: its words, the sentences that say so, and what is behind it; ``None`` for bibliographic fields."""

    text: str
    sentences: tuple[str, ...] = ()
    standing: Standing | None = None
    is_year: bool = False

    @property
    def number(self) -> float | None:
        """The number that it is, if it is one and nothing else; a key or a title is none."""
        may_be = self.is_year or self.standing or self.sentences
        return float(self.text) if may_be and _PLAIN_NUMBER.fullmatch(self.text) else None


class Row(NamedTuple):
    """What a row is about: a paper, perhaps mentions in it that mean one thing, or a relation."""

    paper: PaperFacts
    thing: tuple[Mention, ...] = ()
    link: Link | None = None


class Column(NamedTuple):
    """A column: its title, what makes its cells, and whether sentences stand behind them."""

    title: str
    cell: Callable[[Any], Cell]
    is_said: bool = True


class View(NamedTuple):
    """A table: its name, its columns, and what they make their cells of, a row each."""

    name: str
    columns: tuple[Column, ...]
    rows: Sequence[Any]

    def cells(self) -> Iterator[list[Cell]]:
        """The cells of each row; those of columns that nothing is said of have no sentences."""
        for row in self.rows:
            found = zip(self.columns, (column.cell(row) for column in self.columns), strict=True)
            yield [
                cell if column.is_said else cell._replace(sentences=()) for column, cell in found
            ]

    def texts(self, sentences: bool) -> Iterator[list[str]]:
        """The titles, then the words of each row; sentences stand behind what they say."""
        widths = [1 + (sentences and column.is_said) for column in self.columns]
        titles = [Cell(column.title, (f"{column.title}: sentence",)) for column in self.columns]
        for cells in chain([titles], self.cells()):
            pairs = ((cell.text, " ".join(cell.sentences)) for cell in cells)
            yield [text for pair, width in zip(pairs, widths, strict=True) for text in pair[:width]]


def views_of(
    papers: Sequence[PaperFacts],
    first: Types,
    rows: str | None,
    values: Mapping[str, str] = MappingProxyType({}),
) -> list[View]:
    """The views that ``--rows`` asks for; all three where it says nothing, papers first.

    Args:
        papers: The abstracts.
        first: Types that come first, whether they occur or not.
        rows: ``paper``, ``mention``, ``relation``, the last two perhaps with ``:TYPE``.
        values: Types of quantities, which have columns for number and unit, and the unit that is wanted, or nothing.

    Raises:
        UsageError: There are no such rows, or no such type.
    """
    kind, _, label = (rows or "").partition(":")
    mentioned = (mention.entity.label for paper in papers for mention in paper.mentions())
    related = (link.relation.label for paper in papers for link in paper.links)
    types = _ordered(first[0], mentioned)
    relations = _ordered(first[1], related)
    for value in values:
        if value not in types:
            listed = ", ".join(types) or "none"
            raise UsageError(f"--values: there is no type {value!r}", f"types: {listed}")
    makers: dict[str, Callable[[], View]] = {
        "paper": lambda: _view_of_papers(papers, types, values, first[2]),
        "mention": lambda: _view_of_mentions(papers, label, relations, values),
        "relation": lambda: _view_of_relations(papers, label),
    }
    if rows is None:
        return [make() for make in makers.values()]
    if kind not in makers or (kind == "paper" and label):
        hint = "paper, mention:TYPE or relation:TYPE; without a type all of them"
        raise UsageError(f"--rows {rows!r} is no kind of row", hint)
    if label and label not in (allowed := relations if kind == "relation" else types):
        problem = f"--rows {rows!r}: there is no {kind} type {label!r}"
        raise UsageError(problem, f"types: {', '.join(allowed) or 'none'}")
    return [makers[kind]()]


def _ordered(first: Sequence[str], found: Iterable[str]) -> list[str]:
    frequent = (label for label, _ in Counter(found).most_common() if label)
    return [*dict.fromkeys([*first, *frequent])]


def _about(name: str) -> Column:
    def cell(row: Row) -> Cell:
        value = row.paper.about.get(name, "")
        listed = BETWEEN.join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        return Cell(" ".join(listed.split()), is_year=name == "year")

    return Column(name, cell, is_said=False)


_PAPER = (
    Column("key", lambda row: Cell(row.paper.key), is_said=False),
    *map(_about, ("authors", "year", "title", "doi")),
)


def _said_of(row: Row, label: str) -> dict[str, Standing]:
    """The values of an attribute of what a row is about, each with what is behind it."""
    ids = [row.link.relation.id] if row.link else [mention.entity.id for mention in row.thing]
    said = (row.paper.attributes.get(target, {}).get(label) for target in ids or [""])
    return dict(filter(None, said))


def _attributes(rows: Sequence[Row], first: Sequence[str] = ()) -> list[Column]:
    """A column for each attribute of what the rows are about; ``first`` are there in any case."""

    def column(label: str) -> Column:
        def cell(row: Row) -> Cell:
            if values := _said_of(row, label):
                return Cell(BETWEEN.join(values), (), max(values.values(), key=_RANK))
            looked = row.paper.has_said(label)
            if row.link:  # an attribute that mentions have as well is finished with them
                kind = row.link.relation.label
                looked = looked and row.paper.has_looked_for(Layer.RELATIONS, kind)
            return Cell("", (), Standing.NONE) if looked else Cell(UNKNOWN, (), Standing.UNKNOWN)

        return Column(label, cell, is_said=False)

    labels = (
        label for row in rows for said in row.paper.attributes.values() for label in said
        if _said_of(row, label)
    )  # fmt: skip
    return [column(label) for label in _ordered(first, labels)]


def _called_so(mention: Mention) -> Mention:
    return mention


def _number_of(mention: Mention, unit: str) -> Mention:
    """The mention called by its number, or by all its words where they have none."""
    found = in_unit(mention.words, unit)
    return mention._replace(name=str(found) if found else mention.words, key=mention.words)


def _unit_of(mention: Mention, unit: str) -> Mention:
    found = in_unit(mention.words, unit)
    return mention._replace(name=symbol_of(found.unit) if found else "", key=mention.words)


_MEASURED = (("number", _number_of), ("unit", _unit_of))


def _named(mentions: Iterable[Mention], looked: bool, called: _Called = _called_so) -> Cell:
    said = [(called(mention), mention.sentence, mention.standing) for mention in mentions]
    return _joined(said, looked)


def _view_of_papers(
    papers: Sequence[PaperFacts], types: Sequence[str], values: Mapping[str, str],
    attributes: Sequence[str],
) -> View:  # fmt: skip
    def named(label: str, title: str, called: _Called, is_said: bool = True) -> Column:
        def cell(row: Row) -> Cell:
            mentions = row.paper.mentions()
            found = (mention for mention in mentions if mention.entity.label == label)
            return _named(found, row.paper.has_looked_for(Layer.ENTITIES, label), called)

        return Column(title, cell, is_said=is_said)

    rows = [Row(paper) for paper in papers]
    columns = [*_PAPER, *_attributes(rows, attributes)]
    for label in types:
        if label in values:
            columns += [
                named(
                    label, f"{label}: {part}", partial(called, unit=values[label]), part != "unit"
                )
                for part, called in _MEASURED
            ]
        elif label not in GENERIC:  # "this method" names nothing of its own
            columns.append(named(label, label, _called_so))
    return View("papers", tuple(columns), rows)


def _view_of_mentions(
    papers: Sequence[PaperFacts], label: str, relations: Sequence[str], values: Mapping[str, str]
) -> View:
    rows = [
        Row(paper, own)
        for paper in papers
        for thing in paper.things
        for kind in dict.fromkeys(mention.entity.label for mention in thing)
        if kind
        and label in ("", kind)
        and (own := tuple(mention for mention in thing if mention.entity.label == kind))
    ]

    def related(relation: str, side: int) -> Column:
        def cell(row: Row) -> Cell:
            own, said = {mention.entity.id for mention in row.thing}, []
            for link in row.paper.links:
                here, there = (link.tail, link.head) if side else (link.head, link.tail)
                if link.relation.label == relation and here.entity.id in own:
                    said.append((there, link.sentence, _weaker(link, there)))
            return _joined(said, row.paper.has_looked_for(Layer.RELATIONS, relation))

        return Column((f"{relation} →", f"← {relation}")[side], cell)

    def measured(title: str, called: Callable[[Mention, str], Mention]) -> Column:
        def cell(row: Row) -> Cell:
            unit = values.get(row.thing[0].entity.label)
            if unit is None:
                return Cell("")
            return _named(row.thing, True, lambda mention: called(mention, unit))

        return Column(title, cell, is_said=False)

    kind = Column("type", lambda row: Cell(row.thing[0].entity.label), is_said=False)
    sides = (related(relation, side) for relation in relations for side in (0, 1))
    columns = [side for side in sides if any(side.cell(row).sentences for row in rows)]
    shown = [kind, Column("mention", lambda row: _named(row.thing, True))]
    shown += [measured(*part) for part in _MEASURED if values]
    shown += _attributes(rows)
    return View("mentions", (*_PAPER, *shown, *columns), rows)


def _view_of_relations(papers: Sequence[PaperFacts], label: str) -> View:
    def end(side: int) -> Column:
        def cell(row: Row) -> Cell:
            assert row.link is not None
            mention = row.link.tail if side else row.link.head
            return Cell(mention.name, (row.link.sentence,), _weaker(row.link, mention))

        return Column(("head", "tail")[side], cell)

    found = [(paper, link) for paper in papers for link in paper.links]
    rows = [Row(paper, (), link) for paper, link in found if label in ("", link.relation.label)]
    kind = Column("relation", lambda row: Cell(row.link.relation.label if row.link else ""), False)
    return View("relations", (*_PAPER, kind, end(0), end(1), *_attributes(rows)), rows)


def _weaker(link: Link, mention: Mention) -> Standing:
    return max(link.standing, mention.standing, key=_RANK)


def _joined(said: Iterable[tuple[Mention, str, Standing]], looked: bool) -> Cell:
    """Distinct names, each with a sentence; a name is as sure as its surest mention, a cell as its least sure name."""
    names: dict[str, tuple[str, str]] = {}
    standings: dict[str, Standing] = {}
    for mention, sentence, standing in said:
        names.setdefault(mention.key, (mention.name, sentence))
        known = standings.get(mention.key, standing)
        standings[mention.key] = min(known, standing, key=_RANK)
    if not names:
        return Cell("", (), Standing.NONE) if looked else Cell(UNKNOWN, (), Standing.UNKNOWN)
    words, sentences = zip(*names.values(), strict=True)
    standing = max(standings.values(), key=_RANK)
    told = BETWEEN.join(words) if any(words) else ""  # quantities without units
    return Cell(told, tuple(dict.fromkeys(sentences)), standing)
