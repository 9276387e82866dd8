"""One paper from two databases is kept once, and nothing that anybody decided is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Layer
from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import text_hash
from sciextract.documents.schema_file import load_schema
from sciextract.snapshot.documents import split_of
from sciextract.snapshot.gathering import Gathering
from sciextract.store import Project, create_project
from sciextract.workflows.import_files import ImportListener, ImportReport, import_files

SHORT = "We use tree kernels for dependency parsing of old ship logs."
LONG = f"{SHORT} They improve parsing on the Harbour treebank by two points."


@pytest.fixture
def project(tmp_path: Path) -> Any:
    with create_project(tmp_path / "p.sciextract", load_schema("scierc"), "anna") as made:
        yield made


def bring(project: Project, name: str, *records: dict[str, Any], **options: Any) -> ImportReport:
    path = project.path.with_name(name)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return import_files(project, [str(path)], **options)


def texts(project: Project) -> list[str]:
    return [project.document(number).document.text for number in project.numbers()]


def test_the_longer_text_and_the_metadata_of_both_are_kept(project: Project) -> None:
    bring(project, "a.jsonl", {"id": "a", "abstract": SHORT, "doi": "10.5555/ab", "year": 2019})
    second = {"id": "b", "abstract": LONG, "DOI": "https://doi.org/10.5555/AB", "pmid": 31}
    report = bring(project, "b.jsonl", second)
    counts = report.to_json()
    assert (counts["documents"], counts["already"], counts["longer"]) == (0, {"a.jsonl": 1}, 1)
    [kept] = [project.document(number).document for number in project.numbers()]
    known = bibliography_of(kept.fields)
    assert (kept.text, kept.doc_key) == (LONG, "a")
    assert (known.doi, known.year, known.pmid) == ("10.5555/ab", 2019, "31")
    # The same files again change nothing, in either order.
    bring(project, "b.jsonl", second)
    bring(project, "a.jsonl", {"id": "a", "abstract": SHORT, "doi": "10.5555/ab", "year": 2019})
    assert texts(project) == [LONG]
    # By what the second record alone had.
    assert bring(project, "c.jsonl", {"id": "c", "abstract": "Kernels.", "pmid": "31"}).papers
    project.undo(3)
    assert texts(project) == [SHORT]


def test_a_text_with_decisions_stays(project: Project) -> None:
    bring(project, "a.jsonl", {"id": "a", "abstract": SHORT, "doi": "10.5555/ab"})
    project.actions.mark_done(project.numbers()[0], tuple(Layer), "accept")
    heard: list[str] = []
    listener = ImportListener(warned=lambda key, words: heard.append(f"{key}: {words[0]}"))
    bring(project, "b.jsonl", {"id": "b", "abstract": LONG, "doi": "10.5555/ab"}, listener=listener)
    assert texts(project) == [SHORT]
    assert heard == ["b: here already as 'a', annotated: its text stays"]


def test_annotations_are_never_left_out(project: Project) -> None:
    bring(project, "a.jsonl", {"id": "a", "abstract": LONG, "doi": "10.5555/ab"})
    gold = {
        "id": "b",
        "sentences": [["Tree", "kernels", "rank", "ships", "."]],
        "doi": "10.5555/ab",
    }
    report = bring(project, "b.jsonl", gold | {"ner": [[[0, 1, "Method"]]], "doc_key": "b"})
    assert (report.counts.documents, report.counts.items, report.warned) == (1, 1, 1)
    assert len(texts(project)) == 2


def test_other_papers_and_wanted_copies_are_kept(project: Project) -> None:
    first = {"id": "a", "title": "Kernels for ship logs", "abstract": SHORT, "doi": "10.5555/ab"}
    other = {"id": "b", "title": "Volunteers read weather reports", "abstract": "Storms are read."}
    report = bring(project, "a.jsonl", first, other | {"doi": "10.5555/ab"})
    assert (report.counts.documents, report.warned) == (2, 1)
    copy = first | {"abstract": LONG}
    assert bring(project, "c.jsonl", copy, keep_duplicates=True).counts.documents == 1
    report = bring(project, "d.jsonl", {"id": "a", "abstract": "Another text of this key."})
    assert (report.counts.documents, report.warned) == (1, 1)


def test_two_texts_of_a_paper_lie_in_one_split(project: Project) -> None:
    def split_by_text(text: str) -> str:
        return split_of(text_hash(text)).value

    # Of many endings, one that its own hash would put into another split.
    variants = (f"{LONG} Remark {number} says more about it." for number in range(100))
    other = next(variant for variant in variants if split_by_text(variant) != split_by_text(SHORT))
    bring(project, "a.jsonl", {"id": "a", "abstract": SHORT, "doi": "10.5555/ab"})
    copy = {"id": "b", "abstract": other, "doi": "10.5555/ab"}
    bring(project, "b.jsonl", copy, {"id": "c", "abstract": "Alone."}, keep_duplicates=True)
    for number in project.numbers():
        project.actions.mark_done(number, tuple(Layer), "accept")
    found = {
        document.annotated.document.text: split.value
        for split, document in Gathering(project).documents()
    }
    alone = {"Alone.": split_by_text("Alone.")}
    assert found == {SHORT: split_by_text(SHORT), other: split_by_text(SHORT)} | alone
