"""Parquet: our rows, the rows of others, and files that are broken."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    LabelScore,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.errors import FormatError, OutputError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.base import ReadItem
from sciextract.formats.parquet import SCHEMA
from sciextract.text.analyse import make_document

datasets = pytest.importorskip("datasets")

TEXT = "Tree kernels rank 😀 proteins. They work."
COUNT = 2300


def annotated(key: str = "P1", text: str = TEXT) -> AnnotatedDocument:
    made = (0.5, State.REJECTED, "model:sci@1/2")
    entities = (
        Entity("E1", (Span(0, 4), Span(5, 12)), "Method", *made, (LabelScore("Task", 0.25),)),
        Entity("E2", (Span(20, 28),), "", state=State.EDITED, source="person:Ada"),
    )
    relations = (Relation("R1", "E1", "E2", "ranks", *made, (LabelScore("x", 0.1),)),)
    decided = (State.REJECTED, State.ADDED)
    clusters = (Cluster("C1", ("E1", "E2"), *made, (0.5, 1.0), decided),)
    document = make_document(key, text, {"year": 2020, "nested": {"a": [1, None, "é"]}})
    model = ModelId("sci", "0" * 64)
    return AnnotatedDocument(document, Annotations(entities, relations, clusters), model, ("w",))


def written(format_id: str, destination: Path, *documents: AnnotatedDocument) -> dict[str, int]:
    writer = open_writer(format_id, destination)
    for document in documents:
        writer.write(document)
    writer.close()
    return dict(writer.losses)


def documents_in(path: Path | str, format_id: str | None = None) -> list[AnnotatedDocument]:
    """All documents; the error of a bad record is raised."""
    found = []
    for item in read([path], format_id):
        if isinstance(item, BadRecord):
            raise item.error
        found.append(item)
    return found


def test_everything_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "made.parquet"
    empty = AnnotatedDocument(make_document("P2", ""))
    assert written("parquet", path, annotated(), empty) == {}
    first, second = documents_in(path)
    assert first == annotated()
    assert first.document.fields == annotated().document.fields
    assert second == empty


def test_no_document_is_no_row(tmp_path: Path) -> None:
    written("parquet", tmp_path / "made.parquet")
    assert documents_in(tmp_path / "made.parquet") == []


def plain(count: int) -> list[AnnotatedDocument]:
    return [AnnotatedDocument(make_document(f"P{number}", "A b.")) for number in range(count)]


def test_row_groups_hold_about_a_thousand_documents(tmp_path: Path) -> None:
    path = tmp_path / "made.parquet"
    written("parquet", path, *plain(COUNT))
    file = pq.ParquetFile(path)
    rows = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert rows == [1000, 1000, 300]
    assert [item.document.doc_key for item in documents_in(path)][-1] == "P2299"


def test_lone_surrogates_are_replaced_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "made.parquet"
    made = AnnotatedDocument(make_document("d", "a\ud800b"))
    assert written("parquet", path, made) == {"lone surrogate that UTF-8 cannot hold": 1}
    assert documents_in(path)[0].document.text == "a\ufffdb"


def test_datasets_loads_our_parquet(tmp_path: Path) -> None:
    path = tmp_path / "made.parquet"
    written("parquet", path, annotated(), *plain(3))
    loaded = datasets.load_dataset(
        "parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert [row["doc_key"] for row in loaded] == ["P1", "P0", "P1", "P2"]
    assert loaded[0]["relations"][0]["label"] == "ranks"
    loaded.to_parquet(str(tmp_path / "theirs.parquet"))
    assert documents_in(tmp_path / "theirs.parquet")[0] == annotated()


TOKENS = [["Tree", "kernels", "rank", "proteins"], ["They", "work"]]
TAGS = [["B-Method", "I-Method", "O", "B-Task"], ["O", "O"]]


def tagged(names: list[str] | None = None) -> Any:
    labels = names or sorted({tag for tags in TAGS for tag in tags})
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "tokens": datasets.Sequence(datasets.Value("string")),
            "ner_tags": datasets.Sequence(datasets.ClassLabel(names=labels)),
        }
    )
    rows = {"id": ["0", "1"], "tokens": TOKENS, "ner_tags": TAGS}
    return datasets.Dataset.from_dict(rows, features=features)


def test_class_labels(tmp_path: Path) -> None:
    tagged().to_parquet(str(tmp_path / "made.parquet"))
    first, second = documents_in(tmp_path / "made.parquet")
    text = first.document.text
    assert text == "Tree kernels rank proteins"
    found = [(entity.text_of(text), entity.label) for entity in first.annotations.entities]
    assert found == [("Tree kernels", "Method"), ("proteins", "Task")]
    assert (second.document.doc_key, second.annotations.entities) == ("1", ())


def test_a_saved_folder_says_how_to_make_a_file_of_it(tmp_path: Path) -> None:
    tagged().save_to_disk(str(tmp_path / "saved"))
    with pytest.raises(FormatError, match="save_to_disk") as caught:
        documents_in(tmp_path)
    assert "to_parquet" in caught.value.hint


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"text": ["A b."], "label": [3]}, "A b."),
        ({"title": ["A"], "abstract": ["b."], "year": [2020]}, "A\nb."),
        ({"abstract": ["b."], "title": pa.array([None], pa.string())}, "b."),
        ({"sentences": [TOKENS]}, "Tree kernels rank proteins They work"),
        ({"tokens": [TOKENS[0]], "ner_tags": [TAGS[0]]}, "Tree kernels rank proteins"),
        ({"tokens": [["a", "b"]], "tags": [["I-X", "O"]]}, "a b"),
    ],
)
def test_tables_of_others(tmp_path: Path, columns: dict[str, Any], text: str) -> None:
    (found,) = documents_in(table(tmp_path / "made.parquet", **columns))
    assert found.document.text == text
    assert found.document.doc_key == "made:1"


def test_other_columns_are_kept_as_json_can_hold_them(tmp_path: Path) -> None:
    extra = {
        "when": pa.array([0], pa.timestamp("s")),
        "score": [float("nan")],
        "raw": [b"ab"],
        "none": pa.array([None], pa.string()),
        "many": [[1, 2]],
    }
    (found,) = documents_in(table(tmp_path / "made.parquet", text=["a"], **extra))
    expected = {"when": "1970-01-01T00:00:00", "score": None, "raw": "2 bytes", "many": [1, 2]}
    assert found.document.fields == expected
    json.dumps(dict(found.document.fields), allow_nan=False)


@pytest.mark.parametrize("shape", ["objects", "strings"])
def test_scierc_columns(tmp_path: Path, shape: str) -> None:
    ner: list[Any] = [[["0", "1", "Method"]], []]
    relations: list[Any] = [[["0", "1", "3", "3", "Used-for"]], []]
    if shape == "objects":
        ner = [[{"start": 0, "end": 1, "label": "Method"}], []]
        relations = [[{"a": 0, "b": 1, "c": 3, "d": 3, "label": "Used-for"}], []]
    path = table(
        tmp_path / "made.parquet",
        sentences=[TOKENS],
        ner=[ner],
        relations=[relations],
        clusters=[[[[0, 1], [4, 4]]]],
    )
    (found,) = documents_in(path)
    texts = [entity.text_of(found.document.text) for entity in found.annotations.entities]
    assert texts == ["Tree kernels", "proteins", "They"]
    assert [relation.label for relation in found.annotations.relations] == ["Used-for"]
    assert len(found.annotations.clusters) == 1


SCHEMES = [
    (["I-X", "I-X", "B-X", "I-Y", "O"], ["a b:X", "c:X", "d:Y"]),
    (["B-X", "L-X", "U-Y", "S-Y", "E-X"], ["a b:X", "c:Y", "d:Y", "e:X"]),
    (["X", "X", "O", "Y-Z", "B-X-y"], ["a b:X", "d:Z", "e:X-y"]),
]


@pytest.mark.parametrize(("tags", "expected"), SCHEMES)
def test_schemes_of_tags(tmp_path: Path, tags: list[str], expected: list[str]) -> None:
    path = table(tmp_path / "made.parquet", tokens=[[*"abcde"]], ner_tags=[tags])
    (found,) = documents_in(path)
    text = found.document.text
    assert [f"{e.text_of(text)}:{e.label}" for e in found.annotations.entities] == expected


BAD_ROWS: list[tuple[dict[str, Any], str]] = [
    ({"entities": [{"id": "E1", "fragments": [[0, 99]], "label": "X"}]}, r"fragments: [[0, 99]]"),
    ({"entities": [{"id": "E1", "fragments": [], "label": "X"}]}, "one or more ranges"),
    ({"text": None}, "no text"),
    ({"text_sha256": "0"}, "text_sha256: '0' found"),
    ({"relations": [{"id": "R", "head": "E7", "tail": "E1", "label": "x"}]}, "'E7' found"),
    ({"sentences": [[0, 99]]}, "sentences: [0, 99] found"),
    ({"token_ranges": [[0, 1]]}, "token_ranges: 1 ranges found"),
    ({"fields": "["}, "fields: is not JSON"),
    ({"fields": "7"}, "fields: the whole is 7; expected object"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_ROWS)
def test_a_bad_row_is_named_and_the_others_are_read(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = tmp_path / "made.parquet"
    written("parquet", path, annotated(), annotated(), annotated())
    rows = pq.read_table(path).to_pylist()
    rows[1] |= changes
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    items: list[ReadItem] = list(read([path]))
    assert [isinstance(item, BadRecord) for item in items] == [False, True, False]
    assert isinstance(items[1], BadRecord)
    assert message in items[1].error.message
    assert items[1].error.message.startswith(f"{path}:2: doc_key 'P1'")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"ner_tags": [[0, 1]]}, "the class 0 has no name"),
        ({"ner_tags": [["O"]]}, "1 tags found; expected 2"),
        ({"ner_tags": [[1.5, 2.0]]}, "1.5 found; expected tags"),
        ({"ner_tags": [["O", "O"]], "tokens": [["a", ""]]}, "'' found"),
    ],
)
def test_bad_tags_are_named(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    made = {"tokens": [["a", "b"]]} | columns
    (bad,) = read([table(tmp_path / "made.parquet", **made)])
    assert isinstance(bad, BadRecord)
    assert message in bad.error.message


def test_a_table_without_text_lists_its_columns(tmp_path: Path) -> None:
    with pytest.raises(
        FormatError, match=r"no text in the columns 'a' \(int64\), 'b' \(string\)"
    ) as caught:
        documents_in(table(tmp_path / "made.parquet", a=[1], b=["x"]))
    assert "`tokens` and `ner_tags`" in caught.value.hint


@pytest.mark.parametrize("cut", [0, 4, 1000, -8, -200])
def test_damaged_parquet(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "made.parquet"
    written("parquet", path, annotated(), *plain(5))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(FormatError, match=r"Parquet|damaged|empty"):
        documents_in(path)


def test_damaged_pages_are_an_error_too(tmp_path: Path) -> None:
    path = tmp_path / "made.parquet"
    written("parquet", path, annotated(), *plain(50))
    content = bytearray(path.read_bytes())
    content[60:400] = b"\x00" * 340
    path.write_bytes(content)
    with pytest.raises(FormatError):
        documents_in(path)


def test_no_damaged_byte_is_more_than_an_error(tmp_path: Path) -> None:
    file = tmp_path / "made.parquet"
    written("parquet", file, annotated())
    content = file.read_bytes()
    for position in range(0, len(content), 41):
        damaged = content[position] ^ 0xFF
        file.write_bytes(content[:position] + bytes([damaged]) + content[position + 1 :])
        with contextlib.suppress(FormatError):
            documents_in(file)


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        open_writer("parquet", tmp_path / "absent" / "made.parquet")
    with pytest.raises(OutputError, match="not text"):
        open_writer("parquet", "-")
