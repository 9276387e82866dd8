"""Parts of large runs: the same documents as the JSONL lines they are made of, the same bytes every time."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.errors import FormatError, MissingExtraError, install_command
from sciextract.formats import open_writer, read
from sciextract.formats.exchange import encode
from sciextract.formats.parquet import parquet_part
from sciextract.formats.registry import get_format
from sciextract.text.analyse import make_document
from tests.strategies import annotated_documents

datasets = pytest.importorskip("datasets")
duckdb = pytest.importorskip("duckdb")

TEXT = "Tree kernels rank 😀 proteins.\r\nThey work."


def annotated(key: str) -> AnnotatedDocument:
    made = (0.123456789, State.UNDECIDED, "model:sci@1/2")
    entities = (
        Entity("E1", (Span(0, 12),), "Method", *made),
        Entity("E2", (Span(20, 24),), "Material", *made),  # its edge cuts a token
    )
    relations = (Relation("R1", "E1", "E2", "Used-for", *made),)
    clusters = (Cluster("C1", ("E1", "E2"), *made, (0.5, 1.0)),)
    document = make_document(key, TEXT, {"year": 2020, "title": "Kernels", "nested": {"a": [None]}})
    return AnnotatedDocument(
        document, Annotations(entities, relations, clusters), ModelId("sci", "0" * 64), ("w",)
    )


def lines_of(*documents: AnnotatedDocument) -> bytes:
    stream = io.StringIO()
    writer = open_writer("jsonl", stream)
    for document in documents:
        writer.write(document)
    return stream.getvalue().encode()


def lines_in(*paths: Path) -> bytes:
    items = read([str(path) for path in paths])
    return b"".join(
        encode(item).encode() + b"\n" for item in items if isinstance(item, AnnotatedDocument)
    )


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(2):
        part = parquet_part(lines_of(annotated(f"{number}a"), annotated(f"{number}b")))
        assert (part.rows, dict(part.losses)) == (2, {})
        (folder / f"part-{number:05}-000000.parquet").write_bytes(part.data)
    return folder


def test_a_folder_of_parts_holds_the_lines_that_it_was_made_of(parts: Path) -> None:
    assert lines_in(parts) == lines_of(*[annotated(key) for key in ("0a", "0b", "1a", "1b")])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(annotated_documents())
def test_any_document_survives(tmp_path_factory: Any, document: AnnotatedDocument) -> None:
    lines = lines_of(document)
    part = parquet_part(lines)
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    path.write_bytes(part.data)
    if not part.losses:
        again, expected = lines_in(path), list(read_lines(lines))
        assert again == b"".join(encode(item).encode() + b"\n" for item in expected)


def read_lines(lines: bytes) -> list[AnnotatedDocument]:
    from sciextract.formats.base import Source
    from sciextract.formats.json_values import parse_object
    from sciextract.formats.jsonl import parse_record

    found = []
    for line in lines.decode().split("\n")[:-1]:
        found.append(parse_record(parse_object(line, "x", 1), Source("x"), 1))
    return found


def test_the_same_lines_give_the_same_bytes() -> None:
    lines = lines_of(annotated("a"), annotated("b"))
    assert parquet_part(lines).data == parquet_part(lines).data
    assert parquet_part(b"").rows == 0


def test_other_programs_read_a_folder_of_parts(parts: Path) -> None:
    files = str(parts / "*.parquet")
    found = duckdb.execute(
        "SELECT e.label, substr(text, e.fragments[1][1] + 1, e.fragments[1][2] - e.fragments[1][1]) AS mention, count(*) "
        f"FROM (SELECT text, unnest(entities) AS e FROM '{files}') GROUP BY ALL ORDER BY 1"
    ).fetchall()
    assert found == [("Material", "prot", 4), ("Method", "Tree kernels", 4)]
    years = duckdb.execute(f"SELECT DISTINCT fields ->> 'year' FROM '{files}'").fetchall()
    assert years == [("2020",)]
    table = pq.read_table(parts).to_pandas()
    assert list(table.doc_key) == ["0a", "0b", "1a", "1b"]
    rows = datasets.load_dataset(
        "parquet", data_files=files, split="train", cache_dir=str(parts.parent)
    )
    assert rows[0]["relations"][0]["label"] == "Used-for"


def test_lone_surrogates_are_counted(tmp_path: Path) -> None:
    document = AnnotatedDocument(make_document("k", "We rank \ud800 proteins."))
    part = parquet_part(lines_of(document))
    assert sum(part.losses.values()) == 1
    (tmp_path / "a.parquet").write_bytes(part.data)
    [found] = read([tmp_path / "a.parquet"])
    assert isinstance(found, AnnotatedDocument) and "\ufffd" in found.document.text


def test_what_is_no_record_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"part\.jsonl:2:2: broken JSON"):
        parquet_part(lines_of(annotated("a")) + b"{\n")


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent: Any = None
    monkeypatch.delitem(sys.modules, "sciextract.formats.parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", absent)
    with pytest.raises(MissingExtraError) as caught:
        get_format("parquet", "write").load_writer()
    assert caught.value.hint == install_command("formats")
