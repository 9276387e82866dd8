"""What infons of BioC mean: labels, scores, and the bibliographic fields that PubMed's files carry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sciextract.formats.corpora.bioc_text import Passage
from sciextract.formats.json_lines import Record

_ENTITY_KEYS = ("type", "label", "entity", "entity_type", "category")
_RELATION_KEYS = ("type", "relation", "relation type", "relation_type", "label")
_LABEL_KEYS = frozenset({*_ENTITY_KEYS, *_RELATION_KEYS})
#: Infons of passages in the BioC files of PubMed and PubMed Central.
INFON_NAMES = {
    "pmid": "article-id_pmid",
    "doi": "article-id_doi",
    "year": "year",
    "venue": "journal",
}
_AUTHOR = re.compile(r"surname:([^;]*)(?:;given-names:(.*))?")


def label_of(infons: Mapping[str, Any]) -> str:
    """The type of an annotation, empty when it has none."""
    return _first(infons, _ENTITY_KEYS)


def relation_label_of(infons: Mapping[str, Any]) -> str:
    """The type of a relation, empty when it has none."""
    return _first(infons, _RELATION_KEYS)


def score_of(infons: Mapping[str, Any]) -> float | None:
    """The infon ``score`` where it is a probability."""
    try:
        score = float(infons.get("score", ""))
    except (TypeError, ValueError):
        return None
    return score if 0 <= score <= 1 else None


def unused(infons: Mapping[str, Any]) -> dict[str, Any]:
    """The infons that are neither the label nor the score."""
    label = label_of(infons) or relation_label_of(infons)
    rest = {
        key: value for key, value in infons.items() if key not in _LABEL_KEYS or str(value) != label
    }
    if score_of(infons) is not None:
        del rest["score"]
    return rest


def bibliography(record: Record, passages: Sequence[Passage]) -> dict[str, Any]:
    """``title``, ``pmid``, ``doi``, ``year``, ``venue`` and ``authors``, as far as the document has them."""
    infons: dict[str, Any] = {}
    for passage in reversed(passages):
        infons |= passage.infons
    own = record.get("infons")
    infons |= own if isinstance(own, dict) else {}
    fields: dict[str, Any] = {
        name: str(infons[key]) for name, key in INFON_NAMES.items() if infons.get(key)
    }
    if not fields.get("year", "0").isdecimal():
        del fields["year"]
    elif "year" in fields:
        fields["year"] = int(fields["year"])
    if "pmid" not in fields and isinstance(record.get("pmid"), int):
        fields["pmid"] = str(record["pmid"])
    if authors := _authors(infons):
        fields["authors"] = authors
    for passage in passages[:1]:
        if "title" in passage.kind and (title := " ".join(text for _, text in passage.pieces)):
            fields["title"] = title
    return fields


def _authors(infons: Mapping[str, Any]) -> list[str]:
    """``name_0``, ``name_1``... of PubMed Central as ``Family, Given``."""
    authors = []
    number = 0
    while found := _AUTHOR.fullmatch(str(infons.get(f"name_{number}", ""))):
        authors.append(", ".join(part for part in found.groups() if part))
        number += 1
    return authors


def _first(infons: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = infons.get(key)
        if isinstance(value, str | int) and str(value):
            return str(value)
    return ""
