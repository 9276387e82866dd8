"""What the newest model run considered in an abstract."""

from __future__ import annotations

import sqlite3

from sciextract.documents.annotations import Candidates, SpanCandidate, State
from sciextract.store.incoming.ingest import said_by
from sciextract.store.log.events import UNDONE
from sciextract_app.presenter.scene import Scene

_NEWEST = f"""SELECT a.id, a.source_id FROM annotation_set a JOIN run r ON r.source_id = a.source_id
    JOIN event e ON e.id = a.event_id WHERE a.document_id = ? AND NOT {UNDONE}
    ORDER BY a.id DESC LIMIT 1"""
_MODEL = "SELECT model_name FROM run ORDER BY event_id DESC LIMIT 1"


class Considered:
    """Candidates of the newest run that is not undone; decoded once, not after every key."""

    def __init__(self) -> None:
        self._set = 0
        self._found: Candidates | None = None

    def of(self, connection: sqlite3.Connection, number: int) -> Candidates | None:
        """What a model considered in an abstract, ``None`` when none has seen it."""
        row = connection.execute(_NEWEST, (number,)).fetchone()
        wanted = row[0] if row else 0
        if wanted != self._set:
            said = said_by(connection, number, row[1]) if row else None
            self._set, self._found = wanted, said.candidates if said else None
        return self._found


def newest_run(connection: sqlite3.Connection, number: int) -> int | None:
    """The source of the newest run on an abstract that is not undone, ``None`` for none."""
    row = connection.execute(_NEWEST, (number,)).fetchone()
    return int(row[1]) if row else None


def newest_model(connection: sqlite3.Connection) -> str:
    """The name of the model that predicted last, empty for none."""
    row = connection.execute(_MODEL).fetchone()
    return str(row[0]) if row else ""


def offered(scene: Scene, candidates: Candidates | None, char: int) -> list[SpanCandidate]:
    """Spans that are no items yet: those under the cursor first, then sentence by sentence, likelier ones first.

    Sentences before the cursor come last. What a person rejected is not offered again.
    """
    found = [each for each in (candidates.spans if candidates else ()) if _is_new(scene, each)]
    return sorted(found, key=lambda each: _order(scene, each, char))


def _is_new(scene: Scene, candidate: SpanCandidate) -> bool:
    allowed = scene.schema.entity_labels
    likely = [each.label for each in candidate.labels if each.label in allowed]
    rows = scene.on_fragments.get((candidate.span,), [])
    taken = any(row.state is not State.REJECTED or row.label in likely[:1] for row in rows)
    return bool(likely) and not taken and candidate.span.char_end <= len(scene.text)


def _order(
    scene: Scene, candidate: SpanCandidate, char: int
) -> tuple[bool, bool, int, float, int, int]:
    span = candidate.span
    under = span.char_start <= char < span.char_end
    sentence = scene.tokens.sentence_of(scene.token_at(span.char_start))
    score = max(each.score for each in candidate.labels)
    return not under, span.char_end <= char, sentence, -score, span.char_start, span.char_end
