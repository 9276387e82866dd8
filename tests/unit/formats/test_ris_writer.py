from __future__ import annotations

from pathlib import Path

from sciextract.documents.annotations import Annotations, Attribute, Entity, Span, State
from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.project_state import ProjectState
from sciextract.documents.schema_file import parse_schema
from sciextract.formats import open_writer, read
from tests.shared_data import ROOT

SCHEMA = parse_schema(
    {
        "name": "review",
        "entities": [],
        "attributes": [
            {"label": "included", "key": "i", "on": ["abstract"]},
            {"label": "design", "key": "d", "on": ["abstract"], "kind": "choice",
             "values": ["cohort", "trial"]},
        ],
    },
    "test",
)  # fmt: skip


def documents(path: Path) -> list[AnnotatedDocument]:
    return [found for found in read([str(path)]) if isinstance(found, AnnotatedDocument)]


def write(path: Path, *found: AnnotatedDocument) -> dict[str, int]:
    path.unlink(missing_ok=True)
    writer = open_writer("ris", path, schema=SCHEMA)
    for document in found:
        writer.write(document)
    writer.close()
    return dict(writer.losses)


def test_a_library_comes_back_as_it_was(tmp_path: Path) -> None:
    for name in ("library.ris", "library.bib", "pubmed.nbib"):
        before = documents(ROOT / "sample_data" / name)
        write(tmp_path / "back.ris", *before)
        after = documents(tmp_path / "back.ris")
        for old, new in zip(before, after, strict=True):
            assert bibliography_of(new.document.fields) == bibliography_of(old.document.fields)
            assert new.document.text.split() == old.document.text.split()
            assert new.document.doc_key == old.document.doc_key


def test_what_was_decided_becomes_keywords_and_replaces_what_was_decided_before(
    tmp_path: Path,
) -> None:
    record = "TY  - JOUR\nTI  - Salt\nKW  - stone\nN1  - mine\nVL  - 3\nAB  - Salt decays stone.\nID  - a\nER  - \n"
    (tmp_path / "in.ris").write_text(record, "utf-8")
    [plain] = documents(tmp_path / "in.ris")

    def said(*attributes: Attribute, note: str) -> AnnotatedDocument:
        entity = Entity("e", (Span(0, 4),), "Salt", state=State.ADDED)
        found = Annotations((entity,), attributes=attributes)
        return AnnotatedDocument(plain.document, found, project_state=ProjectState(note=note))

    included = Attribute("1", "", "included", state=State.ADDED)
    trial = Attribute("2", "", "design", "trial", state=State.ADDED)
    losses = write(tmp_path / "out.ris", said(included, trial, note="check\nER  - "))
    assert losses == {"entity": 1}
    [out] = documents(tmp_path / "out.ris")
    assert out.document.fields["keywords"] == ["stone", "included", "design: trial"]
    assert out.document.fields["N1"] == ["mine", "sciextract: check ER -"]
    assert out.document.fields["VL"] == "3"
    plain = out
    cohort = Attribute("2", "", "design", "cohort", state=State.EDITED)
    write(tmp_path / "again.ris", said(cohort, note=""))
    [again] = documents(tmp_path / "again.ris")
    assert again.document.fields["keywords"] == ["stone", "design: cohort"]
    assert again.document.fields["N1"] == "mine"
