"""The precision of a graph, measured by hand: edges drawn at random, a sheet to fill in, what the judgements say.

python -m research.graph_precision sample --edges 50 --output check.csv --graph field.graph
python -m research.graph_precision count check.csv
"""

from __future__ import annotations

import csv
import random
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from research.commands.options import run
from sciextract.errors import FormatError, UsageError
from sciextract.formats.base import Source, decode_content, quoted
from sciextract.formats.table_rows import csv_row, unguard_cell
from sciextract.graph.database import open_graph
from sciextract.graph.queries.edges import Edge, Sentence, neighbours, support_of
from sciextract.graph.queries.nodes import label_number, node_of
from sciextract.graph.queries.trends import wilson
from sciextract.text.characters import without_surrogates
from sciextract.workflows.output import check_target, reported_as, whole_output

ALL = "all"


@dataclass(frozen=True, slots=True)
class Judgement:
    """An edge that somebody looked at.

    Attributes:
        relation: Its type.
        correct: Whether its sentence says so; ``None`` where nobody has decided.
    """

    relation: str
    correct: bool | None


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of edges that are right.

    Attributes:
        relation: The type, or ``all``.
        judged: How many were judged.
        correct: How many of them are right.
        low: Lower end of the 95 % interval, 0 to 1.
        high: Upper end.
    """

    relation: str
    judged: int
    correct: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The precision, 0 to 1."""
        return self.correct / self.judged


def precisions(judgements: Sequence[Judgement]) -> list[Precision]:
    """The precision of all judged edges, then of each relation type, the most frequent first."""
    decided = [judgement for judgement in judgements if judgement.correct is not None]
    if not decided:
        return []
    types: dict[str, list[Judgement]] = {}
    for judgement in decided:
        types.setdefault(judgement.relation, []).append(judgement)
    ordered = sorted(types.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_precision(ALL, decided), *[_precision(name, some) for name, some in ordered]]


def _precision(name: str, judgements: Sequence[Judgement]) -> Precision:
    correct = sum(judgement.correct is True for judgement in judgements)
    return Precision(name, len(judgements), correct, *wilson(correct, len(judgements)))


@dataclass(frozen=True, slots=True)
class Drawn:
    """An edge to judge.

    Attributes:
        edge: It.
        sentence: One of the places that support it, drawn at random too: the best one would flatter the graph.
    """

    edge: Edge
    sentence: Sentence


def draw_edges(
    connection: sqlite3.Connection,
    count: int,
    *,
    seed: int = 1,
    relation: str | None = None,
    least: int = 1,
) -> list[Drawn]:
    """Edges of a graph, each as likely as every other: the same ones for the same graph and seed.

    Args:
        connection: The graph.
        count: How many; all where there are fewer.
        seed: Of the drawing.
        relation: Only edges of this type.
        least: Only edges that so many abstracts state.

    Raises:
        UsageError: The graph has no such relation type.
    """
    number = label_number(connection, relation, "relation")
    found = connection.execute(
        "SELECT id, head FROM edge WHERE documents >= ? AND label = coalesce(?, label) ORDER BY id",
        (least, number),
    )
    edges = found.fetchall()
    chance = random.Random(seed)
    drawn = []
    for number, head in chance.sample(edges, min(count, len(edges))):
        edges_there = neighbours(connection, node_of(connection, head), limit=_ALL)
        (edge,) = [candidate for candidate in edges_there if candidate.id == number]
        sentences = [sentence for *_, sentence in support_of(connection, [number], _ALL)]
        drawn.append(Drawn(edge, chance.choice(sentences)))
    return drawn


_ALL = 1 << 30
CORRECT, RELATION = "correct", "relation"
COLUMNS = (
    *(CORRECT, "head", "head_type", RELATION, "tail", "tail_type", "sentence", "score"),
    *("head_as_written", "tail_as_written", "abstracts", "doc_key", "year", "note"),
)
_YES = frozenset(("yes", "y", "1", "true", "x", "ja", "oui", "si", "✓", "✔"))
_NO = frozenset(("no", "n", "0", "false", "-", "nein", "non", "✗", "✘"))
_DELIMITERS = ",;\t"
_MARKS = {"head": ("⟦", "⟧"), "tail": ("⟪", "⟫")}


def write_sheet(drawn: Iterable[Drawn], output: Path, *, force: bool = False) -> int:
    """Write a sheet, whole or not at all; gives the number of its rows.

    In the sentence ⟦ ⟧ marks the head, ⟪ ⟫ the tail. A cell that a spreadsheet would run has an apostrophe before it.

    Raises:
        OutputError: The file exists and may not be replaced, or cannot be written.
    """
    check_target(output, force=force)
    rows = [csv_row(COLUMNS), *[csv_row(_cells(sample)) for sample in drawn]]
    with reported_as(str(output)), whole_output(output) as partial:
        # The byte order mark tells spreadsheets that this is UTF-8.
        partial.write_text("\r\n".join(rows) + "\r\n", encoding="utf-8-sig", newline="")
    return len(rows) - 1


