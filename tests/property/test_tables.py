"""Every cell of a table can be read back, whatever stands in the text."""

from __future__ import annotations

import csv
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import NOT_REJECTED, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import open_writer
from sciextract.formats.table_rows import csv_row, escape_cell, guard_cell, tsv_row, unguard_cell
from sciextract.text.characters import without_surrogates
from tests.strategies import PIECES, annotated_documents
from tests.tiers import examples

FEW = settings(max_examples=examples(60), deadline=None)
HOSTILE = st.sampled_from(
    [*PIECES, "＝", "－1", "-", "@", "\\t", "\\u0041", "\ud800", "\t", ",", "'"]
)
from tests.unit.formats.test_table_rows import unescaped

CELLS = st.lists(HOSTILE, max_size=8).map("".join) | st.text(max_size=9)
ROWS = st.lists(CELLS, min_size=1, max_size=4)
FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")


@FEW
@given(CELLS)
def test_guards_and_escapes_have_inverses(cell: str) -> None:
    assert unguard_cell(guard_cell(cell)) == cell
    assert unescaped(escape_cell(cell)) == cell
    assert not guard_cell(cell).lstrip().startswith(FORMULA_STARTS)


@FEW
@given(ROWS)
def test_csv_rows_come_back(cells: list[str]) -> None:
    stream = io.StringIO(csv_row(cells) + "\n", newline="")
    (row,) = csv.reader(stream, strict=True) if cells != [""] else ([""],)
    assert [unguard_cell(cell) for cell in row] == cells


@FEW
@given(ROWS)
def test_tsv_rows_come_back_and_are_one_line(cells: list[str]) -> None:
    line = tsv_row(cells)
    assert len(line.splitlines()) == (line != "")
    line.encode("utf-8")
    (row,) = csv.reader([line], delimiter="\t", strict=True) if line else ([""],)
    assert [unescaped(unguard_cell(cell)) for cell in row] == cells


@FEW
@given(annotated_documents(attributes=True))
def test_every_mention_and_attribute_comes_back(document: AnnotatedDocument) -> None:
    text = document.document.text
    for format_id, delimiter, inverse in (("csv", ",", str), ("tsv", "\t", unescaped)):
        stream = io.StringIO(newline="")
        writer = open_writer(format_id, stream)
        writer.write(document)
        writer.close()
        stream.seek(0)
        rows = [
            row for row in csv.DictReader(stream, delimiter=delimiter) if row["kind"] != "mention"
        ]
        found = {(row["id"], inverse(unguard_cell(row["mention_text"]))) for row in rows}
        wanted = {
            (entity.id, without_surrogates(entity.text_of(text))[0])
            for entity in document.annotations.entities
            if entity.state is not State.REJECTED
        }
        assert wanted == {item for item in found if item[0].startswith("E")}
        values = {
            (row["id"], row["target_id"], inverse(unguard_cell(row["value"])))
            for row in rows
            if row["kind"] == "attribute"
        }
        said = document.annotations.in_states(NOT_REJECTED).attributes
        assert values == {(item.id, item.target, item.value) for item in said}
        for row in rows:
            if row["kind"] == "entity":
                pieces = [piece.split("-") for piece in row["fragments"].split(";")]
                joined = " ".join(text[int(start) : int(end)] for start, end in pieces)
                assert without_surrogates(joined)[0] == inverse(unguard_cell(row["mention_text"]))
