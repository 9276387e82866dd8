"""Abstracts that leave a project, and new texts of those that are in it: the log keeps what was, undo brings it back."""

from __future__ import annotations

import json
import re
import sqlite3
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Annotations, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.papers import without_rights
from sciextract.store.document_state import Context, DocumentState, Outcome
from sciextract.store.finished import document_before
from sciextract.store.rows import (
    AttributeRow,
    Completeness,
    EntityRow,
    ItemRow,
    ProgressRow,
    RelationRow,
    covered_labels,
    edges_of,
    original_of,
)

if TYPE_CHECKING:
    from sciextract.store.project import Project

REMOVE = "remove"
_GONE = """SELECT d.id, e.id, coalesce(t.kind, e.kind) FROM document d
    JOIN change c ON c.seq = (SELECT max(seq) FROM change WHERE document_id = d.id)
    JOIN event e ON e.id = c.event_id LEFT JOIN event t ON t.id = e.target AND e.kind = 'redo'
    WHERE NOT EXISTS (SELECT 1 FROM progress p WHERE p.document_id = d.id)"""
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
#: Matching costs the square of the words; beyond, frequent words are only matched beside others.
_MANY_WORDS = 1000
#: Of two texts by their words, of two passages by their characters: below, one was not made of the other.
_ALIKE = 0.5


def remove(project: Project, numbers: Collection[int]) -> Outcome:
    """Take abstracts out of a project, after a backup; one event, which undo takes back.

    Raises:
        ProjectError: The project cannot be written.
    """
    about = {"abstracts": len(numbers)}
    return project.perform(REMOVE, about, numbers, lambda doc, _: take_out(doc), backup=True)


def take_out(doc: DocumentState) -> None:
    """Drop all rows of a document: then it is not in the project any more."""
    for row in (*doc.items_of(), *doc.clusters, *filter(None, [doc.progress])):
        doc.drop(row)


def removed_numbers(connection: sqlite3.Connection) -> list[int]:
    """Numbers of the abstracts that a person removed; those of an undone import are none."""
    return [number for number, _, kind in connection.execute(_GONE) if kind == REMOVE]


def why_gone(connection: sqlite3.Connection, text_sha256: str) -> str | None:
    """What took a text out of the project last: the kind of that event; ``None`` where the file never had it, or has it."""
    rows = connection.execute(f"{_GONE} AND d.sha256 = ?", (text_sha256,)).fetchall()
    return next((kind for _, _, kind in rows), None)


def stream_former(project: Project) -> Iterator[AnnotatedDocument]:
    """Removed abstracts, and earlier texts of those that are in the project, with what held in them last."""
    for number, event_id, kind in project.connection.execute(_GONE).fetchall():
        if kind in (REMOVE, "import"):
            yield document_before(project, number, event_id)[0]


class Alignment:
    """Which words of a text stand where in another version of it.

    Args:
        old: The earlier text.
        new: The later one.

    Attributes:
        shared: The share of the words of the shorter text that both have, in one order.
        has_new_words: Whether the later one has others, those of publishers' rights aside.
        is_same: Whether only blanks and punctuation differ.
    """

    def __init__(self, old: str, new: str) -> None:
        self._texts = old, new
        self._old, self._new = (
            [Span(*found.span()) for found in _TOKEN.finditer(text)] for text in (old, new)
        )
        before, after = [span.of(old) for span in self._old], [span.of(new) for span in self._new]
        matcher = SequenceMatcher(None, before, after, autojunk=len(after) > _MANY_WORDS)
        self._places = {
            start + step: other + step
            for start, other, length in matcher.get_matching_blocks()
            for step in range(length)
        }
        self._ends = [span.char_end for span in self._old]
        self._starts = [span.char_start for span in self._old]
        mine, theirs = (
            {place for place, word in enumerate(words) if any(map(str.isalnum, word))}
            for words in (before, after)
        )
        self.shared = len(mine & self._places.keys()) / max(1, min(len(mine), len(theirs)))
        self.is_same = len(mine & self._places.keys()) == len(mine) == len(theirs) > 0
        end, new_words = len(without_rights(new)), theirs - {*self._places.values()}
        self.has_new_words = any(self._new[place].char_end <= end for place in new_words)

    @property
    def is_alike(self) -> bool:
        """Whether both have half of the words of the shorter one, in the same order."""
        return self.shared >= _ALIKE

    def move(self, span: Span) -> tuple[Span, bool] | None:
        """Where a passage stands now, and whether its words are the same; ``None`` where it is gone."""
        first = bisect_right(self._ends, span.char_start)
        last = bisect_left(self._starts, span.char_end) - 1
        if first > last:
            return None
        there = [self._places.get(place) for place in range(first, last + 1)]
        if there[0] is not None and there == [*range(there[0], there[0] + len(there))]:
            begin, end = self._new[there[0]], self._new[there[0] + len(there) - 1]
            inside = max(0, span.char_start - self._starts[first])
            left = max(0, self._ends[last] - span.char_end)
            return Span(begin.char_start + inside, end.char_end - left), True
        before = next((n for n in range(first, -1, -1) if n in self._places), None)
        begin_at = 0 if before is None else self._places[before] + (before < first)
        behind = next((n for n in range(last, len(self._old)) if n in self._places), None)
        end_at = len(self._new) if behind is None else self._places[behind] + (behind == last)
        if begin_at >= end_at:
            return None
        found = Span(self._new[begin_at].char_start, self._new[end_at - 1].char_end)
        texts = span.of(self._texts[0]), found.of(self._texts[1])
        return (found, False) if SequenceMatcher(None, *texts).ratio() >= _ALIKE else None


