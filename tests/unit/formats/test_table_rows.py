"""Tables as a spreadsheet, the csv module and our own reader see them."""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path

import pytest

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, OutputError
from sciextract.formats import open_writer, read
from sciextract.formats.table_rows import (
    COLUMNS,
    csv_row,
    escape_cell,
    guard_cell,
    tsv_row,
    unguard_cell,
)
from sciextract.text.analyse import make_document

TEXT = "Tree kernels\nrank proteins. They, the kernels, are fast."
FIELDS = {"DOI": "10.1/x", "pmid": 7, "title": "=Kernels", "Year": "2020", "keywords": ["a"]}
PLAIN = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
DELIMITERS = {"csv": ",", "tsv": "\t"}
STATE = State.ACCEPTED


def unescaped(cell: str) -> str:
    """What ``escaped`` was given."""
    return re.sub(
        r"\\(?:u([0-9a-f]{4})|(.))",
        lambda found: chr(int(found[1], 16)) if found[1] else PLAIN[found[2]],
        cell,
    )


def at(words: str) -> Span:
    return Span(TEXT.index(words), TEXT.index(words) + len(words))


def made() -> AnnotatedDocument:
    entities = (
        Entity("E1", (at("Tree kernels\nrank"),), "Method", 0.25, STATE, "model:sci@1"),
        Entity("E2", (at("proteins"),), "Material"),
        Entity("E3", (at("They"), at("kernels,")), ""),
        Entity("E4", (at("fast"),), "Metric", state=State.REJECTED),
    )
    relations = (
        Relation("R1", "E1", "E2", "Used-for", 0.5),
        Relation("R2", "E4", "E2", "Used-for"),
        Relation("R3", "E2", "E3", "Part-of", state=State.REJECTED),
    )
    clusters = (
        Cluster("C1", ("E1", "E3", "E4"), 0.75, mention_scores=(0.9, 0.8, 0.1)),
        Cluster("C2", ("E1", "E2"), state=State.REJECTED),
    )
    document = make_document("d-1", TEXT, FIELDS)
    return AnnotatedDocument(document, Annotations(entities, relations, clusters))


def written(format_id: str, *documents: AnnotatedDocument) -> tuple[str, dict[str, int]]:
    stream = io.StringIO(newline="")
    writer = open_writer(format_id, stream)
    for document in documents:
        writer.write(document)
    writer.close()
    return stream.getvalue(), dict(writer.losses)


def rows_of(format_id: str, *documents: AnnotatedDocument) -> list[dict[str, str]]:
    text, _ = written(format_id, *documents)
    stream = io.StringIO(text, newline="")
    return list(csv.DictReader(stream, delimiter=DELIMITERS[format_id], strict=True))


@pytest.mark.parametrize("format_id", ["csv", "tsv"])
def test_a_row_an_item(format_id: str) -> None:
    rows = rows_of(format_id, made())
    assert [(row["kind"], row["id"]) for row in rows] == [
        ("entity", "E1"),
        ("entity", "E2"),
        ("entity", "E3"),
        ("relation", "R1"),
        ("mention", "E1"),
        ("mention", "E3"),
    ]
    for row in rows:
        assert [row[name] for name in ("doc_key", "doi", "pmid", "year")] == [
            *("d-1", "10.1/x", "7", "2020")
        ]
        assert row["title"] == "'=Kernels"
    assert list(rows[0]) == list(COLUMNS)


def test_what_an_entity_says() -> None:
    first, _, third, *_ = rows_of("csv", made())
    names = ("label", "char_start", "char_end", "fragments", "mention_text", "score", "state")
    assert [first[name] for name in names] == [
        *("Method", "0", "17", "0-17", "Tree kernels\nrank", "0.25", "accepted")
    ]
    assert first["source"] == "model:sci@1"
    assert [third[name] for name in names] == [
        *("", "28", "46", "28-32;38-46", "They kernels,", "", "undecided")
    ]


def test_what_a_relation_and_a_mention_say() -> None:
    *_, relation, _, mention = rows_of("tsv", made())
    names = ("label", "head_id", "head_label", "head_text", "tail_id", "tail_label", "tail_text")
    assert [relation[name] for name in names] == [
        *("Used-for", "E1", "Method", "Tree kernels\\nrank", "E2", "Material", "proteins")
    ]
    assert relation["score"] == "0.5" and relation["char_start"] == ""
    assert [mention[name] for name in ("cluster_id", "id", "score")] == ["C1", "E3", "0.8"]


