"""What a reader kept without interpreting it, and how much of that another format has no place for."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from sciextract.documents.bibliography import Bibliography, bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Writer, shown

EVERYTHING = "*"
"""In :attr:`FormatSpec.holds` of formats that keep every field."""

#: Words for what lies in the field of a format, by key (``""`` stands for the others); ``None`` where it only
#: helps to write the file again, or manages a task: ids, dates, counters.
_WORDS: dict[str, dict[str, Any]] = {
    "bioc": {
        "unread": "bioc relation between concepts, or other item that is not interpreted",
        "collection": "bioc data of the collection",
        "infons": "bioc infon of a document",
        "annotations": "bioc identifier or other infon of an annotation",
        "relation_infons": "bioc infon of a relation",
        "passages": "bioc infons of a passage",
        **dict.fromkeys(("offset", "ranges", "refs")),
    },
    "brat": {
        "lines": "brat event, attribute, normalisation or note",
        **dict.fromkeys(("mentions", "relations", "groups")),
    },
    "conll": {"columns": "conll columns of a token", "comments": "conll comment"},
    "conll2012": {"": "conll2012 columns of a token"},
    "docbin": {"cats": "docbin category of a document"},
    "doccano": {},
    "labelstudio": {
        "": None,
        "annotation": {"": None, "results": "labelstudio result of another kind"},
    },
    "prodigy": {
        "": None,
        "spans": "prodigy span of a rejected or ignored task",
        "relations": "prodigy relation of a rejected or ignored task",
    },
    "pubtator": {
        "mentions": "pubtator identifier of a mention",
        "relations": "pubtator relation between identifiers",
    },
    "xmi": {"features": "xmi features of an item", "metadata": None},
}
#: What Prodigy adds to each task, and makes anew.
_MANAGED = frozenset(
    ("_input_hash", "_task_hash", "_view_id", "_session_id", "_annotator_id", "_timestamp")
)
_MOST_KINDS = 50
_OTHERS = "other fields"


class CountingWriter:
    """A writer that also counts, in the same ``losses``, what was kept and has no place in its format."""

    def __init__(self, writer: Writer, held: Container[str]) -> None:
        """Wrap ``writer``, whose format has a place for the fields ``held``: names, or ``FIELD.KEY``."""
        self._writer = writer
        self._held = held
        self.losses = writer.losses

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: The writer cannot write it.
        """
        self._writer.write(document)
        for kind, count in unheld(document.document.fields, self._held):
            if count:
                known = kind in self.losses or len(self.losses) < _MOST_KINDS
                self.losses[kind if known else _OTHERS] += count

    def close(self) -> None:
        """Flush, and close what the writer itself opened.

        Raises:
            OutputError: The writer cannot write it.
        """
        self._writer.close()


def unheld(fields: Mapping[str, Any], held: Container[str]) -> Iterator[tuple[str, int]]:
    """Kinds and counts of what lies in a document's fields and has no place among the fields ``held``.

    What describes the paper is left out: fields with bibliographic data, and beside them all values but lists
    with numbers in them, which refer to the text.
    """
    is_record = "keywords" in fields or "url" in fields or bibliography_of(fields) != Bibliography()
    for name, value in fields.items():
        if name in held or name in _MANAGED:
            continue
        if name in _WORDS and isinstance(value, Mapping | list):
            parts = value if isinstance(value, Mapping) else {"": value}
            free = {key: part for key, part in parts.items() if f"{name}.{key}" not in held}
            yield from _parts(free, _WORDS[name], f"other data of {name}")
        elif _has_content(value) and not (is_record and not _has_numbers(value)):
            yield f"field {shown(name)}", 1


def _parts(
    value: Mapping[str, Any], words: Mapping[str, Any], others: str
) -> Iterator[tuple[str, int]]:
    for key, part in value.items():
        kind = words.get(key, words.get("", others))
        if isinstance(kind, Mapping) and isinstance(part, Mapping):
            yield from _parts(part, kind, others)
        elif isinstance(kind, str):
            yield kind, _size(part)


def _size(value: object) -> int:
    if isinstance(value, Mapping | list):
        parts = value.values() if isinstance(value, Mapping) else value
        return sum(map(_has_content, parts))
    return int(_has_content(value))


def _has_content(value: object) -> bool:
    if isinstance(value, Mapping | list):
        return any(map(_has_content, value.values() if isinstance(value, Mapping) else value))
    return value not in (None, "")


def _has_numbers(value: object) -> bool:
    """Whether a list holds numbers, at whatever depth of lists."""
    return isinstance(value, list) and any(
        isinstance(each, int | float) or _has_numbers(each) for each in value
    )