def move_annotations(said: Annotations, alignment: Alignment) -> Annotations:
    """Annotations of a text for another one of the same words."""
    entities = []
    for entity in said.entities:
        moved = [alignment.move(fragment) for fragment in entity.fragments]
        spans = tuple(place[0] for place in moved if place is not None)
        if len(spans) == len(moved):
            entities.append(replace(entity, fragments=spans))
    return replace(said, entities=tuple(entities), candidates=None)


def move_decisions(
    old: DocumentState, new: DocumentState, alignment: Alignment, context: Context
) -> Counter[str]:
    """Move everything from a text to its new version; the earlier one leaves the project.

    A mention goes with its words, a relation with the words from its first mention to its last. Where they differ, what
    was decided is undecided again; where they are gone, it is not in the new text. A finished layer stays finished
    unless something in it is undecided now, or the new text has words that nobody has looked at; those of publishers'
    rights do not count.

    Returns:
        How many decided items were ``kept``, became ``undecided``, or are ``gone``; ``reopened`` is 1 where a finished layer is open again.
    """
    return _Moving(old, new, alignment, context).move()


@dataclass(eq=False)
class _Moving:
    _old: DocumentState
    _new: DocumentState
    _alignment: Alignment
    _context: Context
    _counts: Counter[str] = field(default_factory=Counter, init=False)

    def move(self) -> Counter[str]:
        for entity in self._old.entities:
            self._move_entity(entity)
        for relation in self._old.relations:
            self._move_relation(relation)
        for cluster in self._old.clusters:
            self._move_cluster(cluster.id)
        for attribute in self._old.attributes:
            self._move_attribute(attribute)
        progress = self._old.progress or ProgressRow()
        changed, count = self._alignment.has_new_words, self._new.count_undecided
        reopened = [
            layer
            for layer in progress.done
            if (changed or count(layer, labels=covered_labels(progress.covered, layer)))
        ]
        self._new.put(
            progress.with_layers(reopened, Completeness.IN_PROGRESS, self._context.schema)
        )
        self._counts["reopened"] += bool(reopened)
        take_out(self._old)
        return self._counts

    def _put(self, row: ItemRow, is_whole: bool) -> None:
        """Put a row as it was decided, or undecided where its words changed."""
        if row.in_view and not is_whole:
            row = replace(row, state=State.UNDECIDED, event_id=self._context.event_id, was=None)
            self._counts["undecided"] += 1
        else:
            self._counts["kept"] += row.state is not State.UNDECIDED
        self._new.put(row)

    def _lose(self, row: ItemRow) -> None:
        self._counts["gone"] += row.in_view

    def _move_entity(self, row: EntityRow) -> None:
        places = [self._alignment.move(fragment) for fragment in row.fragments]
        found = [place for place in places if place is not None]
        fragments = tuple(span for span, _ in found)
        is_whole = all(whole for _, whole in found)
        apart = all(a.char_end <= b.char_start for a, b in pairwise(fragments))
        twins = (twin for twin in self._new.on_fragments(fragments) if twin.label == row.label)
        if (
            len(found) < len(places)
            or not apart
            or (not is_whole and (row.state is State.REJECTED or any(twins)))
        ):
            self._lose(row)
            return
        original = original_of(row)
        if original:
            spans = [self._alignment.move(Span(*pair)) for pair in original["fragments"]]
            there = [place[0] for place in spans if place and place[1]]
            # Else what it was first is not in the new text.
            whole = len(there) == len(spans)
            original["fragments"] = edges_of(there if whole else fragments)
        self._put(
            replace(row, fragments=fragments, was=json.dumps(original) if original else None),
            is_whole,
        )

    def _move_relation(self, row: RelationRow) -> None:
        ends = [self._new.entity(mention) for mention in (row.head, row.tail)]
        before = [
            mention
            for mention in (self._old.entity(row.head), self._old.entity(row.tail))
            if mention
        ]
        if not all(ends):
            self._lose(row)
            return
        start, end = min(e.char_start for e in before), max(e.char_end for e in before)
        passage = self._alignment.move(Span(start, end))
        is_whole = passage is not None and passage[1]
        if is_whole or row.state is not State.REJECTED:
            self._put(row, is_whole)

    def _move_attribute(self, row: AttributeRow) -> None:
        item = self._new.entity(row.target) or self._new.relation(row.target)
        if item is None and row.target:
            self._lose(row)
        elif item is None:
            self._put(row, not self._alignment.has_new_words)
        else:
            self._put(row, item.in_view)

    def _move_cluster(self, cluster_id: str) -> None:
        cluster = self._old.cluster(cluster_id)
        links = [link for link in self._old.links if link.cluster_id == cluster_id]
        there = [link for link in links if self._new.entity(link.entity_id)]
        members = len(self._old.members(cluster_id))
        left = sum(link.state is not State.REJECTED for link in there)
        if cluster is None or not there or left == 1 < members:
            for link in links:
                self._lose(link)
            return
        self._new.put(cluster)
        for link in links:
            mention = self._new.entity(link.entity_id)
            if mention is None:
                self._lose(link)
            else:
                self._put(link, mention.in_view)
        if cluster.in_view and not any(link.in_view for link in self._new.members(cluster_id)):
            self._new.put(replace(cluster, state=State.UNDECIDED))