def test_losses() -> None:
    assert written("csv", made())[1] == {}
    entity = Entity("E1", (Span(0, 4),), "Method")
    broken = Annotations((entity,), (Relation("R", "E1", "E9", "x"),), (Cluster("C", ("E8",)),))
    document = AnnotatedDocument(make_document("d", TEXT), broken)
    assert written("tsv", document)[1] == {
        "relation of an entity that is not there": 1,
        "mention of an entity that is not there": 1,
    }


def test_lone_surrogates_are_counted_where_they_cannot_be_written() -> None:
    annotations = Annotations((Entity("E1", (Span(0, 3),), "a"),))
    document = AnnotatedDocument(make_document("d", "a\ud800b"), annotations)
    text, losses = written("csv", document)
    assert "a\ufffdb" in text and losses == {"lone surrogate in a cell": 1}
    text, losses = written("tsv", document)
    assert "a\\ud800b" in text and losses == {}


@pytest.mark.parametrize("format_id", DELIMITERS)
def test_an_entity_outside_the_text_is_an_error(format_id: str) -> None:
    entities = (Entity("E1", (Span(0, 99),), "a"),)
    annotations = Annotations(entities, (Relation("R", "E1", "E1", "x"),))
    with pytest.raises(OutputError, match=r"entity E1: \[0, 99\) found"):
        written(format_id, AnnotatedDocument(make_document("d", "short"), annotations))


@pytest.mark.parametrize("format_id", DELIMITERS)
def test_the_header_comes_once_and_only_with_a_document(format_id: str) -> None:
    assert written(format_id)[0] == ""
    empty = AnnotatedDocument(make_document("d", "short"))
    (line,) = written(format_id, empty, empty)[0].splitlines()
    assert tuple(line.split(DELIMITERS[format_id])) == COLUMNS


@pytest.mark.parametrize(
    "formula",
    [
        *("=1+1", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u3000=1"),
        *("\ufeff=1", "\u200b=1", "＝1+1", "＋1", "－1", "＠x", "'=1", "''=1", "\x00=1", "\ttab"),
    ],
)
def test_formulas_are_guarded_and_come_back(formula: str) -> None:
    assert guard_cell(formula) == "'" + formula
    assert unguard_cell(guard_cell(formula)) == formula
    (cells,) = csv.reader(io.StringIO(csv_row([formula, "x"]), newline=""))
    assert cells == ["'" + formula, "x"]
    (cells,) = csv.reader(io.StringIO(tsv_row([formula, "x"])), delimiter="\t")
    assert unescaped(unguard_cell(cells[0])) == formula
    assert not cells[0].lstrip().startswith(tuple("=+-@"))


@pytest.mark.parametrize(
    "harmless", ["", "n-gram", "a=b", "'tis", "α", "[12]", "3.5", "−1", "(-1)"]
)
def test_other_cells_stay_as_they_are(harmless: str) -> None:
    assert guard_cell(harmless) == unguard_cell(harmless) == harmless
    assert csv_row([harmless]) == tsv_row([harmless]) == harmless


def test_escapes_of_tab_separated_cells() -> None:
    hostile = 'a\tb\r\nc\\t\x1b[31m\x85\u2028\x00\ud800"α"😀\u202e'
    cell = escape_cell(hostile)
    assert cell == 'a\\tb\\r\\nc\\\\t\\u001b[31m\\u0085\\u2028\\u0000\\ud800"α"😀\u202e'
    assert unescaped(cell) == hostile
    assert len(tsv_row([hostile]).splitlines()) == 1


@pytest.mark.parametrize("format_id", DELIMITERS)
def test_what_was_written_is_not_taken_for_abstracts(
    format_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = written(format_id, made())[0]
    path = tmp_path / f"made.{format_id}"
    path.write_text(text, encoding="utf-8", newline="")
    problem = "no column with a text; columns found: '(kind', 'doc_key|head_text', 'relation)'"
    with pytest.raises(FormatError, match=problem):
        list(read([path]))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.raises(FormatError, match=problem):
        list(read(["-"]))


def test_lines_go_out_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    writer = open_writer("csv", path)
    writer.write(made())
    writer.close()
    content = path.read_bytes()
    assert content.startswith(b"kind,doc_key,id,") and content.endswith(b"\n")
    assert b"\r" not in content
