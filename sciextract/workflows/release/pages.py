"""The pages of a release: its card (``README.md``) and annotation guideline for people, which no text can bring markup into, and
its description for machines: Croissant 1.0, which ``mlcroissant`` and search engines for data sets read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent
from typing import Any

from sciextract.documents.annotations import Layer
from sciextract.documents.schema import EntityType, RelationType
from sciextract.text.characters import visible
from sciextract.workflows.release.contents import Contents, fields_of
from sciextract.workflows.release.figures import LONGEST_MENTION, TOKENS_A_BIN, as_markdown

_BAR = 30
_SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
_COUNTED = ("documents", "sentences", "tokens", "entities", "relations", "clusters")
_UNTYPED = "(no type)"
_NO_TEXTS = """The texts are not part of the corpus. Whoever has them in a file that sciextract reads (`abstracts.bib`, say) fills them in;
each must have the SHA-256 that its record names:

```console
$ sciextract convert data/train.jsonl --texts abstracts.bib --to jsonl --output train.jsonl
```
"""


def write_card(contents: Contents) -> str:
    """The dataset card: metadata as the Hugging Face hub and ``datasets`` read it, then contents and figures."""
    figures, splits = contents.figures, list(contents.data)
    rows: list[tuple[object, ...]]
    lines = [
        *("---", *_metadata(contents), "---", "", f"# {as_markdown(contents.name)}", ""),
        as_markdown(contents.description) + ".",
        "The split of an abstract follows from the hash of its text, so that it stays the same when others are added.",
        *("", "## Contents", ""),
    ]
    rows = [(kind, *(figures.totals[split, kind] for split in splits)) for kind in _COUNTED]
    lines += _table(("", *splits), rows)
    lines += ["", "## Labels", ""]
    rows = []
    for layer, label, _ in _labels(contents):
        counts = (figures.labels[layer, label, split] for split in splits)
        rows.append((layer, as_markdown(label) or _UNTYPED, *counts))
    lines += _table(("", "label", *splits), rows)
    lines += ["", "## Lengths", ""]
    lines += _histogram("tokens of an abstract", figures.abstracts, TOKENS_A_BIN)
    lines += ["", *_histogram("tokens of a mention", figures.mentions, last=LONGEST_MENTION)]
    lines += [
        *("", "## How it was annotated", ""),
        "Unfinished abstracts are part of it."
        if contents.everything
        else "Every abstract is finished.",
        "`accepted` and `edited` items were proposed by their source and decided by a person, `added` ones are a person's",
        "own, `imported` ones came with the abstracts. [guideline.md](guideline.md) has the labels with examples.",
        "",
    ]
    rows = []
    for source, state in sorted({made[:2] for made in figures.made}):
        counts = (figures.made[source, state, layer] for layer in Layer)
        rows.append((as_markdown(source), state, *counts))
    lines += _table(("source", "state", *Layer), rows)
    if contents.agreement:
        lines += [
            *("", "## Agreement", ""),
            f"Two people annotated {contents.agreement.documents:,} abstracts independently. How far they agreed before any",
            "difference was decided, with 95 % intervals; [agreement.json](agreement.json) has all counts:",
            "",
            *(f"    {visible(line)}" for line in contents.agreement.lines()),
        ]
    if not contents.with_text:
        lines += ["", "## Texts", "", *_NO_TEXTS.splitlines()]
    lines += ["", "## Licence", "", as_markdown(contents.terms.licence)]
    if contents.terms.citation:
        # Indented lines are shown as they are, whatever they hold.
        lines += ["", "## Citation", "", indent(visible(contents.terms.citation, "\n"), "    ")]
    return "\n".join(lines) + "\n"


def _metadata(contents: Contents) -> Iterator[str]:
    size = next((name for most, name in _SIZES.items() if contents.documents < most), "n>1M")
    paths = [{"split": split, "path": path} for split, (path, _) in contents.data.items()]
    fields = fields_of(contents.with_text).items()
    values = {
        "pretty_name": contents.name,
        "language": ["en"],
        **contents.terms.for_hub(),
        "task_categories": ["token-classification"],
        "tags": ["relation-extraction", "coreference-resolution", "scientific-text"],
        "size_categories": [size],
        "configs": [{"config_name": "default", "data_files": paths}],
        "dataset_info": {"features": [{"name": name, **_feature(kind)} for name, kind in fields]},
    }
    # JSON is YAML, too, and escapes whatever a name or a licence holds; YAML takes no control characters.
    for key, value in values.items():
        yield f"{key}: {visible(json.dumps(value, ensure_ascii=False))}"


def _feature(kind: Any) -> dict[str, Any]:
    """A type in the words of ``datasets``."""
    if not isinstance(kind, list):
        return {"dtype": kind}
    inner = kind[0]
    if isinstance(inner, dict):
        return {"list": [{"name": name, **_feature(value)} for name, value in inner.items()]}
    return {"list": _feature(inner) if isinstance(inner, list) else inner}


def _labels(contents: Contents) -> Iterator[tuple[Layer, str, EntityType | RelationType | None]]:
    """Labels of the schema in its order, then those that are used and not in it."""
    kinds: dict[Layer, Sequence[EntityType | RelationType]]
    kinds = {Layer.ENTITIES: contents.schema.entities, Layer.RELATIONS: contents.schema.relations}
    for layer, types in kinds.items():
        known: dict[str, EntityType | RelationType] = {type_.label: type_ for type_ in types}
        used = sorted(label for of, label, _ in contents.figures.labels if of is layer)
        for label in dict.fromkeys([*known, *used]):
            yield layer, label, known.get(label)


def _table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for cells in (header, ["---"] * len(header), *rows):
        yield f"| {' | '.join(map(str, cells))} |"


def _histogram(title: str, counts: Counter[int], width: int = 1, last: int = -1) -> Iterator[str]:
    """A table of how often each bin occurs, with bars; ``last`` stands for itself and all above."""
    most = max(counts.values(), default=1)
    rows = []
    for bin_ in range(min(counts, default=0), max(counts, default=-1) + 1):
        name = f"{bin_ * width} to {(bin_ + 1) * width - 1}" if width > 1 else f"{bin_}"
        name += " and more" if bin_ == last else ""
        rows.append((name, counts[bin_], "█" * round(_BAR * counts[bin_] / most)))
    return _table((title, "", ""), rows)


def write_guideline(contents: Contents) -> str:
    """The annotation guideline: what the schema says of each label, and what people accepted and rejected."""
    lines = [
        f"# Guideline of {as_markdown(contents.name)}",
        "",
        "Drafted from the label schema and from decisions in the train split.",
    ]
    shown = None
    for layer, label, about in _labels(contents):
        if layer is not shown:
            shown = layer
            lines += ["", f"## {layer.value.capitalize()}"]
        lines += ["", f"### {as_markdown(label) or _UNTYPED}"]
        if about and about.definition:
            lines += ["", as_markdown(about.definition)]
        if about and about.examples:
            lines += ["", f"Such as: {'; '.join(map(as_markdown, about.examples))}."]
        if isinstance(about, RelationType):
            pairs = ", ".join(" → ".join(map(as_markdown, pair)) for pair in about.pairs)
            lines += [
                "",
                f"From → to: {pairs or 'all entity types'}{', in either direction' * about.symmetric}.",
            ]
        for title, rejected in (("Accepted", False), ("Rejected", True)):
            found = contents.figures.examples.get((layer, label, rejected), {})
            if found and contents.with_text:
                lines += ["", f"{title}:", "", *(f"- {example}" for example in found.values())]
    return "\n".join(lines) + "\n"


_CROISSANT = (
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
    **{word: f"cr:{word}" for word in _CROISSANT},
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
        fields = [_describe_field(f"{place}/{k}", v, path, column, k) for k, v in inner.items()]
        return {**values, "repeated": True, "subField": fields}
    source: dict[str, Any] = {"fileObject": {"@id": path}, "extract": {"column": column}}
    if key:
        source["transform"] = {"jsonPath": key}
    elif isinstance(kind, list):
        values["repeated"] = True
    return {**values, "dataType": "sc:Integer" if inner == "int64" else "sc:Text", "source": source}
