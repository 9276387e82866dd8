"""spaCy's Doc.to_json, PubAnnotation, JSON-MIN and doccano's objects, recognised by their content; DocRED is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read
from tests.shared_data import ROOT
from tests.unit.formats.tool_files import mentions, triples

TEXT = "Tree kernels rank proteins. They are fast."
BOTH = [("Method", "Tree kernels"), ("Material", "proteins")]


def span(start: int, end: int, label: str) -> dict[str, Any]:
    return {"start": start, "end": end, "label": label}


ENTS = [span(0, 12, "Method"), span(18, 26, "Material")]
SPACY = {"text": TEXT, "ents": ENTS, "tokens": [{"id": 0, "start": 0, "end": 4}]}
PUBANNOTATION = {
    "text": TEXT,
    "sourcedb": "PubMed",
    "sourceid": "12",
    "denotations": [
        {"id": "T1", "span": {"begin": 0, "end": 12}, "obj": "Method"},
        {"id": "T2", "span": {"begin": 18, "end": 26}, "obj": "Material"},
        {"id": "T3", "span": {"begin": 18, "end": 99}, "obj": "Material"},
    ],
    "relations": [
        {"id": "R1", "pred": "Used-for", "subj": "T1", "obj": "T2"},
        {"id": "R2", "pred": "Used-for", "subj": "T1", "obj": "T3"},
    ],
    "attributes": [{"id": "A1", "pred": "Negation", "subj": "T1", "obj": "true"}],
}


DOCRED = {
    "title": "Kernels",
    "sents": [["Tree", "kernels", "rank", "proteins", "."]],
    "vertexSet": [
        [{"name": "Tree kernels", "pos": [0, 2], "sent_id": 0, "type": "Method"}],
        [{"name": "proteins", "pos": [3, 4], "sent_id": 0, "type": "Material"}],
    ],
    "labels": [{"r": "P1", "h": 0, "t": 1, "evidence": [0]}],
}
REGION = {"start": 0, "end": 12, "text": "Tree kernels", "labels": ["Method"]}
JSON_MIN = {
    "text": TEXT,
    "id": 1,
    "label": [REGION, {"start": 18, "end": 26, "text": "proteins", "labels": ["Material"]}],
    "annotator": 1,
    "annotation_id": 1,
    "created_at": "2026-01-01",
    "lead_time": 3.2,
}


def document_of(folder: Path, content: object) -> AnnotatedDocument:
    (folder / "made.json").write_text(json.dumps(content), encoding="utf-8")
    (found,) = read([folder / "made.json"])
    assert isinstance(found, AnnotatedDocument), found
    return found


@pytest.mark.parametrize("content", [SPACY, PUBANNOTATION, JSON_MIN])
def test_entities_are_read_in_a_list_and_alone(tmp_path: Path, content: object) -> None:
    for layout in (content, [content]):
        found = document_of(tmp_path, layout)
        assert mentions(found) == BOTH


def test_the_span_group_of_spacy_comes_first_and_others_are_counted(tmp_path: Path) -> None:
    found = document_of(tmp_path, {**SPACY, "spans": {"sc": [ENTS[0], span(5, 99, "X")]}})
    assert mentions(found) == BOTH[:1]
    assert sorted(found.unread.values()) == [1, 1]


def test_pubannotation_keeps_what_fits(tmp_path: Path) -> None:
    found = document_of(tmp_path, PUBANNOTATION)
    assert found.document.doc_key == "PubMed:12" and found.document.fields["pmid"] == "12"
    assert triples(found) == [("Tree kernels", "Used-for", "proteins")]
    assert sorted(found.unread.values()) == [1, 1, 1]


@pytest.mark.parametrize("content", [DOCRED, [DOCRED]])
def test_docred_is_refused_with_advice(tmp_path: Path, content: object) -> None:
    with pytest.raises(FormatError, match="DocRED") as caught:
        document_of(tmp_path, content)
    assert "SciERC" in caught.value.hint


def test_labels_that_are_numbers_of_doccano_are_named(tmp_path: Path) -> None:
    span = {"label": 3, "start_offset": 0, "end_offset": 12, "user": 1}
    found = document_of(tmp_path, {"id": 1, "text": TEXT, "annotations": [span], "meta": {}})
    assert mentions(found) == [("3", "Tree kernels")]
    assert "name" in found.warnings[0]


@pytest.mark.parametrize(
    ("page", "language"), [("tools", "spacy-json"), ("corpora", "pubannotation")]
)
def test_the_examples_of_the_pages(tmp_path: Path, page: str, language: str) -> None:
    text = (ROOT / "docs" / "formats" / f"{page}.md").read_text("utf-8")
    (block,) = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    assert mentions(document_of(tmp_path, json.loads(block))) == BOTH


@pytest.mark.parametrize("indent", [None, 1])
def test_pairs_of_spacy_2_are_counted_with_advice(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "train.json"
    path.write_text(json.dumps([[TEXT, {"entities": [[0, 12, "Method"]]}]] * 2, indent=indent))
    bad = list(read([path]))
    assert [isinstance(item, BadRecord) and "jq -c" in item.error.hint for item in bad] == [
        True
    ] * 2
