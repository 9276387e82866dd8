"""Records of OpenAlex, Europe PMC and DataCite, and abstracts under other names in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read

INDEX = {"We": [0], "fold": [1, 3], "sheets": [2], "lattices.": [4]}
ABSTRACT = "We fold sheets fold lattices."
WORK = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.5555/A",
    "display_name": "Sheets",
    "publication_year": 2019,
    "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/12"},
    "primary_location": {"source": {"display_name": "J Made"}},
    "authorships": [{"author": {"display_name": "Ada van Doe"}}],
    "abstract_inverted_index": INDEX,
}
ARTICLE = {
    "id": "12",
    "pmid": "12",
    "doi": "10.5555/a",
    "title": "Sheets",
    "authorString": "Doe A.",
    "authorList": {"author": [{"firstName": "Ada", "lastName": "van Doe"}]},
    "journalInfo": {"journal": {"title": "J Made"}},
    "pubYear": "2019",
    "abstractText": ABSTRACT,
}
DATACITE: dict[str, Any] = {
    "id": "10.5555/a",
    "attributes": {
        "doi": "10.5555/A",
        "titles": [{"title": "Sheets"}],
        "creators": [{"name": "van Doe, Ada"}],
        "container": {"title": "J Made"},
        "publicationYear": 2019,
        "descriptions": [
            {"description": "By hand.", "descriptionType": "Methods"},
            {"description": ABSTRACT, "descriptionType": "Abstract"},
        ],
    },
}


def documents_of(path: Path, text: str) -> list[AnnotatedDocument]:
    path.write_text(text, encoding="utf-8")
    return [item for item in read([path]) if isinstance(item, AnnotatedDocument)]


@pytest.mark.parametrize(
    ("record", "page"),
    [
        (WORK, {"meta": {"count": 2}, "results": [WORK, WORK]}),
        (ARTICLE, {"hitCount": 2, "resultList": {"result": [ARTICLE, ARTICLE]}}),
        (DATACITE, {"data": [DATACITE, DATACITE], "meta": {"total": 2}}),
    ],
)
def test_records_are_read_in_every_layout(
    tmp_path: Path, record: dict[str, Any], page: dict[str, Any]
) -> None:
    line = json.dumps(record) + "\n"
    layouts = (json.dumps(page), json.dumps(page, indent=2), json.dumps([record] * 2), line * 2)
    for layout in layouts:
        first, second = documents_of(tmp_path / "made.json", layout)
        assert first.document.text == second.document.text == f"Sheets\n{ABSTRACT}"
        fields = first.document.fields
        assert (fields["year"], fields["doi"], fields["venue"]) == (2019, "10.5555/a", "J Made")
        assert fields["authors"] == ["van Doe, Ada"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("paperAbstract", ABSTRACT),
        ("abstractText", ABSTRACT),
        ("summary", ABSTRACT),
        ("Abstract", ABSTRACT),
        ("SUMMARY", ABSTRACT),
        ("abstract", [ABSTRACT[:7], ABSTRACT[8:]]),
    ],
)
def test_an_abstract_under_another_name_is_the_abstract(
    tmp_path: Path, name: str, value: object
) -> None:
    for title in ("title", "Title"):
        record = {"id": 1, title: "Sheets", name: value}
        (found,) = documents_of(tmp_path / "made.jsonl", json.dumps(record))
        assert found.document.text == f"Sheets\n{ABSTRACT}"


def test_one_record_of_datacite_and_what_is_no_work(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path / "made.json", json.dumps({"data": DATACITE}))
    assert found.document.doc_key == "10.5555/A" and found.document.text.endswith(ABSTRACT)
    author = {"id": "https://openalex.org/A1", "display_name": "Ada van Doe"}
    assert not documents_of(tmp_path / "made.jsonl", json.dumps(author))


def test_csl_takes_a_list_as_its_abstract(tmp_path: Path) -> None:
    item = {"id": "a", "title": "Sheets", "DOI": "10.5555/a", "abstract": [ABSTRACT]}
    (found,) = documents_of(tmp_path / "made.json", json.dumps([item]))
    assert found.document.text == f"Sheets\n{ABSTRACT}"
