"""Links to vocabularies in the places that formats have for them, read by the libraries of others, and back."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Attribute, Entity, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import parse_schema
from sciextract.formats import open_writer, read
from sciextract.text.analyse import make_document

TEXT = "Basalt lies on gneiss, and tuff."
ROCKS = {"a": Span(0, 6), "b": Span(15, 21), "c": Span(27, 31)}
LINKS = {"a": "ROCK:1", "b": "http://example.org/rocks#2"}


SCHEMA = parse_schema(
    {
        "name": "rocks",
        "entities": [{"label": "Rock", "key": "r", "colour": "#112233"}],
        "attributes": [
            {"label": "link", "key": "l", "on": ["Rock"], "kind": "link", "vocabularies": ["B"]}
        ],
    },
    "test",
)


def linked() -> AnnotatedDocument:
    entities = tuple(Entity(name, (span,), "Rock") for name, span in ROCKS.items())
    said = tuple(Attribute(f"l{name}", name, "link", link) for name, link in LINKS.items())
    return AnnotatedDocument(make_document("r1", TEXT, {}), Annotations(entities, attributes=said))


def written(folder: Path, form: str, suffix: str) -> tuple[Path, dict[str, int]]:
    path = folder / f"rocks{suffix}"
    options = {"schema": SCHEMA} if form in ("xmi", "brat") else {}
    writer = open_writer(form, str(path), **options)
    writer.write(linked())
    writer.close()
    return path, dict(+writer.losses)


@pytest.mark.parametrize(
    ("form", "suffix"),
    [
        ("jsonl", ".jsonl"),
        ("bioc", ".xml"),
        ("bioc-json", ".json"),
        ("pubtator", ".pubtator"),
        ("brat", ""),
        ("xmi", ".xmi"),
    ],
)
def test_round_trip(tmp_path: Path, form: str, suffix: str) -> None:
    path, losses = written(tmp_path, form, suffix)
    assert losses == {}
    [item] = read([str(path)], form)
    assert isinstance(item, AnnotatedDocument)
    found = item.annotations
    places = {said.target: said.value for said in found.attributes if said.label == "link"}
    spans = {place: found.entity(place).span for place in places}
    assert {spans[place]: value for place, value in places.items()} == {
        ROCKS[name]: link for name, link in LINKS.items()
    }
    assert len(found.entities) == 3


def test_tables_have_a_row_a_link(tmp_path: Path) -> None:
    path, _ = written(tmp_path, "csv", ".csv")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["kind"] == "attribute"]
    assert [row["value"] for row in rows] == [*LINKS.values()]


def test_what_has_no_place_for_links_counts_them(tmp_path: Path) -> None:
    assert written(tmp_path, "conll", ".conll")[1]["attribute"] == 2


def test_bioc_has_them_where_pubtator_has_them(tmp_path: Path) -> None:
    import bioc

    path, _ = written(tmp_path, "bioc", ".xml")
    [document] = bioc.load(str(path)).documents
    infons = [one.infons.get("identifier") for one in document.passages[0].annotations]
    assert infons == [*LINKS.values(), None]


def test_pubtator_and_brat_lines(tmp_path: Path) -> None:
    path, _ = written(tmp_path, "pubtator", ".pubtator")
    columns = [line.split("\t") for line in path.read_text("utf-8").splitlines() if "\t" in line]
    assert [row[5] for row in columns] == [*LINKS.values(), "-"]
    folder, _ = written(tmp_path, "brat", "")
    lines = (folder / "r1.ann").read_text("utf-8").splitlines()
    assert [line.split("\t")[1] for line in lines if line[0] == "N"] == [
        f"Reference T{number} {link}" for number, link in enumerate(LINKS.values(), start=1)
    ]
