"""Items as annotation tools have them, with clusters from links; what the readers and writers of tools share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from sciextract.documents.annotations import Annotations, Entity, State
from sciextract.formats.corpus_items import UNLABELLED, CorpusItems, warnings_of

COREFERENCE = "COREF"
"""The label of relations that link mentions of the same thing, as Prodigy's coreference recipe has it."""

BIBLIOGRAPHIC = ("title", "year", "doi", "pmid", "venue", "authors", "url", "keywords")
"""Names of the bibliographic fields of a document."""


class ImportedItems(CorpusItems):
    """The items of one document as annotation tools have them.

    Relations labelled ``COREF`` link the mentions of a cluster; equal relations are kept apart. ``remarks`` count
    what was not read as it stands, by kind.
    """

    _SECOND: ClassVar[int] = 1

    def __init__(
        self, doc_key: str, source: str, state: State = State.IMPORTED, owner: str = ""
    ) -> None:
        super().__init__(doc_key, source, state, owner)
        self.remarks: Counter[str] = Counter()
        self._links: list[tuple[Entity, Entity]] = []

    def add_relation(
        self, head: Entity, tail: Entity, label: str, score: float | None = None
    ) -> None:
        """A new relation, or a link between two mentions of a cluster."""
        if label == COREFERENCE:
            self._links.append((head, tail))
            return
        if not label:
            self.remarks[f"relation without a label, read as {UNLABELLED!r}"] += 1
        ends = (head.id, tail.id, label or UNLABELLED)
        self._relation(self._own_id("relation", *ends), ends, score)

    def annotations(self) -> Annotations:
        """All items; links are joined into clusters, mentions in text order."""
        for mentions in self._linked():
            self._cluster([mention.id for mention in mentions], None)
        return super().annotations()

    def warnings(self) -> tuple[str, ...]:
        """One warning a kind, with its count."""
        return warnings_of(self.remarks)

    def _linked(self) -> list[list[Entity]]:
        groups: dict[str, dict[str, Entity]] = {}
        for head, tail in self._links:
            joined = groups.get(head.id, {head.id: head}) | groups.get(tail.id, {tail.id: tail})
            groups |= dict.fromkeys(joined, joined)
        unique = {id(group): group for group in groups.values()}.values()
        members = [sorted(group.values(), key=lambda each: each.span) for group in unique]
        return sorted(members, key=lambda each: each[0].span)


def score_of(value: Any) -> float | None:
    """``value`` if it is a probability."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def title_length_of(text: str, fields: Mapping[str, Any]) -> int:
    """How many characters at the start of a text are the title that its fields name, on a line of its own."""
    title = fields.get("title")
    is_first = isinstance(title, str) and title and text.startswith(f"{title}\n")
    return len(str(title)) if is_first else 0


def bibliographic(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The bibliographic fields of a document that have a value."""
    return {name: fields[name] for name in BIBLIOGRAPHIC if fields.get(name) not in (None, "", [])}