def read_sheet(path: Path) -> list[Judgement]:
    """The judgements in a sheet, as a spreadsheet saved it: with commas, semicolons or tabs.

    Raises:
        InputMissingError: There is no such file.
        FormatError: It cannot be read, a column is missing, or a judgement is neither yes nor no.
    """
    lines = decode_content(Source(str(path))).splitlines(keepends=True)
    delimiter = max(_DELIMITERS, key=lines[0].count)
    reader = csv.DictReader(lines, delimiter=delimiter)
    for wanted in (CORRECT, RELATION):
        if wanted not in (reader.fieldnames or ()):
            problem = f"no column {wanted!r}; columns found: {', '.join(reader.fieldnames or ())}"
            hint = "python -m research.graph_precision sample makes such a sheet"
            raise FormatError(problem, path=path, line=1, hint=hint)
    return list(_judgements(reader, path))


def _judgements(reader: csv.DictReader[str], path: Path) -> Iterator[Judgement]:
    try:
        for row in reader:
            relation = unguard_cell(row[RELATION] or "")
            yield Judgement(relation, _verdict(row[CORRECT], path, reader.line_num))
    except csv.Error as error:
        raise FormatError(f"broken CSV: {error}", path=path, line=reader.line_num) from error


def _verdict(cell: str | None, path: Path, line: int) -> bool | None:
    word = unguard_cell(cell or "").strip().casefold()
    if word in _YES:
        return True
    if word in _NO:
        return False
    if word:
        problem = f"{quoted(cell)} found as `{CORRECT}`; expected yes, no or an empty cell"
        raise FormatError(problem, path=path, line=line)
    return None


def _cells(drawn: Drawn) -> list[str]:
    edge, sentence = drawn.edge, drawn.sentence
    cells = (
        *("", edge.head.name, edge.head.label, edge.label, edge.tail.name, edge.tail.label),
        *(_mark(sentence), "" if sentence.score is None else f"{sentence.score:.4f}"),
        *(
            _words(sentence, sentence.head),
            _words(sentence, sentence.tail),
            edge.documents,
            sentence.doc_key,
            sentence.year or "",
            "",
        ),
    )
    return [without_surrogates(" ".join(str(cell).split()))[0] for cell in cells]


def _words(sentence: Sentence, place: tuple[int, int]) -> str:
    start, end = place
    return sentence.text[start - sentence.char_start : end - sentence.char_start]


def _mark(sentence: Sentence) -> str:
    """The sentence with marks around both mentions; they may lie in each other."""
    marks = [
        mark
        for end, (start, stop) in (("head", sentence.head), ("tail", sentence.tail))
        for mark in ((start, 1, -stop, _MARKS[end][0]), (stop, 0, -start, _MARKS[end][1]))
    ]
    text, offset = sentence.text, sentence.char_start
    for place, _, _, sign in sorted(marks, reverse=True):
        text = text[: place - offset] + sign + text[place - offset :]
    return text


app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.command()
def sample(
    graph: Annotated[Path, typer.Option(metavar="FILE", help="The graph file.")],
    output: Annotated[Path, typer.Option(metavar="FILE.csv", help="The CSV file to fill in.")],
    edges: Annotated[int, typer.Option(min=1, help="Number of edges to sample.")] = 50,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 1,
    relation: Annotated[str | None, typer.Option(help="Only relations of this type.")] = None,
    least: Annotated[int, typer.Option(min=1, help="Only edges that N abstracts state.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
) -> None:
    """Sample random edges with a sentence each, each edge equally likely.

    Write yes or no into the column "correct": whether the sentence states the relation with this type and direction.
    Then run ``count``. The file contains sentences.
    """
    with open_graph(graph) as connection:
        drawn = draw_edges(connection, edges, seed=seed, relation=relation, least=least)
    if not drawn:
        raise UsageError("the graph has no such edges", "lower --least, or leave out --relation")
    print(f"{output} holds {write_sheet(drawn, output, force=force)} edges")


@app.command()
def count(sheet: Annotated[Path, typer.Argument(metavar="FILE.csv")]) -> None:
    """Compute precision by relation from a filled-in sample, with 95 % intervals (Wilson)."""
    found = precisions(read_sheet(sheet))
    if not found:
        raise UsageError("no row is judged yet", 'write yes or no into the column "correct"')
    print(f"{'precision':>9}  {'95 % interval':>15}  {'correct':>7} {'judged':>7}  relation")
    for group in found:
        interval = f"{100 * group.low:.1f} - {100 * group.high:.1f}"
        share = f"{100 * group.share:.1f} %"
        print(f"{share:>9}  {interval:>15}  {group.correct:7,} {group.judged:7,}  {group.relation}")


if __name__ == "__main__":
    run(app)
