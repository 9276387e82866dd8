"""What writers share that put mentions beside a text: names for labels, checks on spans and copies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sciextract.documents.annotations import Entity
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import OutputError
from sciextract.formats.base import shown
from sciextract.formats.items import live

LINE_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Every character at which some program ends a line."""

_BLANKED = re.compile(rf"\r\n|[\t{LINE_BREAKS}]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class LabelNames:
    """Names of labels in a file that refuses some characters: one name a label, never the same for two.

    Attributes:
        changed: Label by name, of those names that are not the label itself.
    """

    def __init__(self, refused: re.Pattern[str], untyped: str = "Mention") -> None:
        self._refused = refused
        self._untyped = untyped
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self.changed: dict[str, str] = {}

    def name_of(self, label: str) -> str:
        """The name that stands for ``label``; the same at every call."""
        if label not in self._names:
            name = self._free(self._refused.sub("_", label) or self._untyped)
            self._names[label] = name
            self._taken.add(name)
            if name != label:
                self.changed[name] = label
        return self._names[label]

    def _free(self, base: str) -> str:
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        return name


def live_entities(annotated: AnnotatedDocument) -> list[Entity]:
    """The entities to be written, each known to lie in the text.

    Raises:
        OutputError: A fragment is empty or leaves the text.
    """
    length = len(annotated.document.text)
    entities = live(annotated.annotations.entities)
    for entity in entities:
        for span in entity.fragments:
            if not 0 <= span.char_start < span.char_end <= length:
                found = f"[{span.char_start}, {span.char_end}) found"
                key = shown(annotated.document.doc_key)
                problem = f"{found}, allowed are ranges from 0 to {length} that are not empty"
                raise OutputError(f"doc_key {key}: entity {entity.id}: {problem}")
    return entities


def one_line(text: str) -> str:
    """The text with a space for each tab and line break; its length stays.

    >>> one_line("a\\tb")
    'a b'
    """
    return _BLANKED.sub(lambda match: " " * len(match.group()), text)


def repeats(written: str, fragments: Sequence[str]) -> bool:
    """Whether a file's copy of a mention is the mention; tabs and line breaks may have become spaces.

    Fragments are joined by one space, in old files by nothing.
    """
    for joined in (" ".join(fragments), "".join(fragments)):
        if written in (joined, one_line(joined), _BLANKED.sub(" ", joined)):
            return True
    return False


def encodable(text: str, losses: Counter[str]) -> str:
    """The text with U+FFFD for lone surrogates, which UTF-8 cannot hold; counts texts that have some."""
    if not _LONE_SURROGATE.search(text):
        return text
    losses["text with lone surrogates"] += 1
    return without_surrogates(text)


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for lone surrogates."""
    return _LONE_SURROGATE.sub("\ufffd", text)
