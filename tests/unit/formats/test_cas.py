"""UIMA CAS JSON: recognised, read with its own types, and refused with the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, read

SPAN = {"%ID": 2, "%TYPE": "custom.Span", "@sofa": 1, "begin": 8, "end": 10, "kind": "Emoji"}
OTHER = {"%ID": 3, "%TYPE": "custom.Span", "@sofa": 1, "begin": 0, "end": 2, "kind": "Who"}
RELATION = {"%ID": 4, "%TYPE": "custom.Relation", "@sofa": 1, "begin": 0, "end": 2}
RELATION |= {"@Governor": 2, "@Dependent": 3, "label": "with"}
TYPES = {
    "custom.Span": {
        "%NAME": "custom.Span",
        "%SUPER_TYPE": "uima.tcas.Annotation",
        "kind": {"%NAME": "kind", "%RANGE": "uima.cas.String"},
    }
}


def cas(*structures: dict[str, Any], text: str | None = "We rank 😀 proteins.") -> dict[str, Any]:
    sofa = {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": text}
    array = {"%ID": 9, "%TYPE": "uima.cas.FSArray", "%ELEMENTS": [2]}
    return {"%TYPES": TYPES, "%FEATURE_STRUCTURES": [sofa, array, *structures], "%VIEWS": {}}


@pytest.mark.parametrize("indent", [None, 2])
def test_it_is_known_and_read(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "made.json"
    path.write_text(json.dumps(cas(SPAN, OTHER, RELATION), indent=indent), "utf-8")
    [found] = read([path])
    assert isinstance(found, AnnotatedDocument)
    text, items = found.document.text, found.annotations
    mentions = [(each.text_of(text), each.label) for each in items.entities]
    assert mentions == [("😀", "Emoji"), ("We", "Who")]
    [relation] = items.relations
    assert (items.entity(relation.head).label, relation.label) == ("Emoji", "with")
    assert (found.document.doc_key, found.warnings) == ("made", ())


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (cas(SPAN | {"end": 99}), "Span with id 2.end: UTF-16 offset 99 lies outside"),
        (cas(SPAN | {"begin": "x"}), "Span with id 2.begin: 'x' found; expected a whole number"),
        (cas(SPAN, SPAN), "the id occurs a second time"),
        (cas(SPAN, RELATION), "Relation with id 4.Dependent: '3' found"),
        (cas(text=None), "no text: there is no sofaString"),
        ({"%FEATURE_STRUCTURES": 5}, "%FEATURE_STRUCTURES: 5 found; expected a list"),
        (cas(SPAN) | {"%TYPES": {"custom.Span": 1}}, "%TYPES.'custom.Span': 1 found"),
    ],
)
def test_a_broken_cas_names_the_place(tmp_path: Path, value: object, problem: str) -> None:
    path = tmp_path / "made.json"
    path.write_text(json.dumps(value), "utf-8")
    [bad] = read([path])
    assert isinstance(bad, BadRecord) and problem in bad.error.message
