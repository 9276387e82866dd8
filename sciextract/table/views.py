"""The views of a table: which rows and columns there are, and what stands in a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from sciextract.documents.annotations import Layer
from sciextract.errors import UsageError
from sciextract.graph.extraction import GENERIC
from sciextract.table.papers import Link, Mention, PaperFacts, Standing

Types = tuple[Sequence[str], Sequence[str]]
"""Types of entities, and of relations."""
BETWEEN = "; "
UNKNOWN = "?"
"""What stands in a cell where nobody has looked."""
_RANK = [*Standing].index


class Cell(NamedTuple):
    """A cell: its words, the sentences that say so, and what is behind it; ``None`` for bibliographic fields."""

    text: str
    sentences: tuple[str, ...] = ()
    standing: Standing | None = None


class Row(NamedTuple):
    """What a row is about: a paper, perhaps mentions in it that mean one thing, or a relation."""

    paper: PaperFacts
    thing: tuple[Mention, ...] = ()
    link: Link | None = None


class Column(NamedTuple):
    """A column: its title, what makes its cells, and whether sentences stand behind them."""

    title: str
    cell: Callable[[Row], Cell]
    is_said: bool = True


class View(NamedTuple):
    """A table; its name is ``papers``, ``mentions`` or ``relations``."""

    name: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]

    def cells(self) -> Iterator[list[Cell]]:
        """The cells of each row."""
        for row in self.rows:
            yield [column.cell(row) for column in self.columns]

    def texts(self, sentences: bool) -> Iterator[list[str]]:
        """The titles, then the words of each row; sentences stand behind what they say."""
        widths = [1 + (sentences and column.is_said) for column in self.columns]
        titles = [Cell(column.title, (f"{column.title}: sentence",)) for column in self.columns]
        for cells in (titles, *self.cells()):
            pairs = ((cell.text, " ".join(cell.sentences)) for cell in cells)
            yield [text for pair, width in zip(pairs, widths, strict=True) for text in pair[:width]]


def views_of(papers: Sequence[PaperFacts], first: Types, rows: str | None) -> list[View]:
    """The views that ``--rows`` asks for; all three where it says nothing, papers first.

    Args:
        papers: The abstracts.
        first: Types that come first, whether they occur or not.
        rows: ``paper``, ``mention``, ``relation``, the last two perhaps with ``:TYPE``.

    Raises:
        UsageError: There are no such rows, or no such type.
    """
    kind, _, label = (rows or "").partition(":")
    mentioned = (m.entity.label for paper in papers for thing in paper.things for m in thing)
    related = (link.relation.label for paper in papers for link in paper.links)
    types = _ordered(first[0], mentioned)
    relations = _ordered(first[1], related)
    makers: dict[str, Callable[[], View]] = {
        "paper": lambda: _view_of_papers(papers, types),
        "mention": lambda: _view_of_mentions(papers, label, relations),
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
        return Cell(" ".join(listed.split()))

    return Column(name, cell, is_said=False)


_PAPER = (
    Column("key", lambda row: Cell(row.paper.key), is_said=False),
    *map(_about, ("authors", "year", "title", "doi")),
)


def _view_of_papers(papers: Sequence[PaperFacts], types: Sequence[str]) -> View:
    def named(label: str) -> Column:
        def cell(row: Row) -> Cell:
            found = (m for thing in row.paper.things for m in thing if m.entity.label == label)
            said = [(mention, mention.sentence, mention.standing) for mention in found]
            return _joined(said, row.paper.has_looked_for(Layer.ENTITIES, label))

        return Column(label, cell)

    # What names nothing of its own, "this method", says nothing in a cell.
    columns = [named(label) for label in types if label not in GENERIC]
    return View("papers", (*_PAPER, *columns), [Row(paper) for paper in papers])


def _view_of_mentions(papers: Sequence[PaperFacts], label: str, relations: Sequence[str]) -> View:
    rows = [
        Row(paper, own)
        for paper in papers
        for thing in paper.things
        for kind in dict.fromkeys(mention.entity.label for mention in thing)
        if label in ("", kind) and (own := tuple(m for m in thing if m.entity.label == kind))
    ]
    sides = {
        (link.relation.label, side)
        for paper in papers
        for link in paper.links
        for side, mention in enumerate((link.head, link.tail))
        if label in ("", mention.entity.label)
    }

    def related(relation: str, side: int) -> Column:
        def cell(row: Row) -> Cell:
            own, said = {mention.entity.id for mention in row.thing}, []
            for link in row.paper.links:
                here, there = (link.tail, link.head) if side else (link.head, link.tail)
                if link.relation.label == relation and here.entity.id in own:
                    said.append((there, link.sentence, _weaker(link, there)))
            return _joined(said, row.paper.has_looked_for(Layer.RELATIONS, relation))

        return Column((f"{relation} →", f"← {relation}")[side], cell)

    def name(row: Row) -> Cell:
        return _joined(((m, m.sentence, m.standing) for m in row.thing), looked=True)

    kind = Column("type", lambda row: Cell(row.thing[0].entity.label), is_said=False)
    columns = [related(label, side) for label in relations for side in (0, 1) if (label, side) in sides]  # fmt: skip
    return View("mentions", (*_PAPER, kind, Column("mention", name), *columns), rows)


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
    return View("relations", (*_PAPER, kind, end(0), end(1)), rows)


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
    return Cell(BETWEEN.join(words), tuple(dict.fromkeys(sentences)), standing)
