"""Queries of a review: which document comes next, lists and counts of documents, and what the sources predicted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sciextract.documents.annotations import State
from sciextract.documents.document import ADAPTER
from sciextract.store.coverage import Type, lacking_sql
from sciextract.store.events import Event, read_event
from sciextract.store.rows import finished_sql
from sciextract.store.sqlite import first_value, from_sql, storable

_DONE = finished_sql()
_CHUNK = 500


class Sort(StrEnum):
    """The order of a list of documents."""

    TEXT = "as they came"
    YEAR = "newest first"
    UNCERTAINTY = "most uncertain first"
    UNDECIDED = "most undecided first"
    DISAGREEMENT = "most disagreement first"
    STATUS = "least done first"


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """A document of the project in a list.

    Attributes:
        number: Its number in the project.
        title: Its title, or how it begins.
        year: Its year.
        layers: Completeness of entities, relations, coreference.
        undecided: Items that wait for a decision.
        items: Items of all layers, decided or not, rejected ones included.
        uncertainty: Mean uncertainty of undecided items, 0 to 1.
        flagged: Whether it carries a flag.
        noted: Whether it carries a note.
        done: Whether it is done.
    """

    number: int
    title: str
    year: int | None
    layers: tuple[str, str, str]
    undecided: int
    items: int
    uncertainty: float
    flagged: bool
    noted: bool = False
    done: bool = False


_LAYERS_DONE = "(p.entities = 'done') + (p.relations = 'done') + (p.coreference = 'done')"
_LAYERS_BEGUN = (
    "(p.entities <> 'untouched') + (p.relations <> 'untouched') + (p.coreference <> 'untouched')"
)
_SORTED = {
    Sort.TEXT: "SELECT document_id FROM progress ORDER BY document_id",
    Sort.YEAR: """SELECT p.document_id FROM progress p JOIN document d ON d.id = p.document_id
        ORDER BY d.year IS NULL, d.year DESC, p.document_id""",
    Sort.UNCERTAINTY: "SELECT document_id FROM summary ORDER BY uncertainty DESC, document_id",
    Sort.UNDECIDED: "SELECT document_id FROM summary ORDER BY undecided DESC, document_id",
    Sort.DISAGREEMENT: "SELECT document_id FROM summary ORDER BY disagreements DESC, document_id",
    Sort.STATUS: f"""SELECT p.document_id FROM progress p
        ORDER BY {_LAYERS_DONE}, {_LAYERS_BEGUN}, p.document_id""",
}


def sorted_documents(connection: sqlite3.Connection, sort: Sort) -> list[int]:
    """The numbers of all documents."""
    return [row[0] for row in connection.execute(_SORTED[sort])]


def document_summaries(
    connection: sqlite3.Connection, numbers: Sequence[int]
) -> list[DocumentSummary]:
    """Documents by number, in the order given; those that are not in the project are left out."""
    rows = connection.execute(
        f"""SELECT d.id, d.title, d.year, p.entities, p.relations, p.coreference, s.undecided,
            s.items, s.uncertainty, p.flagged, p.note <> '', {finished_sql("p")}
        FROM json_each(?) j JOIN document d ON d.id = j.value JOIN progress p ON p.document_id = d.id
        JOIN summary s ON s.document_id = d.id ORDER BY j.key""",
        (json.dumps(numbers),),
    ).fetchall()
    return [
        DocumentSummary(
            number, from_sql(title), year, tuple(rest[:3]), *rest[3:6], *map(bool, rest[6:])
        )
        for number, title, year, *rest in rows
    ]


def first_of(
    connection: sqlite3.Connection,
    numbers: Sequence[int],
    *,
    unfinished: bool = False,
    sought: Collection[Type] = (),
) -> int | None:
    """The first of some documents that is in the project, or that is there and not done, or lacks a type that is sought."""
    # In parts: usually one of the first documents fits, and a queue may hold a hundred thousand.
    condition, params = lacking_sql(sought) if sought else (f"NOT {_DONE}", [])
    if not unfinished:
        condition, params = "1", []
    for start in range(0, len(numbers), _CHUNK):
        query = f"""SELECT j.value FROM json_each(?) j JOIN progress ON document_id = j.value
            WHERE ({condition}) ORDER BY j.key LIMIT 1"""
        part = json.dumps(numbers[start : start + _CHUNK])
        found = first_value(connection, query, part, *params)
        if found is not None:
            return int(found)
    return None


def next_to(
    connection: sqlite3.Connection, number: int, step: int = 1, *, unfinished: bool = False
) -> int | None:
    """The document after (1) or before (-1) a number, or the next one in that direction that is not done."""
    sign, order = (">", "ASC") if step > 0 else ("<", "DESC")
    condition = f"AND NOT {_DONE}" if unfinished else ""
    query = f"""SELECT document_id FROM progress WHERE document_id {sign} ? {condition}
        ORDER BY document_id {order} LIMIT 1"""
    found: int | None = first_value(connection, query, number)
    return found


def position(connection: sqlite3.Connection, number: int) -> tuple[int, int]:
    """The place of a document among those of the project, from one, and how many there are."""
    query = "SELECT coalesce(sum(document_id <= ?), 0), count(*) FROM progress"
    place, total = connection.execute(query, (number,)).fetchone()
    return place, total


def at_position(connection: sqlite3.Connection, place: int) -> int | None:
    """The document at a place from one, ``None`` where there is none."""
    if place < 1:
        return None
    query = "SELECT document_id FROM progress ORDER BY document_id LIMIT 1 OFFSET ?"
    found: int | None = first_value(connection, query, place - 1)
    return found


def count_done(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many documents there are, and how many are done."""
    query = f"SELECT count(*), count(*) FILTER (WHERE {_DONE}) FROM progress"
    documents, done = connection.execute(query).fetchone()
    return documents, done


