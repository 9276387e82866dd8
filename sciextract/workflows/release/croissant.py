"""A release described for machines: Croissant 1.0, which ``mlcroissant`` and search engines for data sets read."""

from __future__ import annotations

import json
from typing import Any

from sciextract.text.characters import visible
from sciextract.workflows.release.contents import Contents, fields_of

_WORDS = (
    *("citeAs", "column", "extract", "field", "fileObject", "jsonPath", "recordSet", "repeated"),
    *("source", "subField", "transform"),
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{word: f"cr:{word}" for word in _WORDS},
}


def describe_croissant(contents: Contents) -> str:
    """The corpus as JSON-LD: a file and a set of records for each split.

    The vocabulary is that of https://docs.mlcommons.org/croissant/docs/croissant-spec.html.
    """
    files, sets = [], []
    for split, (path, sha256) in contents.data.items():
        about = {"@type": "cr:FileObject", **dict.fromkeys(("@id", "name", "contentUrl"), path)}
        files.append(about | {"encodingFormat": "application/jsonlines", "sha256": sha256})
        fields = fields_of(contents.with_text).items()
        described = [_describe_field(f"{split}/{name}", kind, path, name) for name, kind in fields]
        sets.append({"@type": "cr:RecordSet", "@id": split, "name": split, "field": described})
    terms = contents.terms
    values = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": visible(contents.name),
        "description": contents.description,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": terms.licence,
        **({"citeAs": terms.citation} if terms.citation else {}),
        "datePublished": contents.changed_at,
        "distribution": files,
        "recordSet": sets,
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def _describe_field(place: str, kind: Any, path: str, column: str, key: str = "") -> dict[str, Any]:
    """A field of a set of records; a ``key`` is taken from each item of its column."""
    values: dict[str, Any] = {"@type": "cr:Field", "@id": place, "name": place}
    inner = kind
    while isinstance(inner, list):
        inner = inner[0]
    if isinstance(inner, dict):
        each = [_describe_field(f"{place}/{k}", v, path, column, k) for k, v in inner.items()]
        return {**values, "repeated": True, "subField": each}
    source: dict[str, Any] = {"fileObject": {"@id": path}, "extract": {"column": column}}
    if key:
        source["transform"] = {"jsonPath": key}
    elif isinstance(kind, list):
        values["repeated"] = True
    return {**values, "dataType": "sc:Integer" if inner == "int64" else "sc:Text", "source": source}
