"""Strings that people have decided are mentions, proposed wherever else they stand: for types that no model predicts."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator

from sciextract.documents.annotations import Layer, State, new_id
from sciextract.documents.document import ADAPTER
from sciextract.store.actions.places import find_occurrences
from sciextract.store.coverage import uncovered_types
from sciextract.store.document_state import Context, DocumentState
from sciextract.store.rows import SETTLED, EntityRow, ProgressRow
from sciextract.store.sqlite import first_value, storable

SOURCE = "import:as in {}"

_LONGEST = 8
"""Tokens of the longest string that is looked for in an abstract that is opened."""
_DECISIONS = """SELECT s.text, e.label, sum(iif(e.state = 'rejected', -1, 1)), d.doc_key,
        max(iif(e.state = 'rejected', 0, e.event_id)) AS latest
    FROM json_each(?) j JOIN surface s ON s.text = j.value JOIN entity e ON e.surface_id = s.id
    JOIN document d ON d.id = e.document_id WHERE e.state IN ('accepted', 'edited', 'added', 'rejected')
    GROUP BY s.id, e.label"""
"""For each string and type how much oftener it was right than not, and where it was right last."""
_MODEL = f"SELECT 1 FROM run WHERE model_hash NOT LIKE '%{ADAPTER}' LIMIT 1"


def propose_alike(
    connection: sqlite3.Connection, doc: DocumentState, context: Context, *, opened: bool = False
) -> None:
    """Propose strings that the event has just decided, in an abstract that is opened all that were ever decided.

    Whole tokens, the longest string first; nothing that touches another mention, or stands where one was rejected. A string
    that was rejected more often than accepted is not proposed.
    """
    if first_value(connection, _MODEL):
        return
    document, schema = doc.stored.document, context.schema
    rows = list(doc.all_entities)
    fresh = [row for row in rows if row.event_id == context.event_id and row.state in SETTLED]
    balance = Counter((row.surface(doc.text), row.label) for row in fresh)
    seen_in = dict.fromkeys(balance, document.doc_key)
    strings = _strings(doc) if opened else {surface for surface, _ in balance}
    asked = json.dumps([storable(string) for string in strings])
    for surface, label, more, key, latest in connection.execute(_DECISIONS, (asked,)):
        balance[surface, label] += more
        if latest:
            seen_in.setdefault((surface, label), key)
    progress = doc.progress or ProgressRow()
    wanted = {
        label for layer, label in uncovered_types(progress, schema) if layer is Layer.ENTITIES
    }
    if Layer.ENTITIES not in progress.done:
        wanted = set(schema.entity_labels)
    places = {row.fragments for row in rows}
    taken = [s for row in rows if row.state is not State.REJECTED for s in row.fragments]
    for surface, label in sorted(seen_in, key=lambda pair: (-len(pair[0]), -balance[pair])):
        if balance[surface, label] < 0 or label not in wanted:
            continue
        for span in find_occurrences(doc, surface):
            if (span,) not in places and not any(span.overlaps(other) for other in taken):
                taken.append(span)
                source = context.source_of(SOURCE.format(seen_in[surface, label]))
                event_id, undecided = context.event_id, State.UNDECIDED
                doc.put(EntityRow(new_id(), (span,), label, None, undecided, source, event_id))


def _strings(doc: DocumentState) -> Iterator[str]:
    """Every run of a few tokens."""
    spans = doc.stored.document.tokens.spans
    for first, start in enumerate(spans):
        for end in spans[first : first + _LONGEST]:
            yield doc.text[start.char_start : end.char_end]
