"""Parquet tables that others made: their columns, their types, one after another in constant memory."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read


def written(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def documents(path: Path) -> list[Document]:
    found = []
    for item in read([path]):
        assert isinstance(item, AnnotatedDocument), item
        found.append(item.document)
    return found


def test_a_plain_table_is_read_like_a_csv_table(tmp_path: Path) -> None:
    columns = {"id": [7, 8], "title": ["Kernels", None], "abstract": ["We rank.", "We parse."]}
    rest = {"year": [2020, 2021], "day": [date(2020, 1, 2), None], "vector": [[0.5], [1.0]]}
    first, second = documents(written(tmp_path / "a.parquet", columns | rest))
    assert (first.doc_key, first.text) == ("7", "Kernels\nWe rank.")
    kept = {"id": 7, "title": "Kernels", "year": 2020, "day": "2020-01-02", "vector": [0.5]}
    assert first.fields == kept
    assert (second.doc_key, second.text) == ("8", "We parse.")
    assert second.fields == {"id": 8, "year": 2021, "vector": [1.0]}


def test_columns_may_have_the_names_that_csv_tables_have(tmp_path: Path) -> None:
    columns = {
        "PMID": [31],
        "Article Title": ["Kernels"],
        "Abstract": ["We rank."],
        "DOI": ["10/x"],
    }
    [found] = documents(written(tmp_path / "a.parquet", columns))
    assert (found.doc_key, found.text) == ("31", "Kernels\nWe rank.")
    assert found.fields == {"PMID": 31, "title": "Kernels", "DOI": "10/x"}


def test_strings_of_every_kind_are_text(tmp_path: Path) -> None:
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary("int8", "string")):
        column = pa.array(["We rank."], pa.string()).cast(kind)
        [found] = documents(written(tmp_path / "a.parquet", {"text": column}))
        assert (found.doc_key, found.text) == ("a:1", "We rank.")


@pytest.mark.parametrize(
    ("column", "kind"),
    [([1], "int64"), ([b"We rank."], "binary"), ([["We", "rank."]], r"list<element: string>")],
)
def test_a_column_of_something_else_is_refused_at_once(
    column: list[Any], kind: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.parquet", {"key": ["a"], "text": column})
    problem = rf"a\.parquet: column 'text' holds {kind}; expected text; columns found: 'key' \(string\), 'text'"
    with pytest.raises(FormatError, match=problem):
        list(read([path]))


def test_a_row_without_text_costs_only_itself(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", {"text": ["We rank.", None, "We parse."]})
    items = list(read([path]))
    assert [isinstance(item, BadRecord) for item in items] == [False, True, False]
    bad = items[1]
    assert isinstance(bad, BadRecord) and "a.parquet:2" in bad.error.message


def test_a_folder_may_hold_all_of_it(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", {"id": ["parquet"], "text": ["We rank."]})
    (tmp_path / "b.jsonl").write_text('{"id": "jsonl", "text": "We parse."}\n', "utf-8")
    (tmp_path / "c.csv").write_text("id,abstract\ncsv,We cluster.\n", "utf-8")
    (tmp_path / "text.txt").write_text("We embed.", "utf-8")
    assert [document.doc_key for document in documents(tmp_path)] == [
        "parquet",
        "jsonl",
        "csv",
        "text",
    ]
    pattern = Path(tmp_path / "*")
    assert [document.doc_key for document in documents(pattern)] == [
        "parquet",
        "jsonl",
        "csv",
        "text",
    ]


PEAK = """
import re, sys
from itertools import islice
from pathlib import Path
from sciextract.formats import read
from sciextract.formats import parquet
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10
before = peak()
rows = sum(1 for _ in islice(read([sys.argv[1]]), 1000))
print(rows, peak() - before)
"""


def test_a_row_group_of_any_size_fits_into_little_memory(tmp_path: Path) -> None:
    text = pa.array([f"{row}" + "x" * 6000 for row in range(10_000)])
    path = tmp_path / "a.parquet"
    options: dict[str, Any] = {"row_group_size": 10_000, "use_dictionary": False}
    pq.write_table(pa.table({"text": text}), path, compression="none", **options)
    assert path.stat().st_size > 50 << 20
    words = [sys.executable, "-c", PEAK, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows, grown = map(int, done.stdout.split())
    assert rows == 1000 and grown < 50, grown
