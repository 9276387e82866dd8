"""What deserves a second look in a whole project: decisions that do not fit each other, the schema or the model.

Only what holds is looked at: accepted, edited, added and imported items.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass
from enum import StrEnum
from itertools import groupby
from operator import itemgetter

from sciextract.documents.annotations import State
from sciextract.store.actions.editing import EntityRef, ItemRef, LinkRef, RelationRef
from sciextract.store.document_state import Outcome
from sciextract.store.events import UNDONE
from sciextract.store.project import Project
from sciextract.store.queries import latest_predictions
from sciextract.store.rows import IN_VIEW


class Check(StrEnum):
    """What is looked for."""

    LABELS = "same string, different labels"
    CLUSTERS = "different labels in one cluster"
    ILLEGAL = "relations that the schema does not allow"
    OVERLAPS = "overlapping mentions"
    LONG = "long mentions"
    MISSED = "mentions that the model is sure of and that are missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """A place to look at.

    Attributes:
        number: The document.
        char_start: Where it is in the text.
        item: The item, ``None`` where there is none yet.
        why: What was found, in words.
    """

    number: int
    char_start: int
    item: ItemRef | None
    why: str


INTENDED = "intended"
"""The kind of event that says so of a place."""
LONG_WORDS = 8
"""Minimum number of words of a long mention: about the longest 1 % of the mentions of SciERC."""
SURE = 0.8
"""Minimum score of an undecided item that counts as sure."""
_STATES = ", ".join(f"'{state.value}'" for state in sorted(IN_VIEW))


def find(project: Project, check: Check) -> list[Finding]:
    """All places that a check finds, in the order of the documents and their text."""
    rows = project.connection.execute(
        f"SELECT e.params FROM event e WHERE e.kind = ? AND NOT {UNDONE}", (INTENDED,)
    )
    intended = {json.dumps(json.loads(params).get("place")) for (params,) in rows}
    found = (
        finding
        for finding in _FINDERS[check](project)
        if json.dumps(_place_of(check, finding)) not in intended
    )
    return sorted(found, key=lambda finding: (finding.number, finding.char_start))


def keep_finding(project: Project, check: Check, finding: Finding) -> Outcome:
    """Say that a place is as it should be: the check leaves it out until that is taken back."""
    params = {"place": _place_of(check, finding)}
    return project.perform(INTENDED, params, (), lambda doc, context: None, always=True)


def _place_of(check: Check, finding: Finding) -> list[str | int]:
    item = astuple(finding.item) if finding.item else ()
    return [check.name, finding.number, finding.char_start, *item]


def _find_labels(project: Project) -> Iterator[Finding]:
    """Mentions whose label is not the usual one of their string; all where none is usual."""
    rows = project.connection.execute(
        f"""SELECT s.text, e.document_id, e.char_start, e.id, e.label
        FROM entity e JOIN surface s ON s.id = e.surface_id
        WHERE e.state IN ({_STATES}) AND e.surface_id IN (
            SELECT surface_id FROM entity WHERE state IN ({_STATES})
            GROUP BY surface_id HAVING min(label) <> max(label))
        ORDER BY e.surface_id"""
    )
    for surface, group in groupby(rows, key=itemgetter(0)):
        members = list(group)
        counts = Counter(label for *_, label in members)
        # There are two labels at least, by the query.
        (usual, most), (_, second) = counts.most_common(2)
        for _, number, start, entity_id, label in members:
            if label != usual or most == second:
                others = ", ".join(
                    f"{other} {count}" for other, count in counts.most_common() if other != label
                )
                why = f"{surface}: {label} here, in all {label} {counts[label]}, {others}"
                yield Finding(number, start, EntityRef(entity_id), why)


def _find_clusters(project: Project) -> Iterator[Finding]:
    """The first mention of each cluster whose label is not that of most of its mentions."""
    rows = project.connection.execute(
        f"""SELECT l.document_id, l.cluster_id, e.char_start, e.id, e.label
        FROM link l JOIN entity e ON e.document_id = l.document_id AND e.id = l.entity_id
        WHERE l.state IN ({_STATES}) AND e.state IN ({_STATES})
        ORDER BY l.document_id, l.cluster_id, e.char_start"""
    )
    for (number, cluster_id), group in groupby(rows, key=itemgetter(0, 1)):
        members = list(group)
        counts = Counter(label for *_, label in members)
        if len(counts) > 1:
            usual = counts.most_common(1)[0][0]
            start, entity_id = next(row[2:4] for row in members if row[4] != usual)
            why = ", ".join(f"{label} {count}" for label, count in counts.most_common())
            yield Finding(number, start, LinkRef(cluster_id, entity_id), f"one cluster: {why}")


def _find_illegal(project: Project) -> Iterator[Finding]:
    schema = project.schema
    rows = project.connection.execute(
        f"""SELECT r.document_id, max(h.char_start, t.char_start), r.id, h.label, r.label, t.label
        FROM relation r JOIN entity h ON h.document_id = r.document_id AND h.id = r.head
        JOIN entity t ON t.document_id = r.document_id AND t.id = r.tail
        WHERE r.state IN ({_STATES})"""
    )
    for number, start, relation_id, head, label, tail in rows:
        known = {head, tail} <= set(schema.entity_labels)
        if not known or label not in schema.legal_relations(head, tail):
            yield Finding(number, start, RelationRef(relation_id), f"{head} {label} {tail}")


def _find_overlaps(project: Project) -> Iterator[Finding]:
    """Each mention that overlaps one before it, or lies in it."""
    for number, mentions in _by_document(project.connection):
        end, outer = 0, ""
        for start, stop, entity_id, surface in mentions:
            if start < end:
                yield Finding(number, start, EntityRef(entity_id), f"{surface} overlaps {outer}")
            if stop > end:
                end, outer = stop, surface


def _find_long(project: Project) -> Iterator[Finding]:
    for number, mentions in _by_document(project.connection):
        for start, _, entity_id, surface in mentions:
            if (words := len(surface.split())) >= LONG_WORDS:
                yield Finding(number, start, EntityRef(entity_id), f"{words} words: {surface}")


_Mention = tuple[int, int, str, str]


def _by_document(connection: sqlite3.Connection) -> Iterator[tuple[int, list[_Mention]]]:
    """Start, end, id and string of the mentions of each document, in text order."""
    rows = connection.execute(
        f"""SELECT e.document_id, e.char_start, e.char_end, e.id, s.text
        FROM entity e JOIN surface s ON s.id = e.surface_id WHERE e.state IN ({_STATES})
        ORDER BY e.document_id, e.char_start, e.char_end DESC"""
    )
    for number, group in groupby(rows, key=itemgetter(0)):
        yield number, [(row[1], row[2], row[3], row[4]) for row in group]


def _find_missed(project: Project) -> Iterator[Finding]:
    """Sure predictions and candidates besides what was decided: nothing overlaps them, nobody has rejected them."""
    connection = project.connection
    taken: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    rows = connection.execute(
        """SELECT e.document_id, e.char_start, e.char_end, e.state FROM entity e
        JOIN progress p ON p.document_id = e.document_id WHERE p.entities <> 'untouched'"""
    )
    for number, start, end, state in rows:
        taken[number].append((start, end, state))
    for number, spans in taken.items():
        said = latest_predictions(connection, number)
        if said is None:
            continue
        sure = {
            (entity.span.char_start, entity.span.char_end): (entity.label, entity.score)
            for entity in said.entities
        }
        for candidate in said.candidates.spans if said.candidates else ():
            # A candidate counts by its best label; what was predicted for the span goes before.
            best = max(candidate.labels, key=lambda label: label.score)
            sure.setdefault(
                (candidate.span.char_start, candidate.span.char_end), (best.label, best.score)
            )
        text = ""
        for (start, end), (label, score) in sorted(sure.items()):
            # A rejected mention says no about its own characters only, any other one about all that it touches.
            is_taken = any(
                (start, end) == (first, last)
                if state == State.REJECTED
                else start < last and first < end
                for first, last, state in spans
            )
            if (score or 0) >= SURE and not is_taken:
                text = text or project.document_state(number).text
                yield Finding(number, start, None, f"{text[start:end]}: {label} {score:.2f}")


_FINDERS: Mapping[Check, Callable[[Project], Iterator[Finding]]] = {
    Check.LABELS: _find_labels,
    Check.CLUSTERS: _find_clusters,
    Check.ILLEGAL: _find_illegal,
    Check.OVERLAPS: _find_overlaps,
    Check.LONG: _find_long,
    Check.MISSED: _find_missed,
}
