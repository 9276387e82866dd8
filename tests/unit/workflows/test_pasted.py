"""Pasted abstracts: what is recognised, and what comes into the project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.errors import FormatError, SchemaError, UsageError
from sciextract.store import Project, create_project
from sciextract.workflows.import_files import ImportListener
from sciextract.workflows.pasted import import_pasted, look

BIB = """
@article{reed1999, title={Parsers of reed}, abstract={A parser learns grammars.}, year={1999}}
@article{moss2001, title={Moss}, abstract={Graphs of moss help taggers.}, year={2001}}
"""
RIS = "TY  - JOUR\nTI  - Moss\nAB  - Graphs of moss help taggers.\nER  - \n"
NBIB = "\nPMID- 123\nTI  - Moss\nAB  - Graphs of moss help taggers.\n"
JSONL = '{"id": "a", "text": "One parser."}\n{"id": "b", "text": "Two parsers."}\n'
CSV = "id,title,abstract\n1,Moss,Graphs of moss.\n2,Reed,Parsers of reed.\n"
PLAIN = "Graphs of moss help taggers.\nThey do.\n\nA parser learns grammars.\n"
TODAY = date(2031, 5, 4)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with create_project(tmp_path / "p.sciextract", load_schema("scierc"), "ann") as found:
        yield found


def keys(project: Project) -> list[str]:
    rows = project.connection.execute("SELECT doc_key FROM document ORDER BY id")
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("text", "title", "documents"),
    [
        (BIB, "BibTeX", 2),
        (RIS, "RIS", 1),
        (NBIB, "MEDLINE", 1),
        (JSONL, "JSONL", 2),
        (CSV, "comma", 2),
        (PLAIN, "plain text, one abstract a paragraph", 2),
        ("Only words", "plain text", 1),
        ("\ufeff" + BIB, "BibTeX", 2),
        ('[\n{"id": "a", "DOI": "10.1/x", "title": "T", "abstract": "Moss."}\n]', "CSL", 1),
    ],
)
def test_formats_are_recognised(text: str, title: str, documents: int) -> None:
    *_, last = look(text)
    assert title in last.title
    assert (last.documents, last.bad, last.problem) == (documents, 0, "")


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff"])
def test_blank_texts_hold_nothing(text: str, project: Project) -> None:
    *_, last = look(text)
    assert last.documents == 0
    assert last.problem
    with pytest.raises((UsageError, FormatError)):
        import_pasted(project, text)
    assert keys(project) == []


def test_what_is_not_read_is_named(project: Project) -> None:
    (found,) = look("<html><body>Moss.</body></html>")
    assert (found.documents, found.problem) == (0, "this is an HTML page, which is not supported")
    with pytest.raises(FormatError, match="HTML page"):
        import_pasted(project, "<html><body>Moss.</body></html>")


def test_records_come_one_by_one() -> None:
    assert [preview.documents for preview in look(BIB)] == [1, 2, 2]


def test_bad_records_are_counted() -> None:
    *_, last = look('{"id": "a", "text": "One."}\n{"id": broken\n')
    assert (last.documents, last.bad) == (1, 1)


def test_escapes_are_kept_and_harm_nothing(project: Project) -> None:
    text = "Graphs \x1b[31mof\x1b[0m moss\x07 [12].\n\nA\x00 parser."
    import_pasted(project, text, today=TODAY)
    assert [project.document_state(n).text for n in project.numbers()] == text.split("\n\n")


def test_one_step_takes_it_back(project: Project) -> None:
    report = import_pasted(project, BIB, today=TODAY)
    assert report.counts.documents == 2
    project.undo()
    assert project.numbers() == []


def test_the_source_is_named_by_the_day(project: Project) -> None:
    for text in (PLAIN, "Another text.", BIB):
        import_pasted(project, text, today=TODAY)
    assert {name for name in project.sources.values() if name.startswith("import:")} == {
        "import:pasted-2031-05-04.txt",
        "import:pasted-2031-05-04-2.txt",
        "import:pasted-2031-05-04-3.bib",
    }
    assert keys(project)[:3] == [
        "pasted-2031-05-04:1",
        "pasted-2031-05-04:4",
        "pasted-2031-05-04-2:1",
    ]
    assert not any("/" in str(event.params) for event in project.log())


def test_keys_do_not_collide(project: Project) -> None:
    import_pasted(project, BIB)
    import_pasted(project, "@misc{moss2001, title={Moss}, abstract={Something else.}}")
    assert keys(project) == ["reed1999", "moss2001", "moss2001-2"]


def test_a_known_text_keeps_its_key(project: Project) -> None:
    import_pasted(project, BIB)
    report = import_pasted(project, BIB)
    assert (report.counts.documents, report.counts.known) == (0, 2)
    assert keys(project) == ["reed1999", "moss2001"]


def test_the_same_key_twice_in_one_paste(project: Project) -> None:
    text = "\n".join(json.dumps({"id": "a", "text": f"Text {number}."}) for number in range(3))
    import_pasted(project, text)
    assert keys(project) == ["a", "a-2", "a-3"]


def test_problems_name_the_paste_and_no_file_of_ours(project: Project) -> None:
    bad: list[FormatError] = []
    listener = ImportListener(bad_record=bad.append)
    import_pasted(project, JSONL + "{broken\n", listener=listener, today=TODAY)
    assert [record.place for record in bad] == ["pasted-2031-05-04.jsonl:3:2"]


def test_labels_that_the_schema_lacks(project: Project) -> None:
    text = '{"doc_key": "a", "sentences": [["Moss"]], "ner": [[[0, 0, "Plant"]]]}'
    with pytest.raises(SchemaError, match="Plant"):
        import_pasted(project, text)
    assert keys(project) == []
