from __future__ import annotations

import json
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
    writer = open_writer("ris" if path.suffix == ".ris" else "csl", path, schema=SCHEMA)
    for document in found:
        writer.write(document)
    writer.close()
    return dict(writer.losses)


def test_a_library_comes_back_as_it_was(tmp_path: Path) -> None:
    for name in ("library.ris", "library.bib", "pubmed.nbib"):
        before = documents(ROOT / "sample_data" / name)
        for back in ("back.ris", "back.json"):
            write(tmp_path / back, *before)
            after = documents(tmp_path / back)
            for old, new in zip(before, after, strict=True):
                fields = new.document.fields
                assert bibliography_of(fields) == bibliography_of(old.document.fields)
                assert fields.get("keywords") == old.document.fields.get("keywords")
                assert new.document.text.split() == old.document.text.split()
                assert new.document.doc_key == old.document.doc_key


def test_zotero_gets_its_records_back_with_what_was_decided(tmp_path: Path) -> None:
    record = {
        "id": "http://zotero.org/1", "citation-key": "roe25", "type": "chapter", "title": "Salt", "abstract": "Salt decays stone.",
        "container-title": "Stones", "volume": "3", "issued": {"date-parts": [["2025", 3, 2]]}, "DOI": "10.5555/salt",
        "author": [{"family": "Roe", "given": "Ada"}, {"literal": "The Salt Group"}], "keyword": "stone, salt",
        "note": "mine\nand more",
    }  # fmt: skip
    (tmp_path / "in.json").write_text(json.dumps([record]), "utf-8")
    [plain] = documents(tmp_path / "in.json")
    state = ProjectState(note="check")
    for value in ("cohort", "trial"):  # the second export replaces what the first one left
        said = Annotations(attributes=(Attribute("1", "", "design", value, state=State.ADDED),))
        write(tmp_path / "out.json", AnnotatedDocument(plain.document, said, project_state=state))
        [plain] = documents(tmp_path / "out.json")
        [out] = json.loads((tmp_path / "out.json").read_text("utf-8"))
        note = "mine\nand more\nsciextract: check"
        assert out == record | {"keyword": f"stone, salt, design: {value}", "note": note}


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