def count_done_of(
    connection: sqlite3.Connection, numbers: Sequence[int], sought: Collection[Type] = ()
) -> int:
    """How many of some documents are done, or lack a type no more."""
    lacking, params = lacking_sql(sought) if sought else (f"NOT {_DONE}", [])
    query = f"""SELECT count(*) FROM json_each(?) j JOIN progress ON document_id = j.value
        WHERE NOT ({lacking})"""
    return int(first_value(connection, query, json.dumps(numbers), *params))


def count_decided(connection: sqlite3.Connection) -> int:
    """Items of the project that a person accepted, edited, added or rejected."""
    return int(first_value(connection, "SELECT coalesce(sum(decided), 0) FROM summary"))


def acceptance(connection: sqlite3.Connection) -> float | None:
    """Share of decided suggestions that were right as they stood, ``None`` without any.

    A mention that was suggested without a label is right where its boundaries are.
    """
    query = """SELECT state, sum(number) FROM tally
        WHERE state IN ('accepted', 'edited', 'rejected') GROUP BY state"""
    states = dict(connection.execute(query).fetchall())
    decided = sum(states.values())
    if not decided:
        return None
    labelled = first_value(connection, _LABELLED) if "edited" in states else 0
    return float((states.get("accepted", 0) + labelled) / decided)


_LABELLED = """SELECT count(*) FROM entity WHERE state = 'edited' AND json_extract(was, '$.label') = ''
    AND json_extract(was, '$.fragments[0][0]') = char_start
    AND json_extract(was, '$.fragments[#-1][1]') = char_end"""
"""Mentions that were suggested without a label and got one where they stood."""


@dataclass(frozen=True, slots=True)
class LabelledMention:
    """A mention of a string elsewhere in the project.

    Attributes:
        number: Its document.
        title: The document's title, or how it begins.
        label: Its type.
        state: What has been decided about it.
    """

    number: int
    title: str
    label: str
    state: State


@dataclass(frozen=True, slots=True)
class LabelHistory:
    """How a string was labelled in the project.

    Attributes:
        counts: Mentions by label and state, the most frequent first.
        latest: Those that were decided last, the latest first.
        is_complete: Whether all mentions were counted, not only the first :data:`MOST_COUNTED`.
    """

    counts: tuple[tuple[str, State, int], ...]
    latest: tuple[LabelledMention, ...]
    is_complete: bool


MOST_COUNTED = 500
"""Mentions of a string that are looked at after a key."""


