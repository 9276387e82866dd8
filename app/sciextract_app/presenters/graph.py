"""What is drawn of a graph: rows, pages and sentences, without colours and widths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from sciextract.graph.queries.edges import Edge, Sentence, Way
from sciextract.graph.queries.nodes import About, Node
from sciextract.text.english import counted

_NO_YEAR = "no year"


class Role(Enum):
    """What a piece of a sentence is."""

    PLAIN = "plain"
    HEAD = "head"
    TAIL = "tail"
    BOTH = "both"


Piece = tuple[str, Role]


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A line of a list.

    Attributes:
        name: What it is about.
        count: What stands before it; empty in a heading.
        kind: What stands behind it.
        edge: The number of the edge that it stands for, if it does.
        node: The number of the node that Enter leads to; ``None`` in a heading.
    """

    name: str
    count: str = ""
    kind: str = ""
    edge: int | None = None
    node: int | None = None


@dataclass(frozen=True, slots=True)
class NodePage:
    """A node with what is known about it.

    Attributes:
        node: Its number.
        name: Its name.
        facts: Words with what they tell, a line each.
        years: Abstracts by year, without gaps.
        edges: Neighbours by relation, the relations as headings.
    """

    node: int
    name: str
    facts: tuple[tuple[str, str], ...]
    years: tuple[tuple[int, int], ...]
    edges: tuple[GraphRow, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence that supports an edge.

    Attributes:
        place: The abstract, its year, and the score.
        pieces: The sentence, cut where a mention begins or ends.
    """

    place: str
    pieces: tuple[Piece, ...]


def node_rows(nodes: Iterable[Node]) -> tuple[GraphRow, ...]:
    """Nodes as a list."""
    return tuple(
        [GraphRow(each.name, f"{each.documents:,}", each.label, node=each.id) for each in nodes]
    )


def node_page(
    about: About, edges: Sequence[Edge], counts: Mapping[tuple[str, Way], int]
) -> NodePage:
    """Everything about a node."""
    node = about.node
    return NodePage(
        node=node.id,
        name=node.name,
        facts=tuple(_facts(about)),
        years=_without_gaps(about.years),
        edges=_by_relation(node, edges, counts),
    )


def support_of(sentence: Sentence) -> Support:
    """A sentence with its two mentions distinguished."""
    year = str(sentence.year or _NO_YEAR)
    score = "" if sentence.score is None else f", score {sentence.score:.2f}"
    return Support(f"{sentence.doc_key}, {year}{score}", tuple(_pieces(sentence)))


def edge_words(edge: Edge) -> str:
    """An edge in one line."""
    abstracts = counted(edge.documents, "abstract")
    arrow = edge.way_from(edge.head.id).arrow(edge.label)
    return f"{edge.head.name} {arrow} {edge.tail.name}  ({abstracts})"


def _facts(about: About) -> Iterable[tuple[str, str]]:
    node = about.node
    yield "types", ", ".join([f"{label} {count:,}" for label, count in about.labels.items()])
    abstracts, times = counted(node.documents, "abstract"), counted(node.mentions, "time")
    yield "named in", f"{abstracts}; extracted {times}; {counted(node.degree, 'neighbour')}"
    if about.meanings:
        meanings = ", ".join([f"{name} {count:,}" for name, count in about.meanings.items()])
        yield "may mean", meanings
    for place, alias in enumerate(about.aliases):
        rules = f"  ({', '.join(alias.rules)})" if alias.rules else ""
        yield ("" if place else "written"), f"{alias.mentions:,} {alias.surface}{rules}"
    rest = about.all_aliases - len(about.aliases)
    if rest:
        yield "", f"and in {rest:,} more ways"


def _without_gaps(years: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    if not years:
        return ()
    return tuple([(year, years.get(year, 0)) for year in range(min(years), max(years) + 1)])


def _by_relation(
    node: Node, edges: Sequence[Edge], counts: Mapping[tuple[str, Way], int]
) -> tuple[GraphRow, ...]:
    rows: list[GraphRow] = []
    for (label, way), count in counts.items():
        rows.append(GraphRow(way.arrow(label), f"{count:,}"))
        own = [each for each in edges if each.label == label and each.way_from(node.id) is way]
        for each in own:
            other = each.tail if each.head.id == node.id else each.head
            rows.append(GraphRow(other.name, f"{each.documents:,}", other.label, each.id, other.id))
        if count > len(own):
            rows.append(GraphRow(f"and {count - len(own):,} more"))
    return tuple(rows)


def _pieces(sentence: Sentence) -> Iterable[Piece]:
    """The sentence, cut at both mentions, which may overlap."""
    start, end = sentence.char_start, sentence.char_end
    cuts = sorted(
        {start, end, *[min(max(cut, start), end) for cut in (*sentence.head, *sentence.tail)]}
    )
    for left, right in pairwise(cuts):
        words = sentence.text[left - start : right - start]
        yield "".join([" " if each.isspace() else each for each in words]), _role(sentence, left)


def _role(sentence: Sentence, place: int) -> Role:
    in_head = sentence.head[0] <= place < sentence.head[1]
    in_tail = sentence.tail[0] <= place < sentence.tail[1]
    if in_head and in_tail:
        return Role.BOTH
    return Role.HEAD if in_head else Role.TAIL if in_tail else Role.PLAIN


@dataclass(slots=True)
class GraphNavigation:
    """A walk from node to node.

    Attributes:
        here: The node that is shown.
        mark: Number and name of the node that a path shall begin at.
        label: The type of the nodes in the list; all when ``None``.
        labels: The types to choose from.
    """

    here: NodePage | None = None
    mark: tuple[int, str] | None = None
    label: str | None = None
    labels: tuple[str, ...] = ()
    _before: list[int] = field(default_factory=list)

    def arrive(self, page: NodePage) -> None:
        """Be at a node; the way back leads to the one before."""
        if self.here is not None and self.here.node != page.node:
            self._before.append(self.here.node)
        self.here = page

    def back(self) -> int | None:
        """The node before this one, ``None`` at the start; call :meth:`arrive` once it is shown."""
        if not self._before:
            return None
        before = self._before.pop()
        self.here = None  # so that arriving there does not lead back here
        return before

    def next_label(self) -> None:
        """The next type for the list, and all types after the last."""
        choices = (None, *self.labels)
        place = choices.index(self.label) if self.label in choices else 0
        self.label = choices[(place + 1) % len(choices)]

    def path_from(self) -> tuple[int, int] | None:
        """Start and end of a wanted path; else this node becomes its start, or is none any more."""
        if self.here is None:
            return None
        if self.mark is None:
            self.mark = self.here.node, self.here.name
            return None
        start, self.mark = self.mark[0], None
        return None if start == self.here.node else (start, self.here.node)
