"""The sheet that a person fills in: CSV that any spreadsheet opens, with an empty column ``correct``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from sciextract.errors import FormatError
from sciextract.formats.base import Source, shown
from sciextract.formats.decoding import decoded_content
from sciextract.formats.tables.cells import csv_row, storable, unguarded
from sciextract.graph.checking.precision import Judgement
from sciextract.graph.checking.sample import Drawn
from sciextract.graph.queries.edges import Sentence
from sciextract.workflows.output import reported_as
from sciextract.workflows.whole_output import check_target, whole_output

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
    rows = [csv_row(COLUMNS), *[csv_row(_cells(each)) for each in drawn]]
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
    lines = decoded_content(Source(str(path))).splitlines(keepends=True)
    delimiter = max(_DELIMITERS, key=lines[0].count)
    reader = csv.DictReader(lines, delimiter=delimiter)
    for wanted in (CORRECT, RELATION):
        if wanted not in (reader.fieldnames or ()):
            problem = f"no column {wanted!r}; columns found: {', '.join(reader.fieldnames or ())}"
            hint = "sciextract graph sample makes such a sheet"
            raise FormatError(problem, path=path, line=1, hint=hint)
    return list(_judgements(reader, path))


def _judgements(reader: csv.DictReader[str], path: Path) -> Iterator[Judgement]:
    try:
        for row in reader:
            relation = unguarded(row[RELATION] or "")
            yield Judgement(relation, _verdict(row[CORRECT], path, reader.line_num))
    except csv.Error as error:
        raise FormatError(f"broken CSV: {error}", path=path, line=reader.line_num) from error


def _verdict(cell: str | None, path: Path, line: int) -> bool | None:
    word = unguarded(cell or "").strip().casefold()
    if word in _YES:
        return True
    if word in _NO:
        return False
    if word:
        problem = f"{shown(cell)} found as `{CORRECT}`, allowed are yes, no and nothing"
        raise FormatError(problem, path=path, line=line)
    return None


def _cells(drawn: Drawn) -> list[str]:
    edge, sentence = drawn.edge, drawn.sentence
    cells = (
        *("", edge.head.name, edge.head.label, edge.label, edge.tail.name, edge.tail.label),
        *(_marked(sentence), "" if sentence.score is None else f"{sentence.score:.4f}"),
        *(
            sentence.head_text,
            sentence.tail_text,
            edge.documents,
            sentence.doc_key,
            sentence.year or "",
            "",
        ),
    )
    return [storable(" ".join(str(cell).split()))[0] for cell in cells]


def _marked(sentence: Sentence) -> str:
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