def label_history(
    connection: sqlite3.Connection, surface: str, number: int, entity_id: str
) -> LabelHistory:
    """How exactly this string was labelled, apart from one mention of it.

    Args:
        connection: To the project.
        surface: The string.
        number: The document of the mention that is left out.
        entity_id: The mention.
    """
    same = """WITH same AS (SELECT e.document_id, e.id, e.label, e.state, e.event_id FROM surface s
        JOIN entity e ON e.surface_id = s.id WHERE s.text = ? LIMIT ?)"""
    # Limited before counting: a string such as "model" stands in every abstract of a large project.
    others = f"{same} SELECT {{}} FROM same WHERE (document_id, id) <> (?, ?) {{}}"
    params = (storable(surface), MOST_COUNTED, number, entity_id)
    counts = connection.execute(
        others.format("label, state, count(*)", "GROUP BY label, state ORDER BY count(*) DESC"),
        params,
    ).fetchall()
    decided = connection.execute(
        others.format(
            "document_id, label, state", "AND state <> 'undecided' ORDER BY event_id DESC LIMIT 2"
        ),
        params,
    ).fetchall()
    titles = {
        abstract.number: abstract.title
        for abstract in document_summaries(connection, [row[0] for row in decided])
    }
    return LabelHistory(
        tuple((label, State(state), count) for label, state, count in counts),
        tuple(
            LabelledMention(n, titles.get(n, ""), label, State(state))
            for n, label, state in decided
        ),
        sum(count for _, _, count in counts) < MOST_COUNTED - 1,
    )


@dataclass(frozen=True, slots=True)
class StringContext:
    """Where a string stands in a document.

    Attributes:
        number: The document.
        title: Its title, or how it begins.
        before: Characters before the first place of the string.
        after: Characters behind it.
    """

    number: int
    title: str
    before: str
    after: str


_AROUND = 40


def contexts(
    connection: sqlite3.Connection, numbers: Sequence[int], surface: str
) -> list[StringContext]:
    """The first place of a string in each of some documents; those without it are left out."""
    rows = connection.execute(
        """SELECT d.id, d.title, d.text FROM json_each(?) j JOIN document d ON d.id = j.value
        ORDER BY j.key""",
        (json.dumps(numbers),),
    )
    found = []
    for number, title, body in rows:
        before, here, after = from_sql(body).partition(surface)
        if here:
            ends = before[-_AROUND:], after[:_AROUND]
            found.append(StringContext(number, from_sql(title), *ends))
    return found


def disagreements(connection: sqlite3.Connection) -> dict[int, int]:
    """Open differences with merged projects by document, as the project noted them last."""
    return dict(connection.execute("SELECT document_id, disagreements FROM summary"))


def count_disagreements(connection: sqlite3.Connection) -> int:
    """Open differences with merged projects in all documents, as the project noted them last."""
    query = "SELECT coalesce(sum(disagreements), 0) FROM summary WHERE disagreements > 0"
    return int(first_value(connection, query))


def newest_event(connection: sqlite3.Connection, number: int) -> Event | None:
    """The newest event that changed a document."""
    query = "SELECT max(event_id) FROM change WHERE document_id = ?"
    newest = first_value(connection, query, number)
    return read_event(connection, newest) if newest else None


def undecided_items(connection: sqlite3.Connection) -> list[tuple[int, tuple[str, ...]]]:
    """Documents and keys of all undecided items, those with a score nearest to 0.5 first.

    The key of an entity or a relation is its kind and id, that of a link has the ids of cluster and entity. The score of
    a calibrated model is a probability: near 0.5 an answer says most. The first mention of a cluster is left out: what is
    asked is whether the later ones are the same.
    """
    rows = connection.execute(
        f"""SELECT document_id, kind, first, second FROM (
            SELECT document_id, 'entity' AS kind, id AS first, '' AS second, score, state FROM entity
            UNION ALL SELECT document_id, 'relation', id, '', score, state FROM relation
            UNION ALL SELECT l.document_id, 'link', cluster_id, entity_id, l.score, l.state
            FROM link l JOIN entity e ON e.document_id = l.document_id AND e.id = entity_id
            WHERE EXISTS (
                SELECT 1 FROM link o JOIN entity f ON f.document_id = o.document_id AND f.id = o.entity_id
                WHERE o.document_id = l.document_id AND o.cluster_id = l.cluster_id
                  AND o.state <> '{State.REJECTED}'
                  AND (f.char_start, -f.char_end, f.id) < (e.char_start, -e.char_end, e.id)))
        WHERE state = '{State.UNDECIDED}'
        ORDER BY score IS NULL, abs(score - 0.5), document_id, first, second"""
    )
    return [(number, tuple(filter(None, key))) for number, *key in rows]


def newest_model(connection: sqlite3.Connection) -> str:
    """The name of the model that predicted last, ``an adapter`` for one of the project, empty for none."""
    name = f"iif(model_hash LIKE '%{ADAPTER}', 'an adapter', model_name)"
    query = f"SELECT {name} FROM run ORDER BY event_id DESC LIMIT 1"
    return str(first_value(connection, query) or "")
