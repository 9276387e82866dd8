"""What a certain model said about documents of a project."""

from __future__ import annotations

import sqlite3

from sciextract.documents.annotations import Annotations
from sciextract.store.content.annotation_codec import decode_annotations
from sciextract.store.log.events import UNDONE

_OF_MODEL = f"""SELECT a.body FROM annotation_set a JOIN run r ON r.source_id = a.source_id
    JOIN event e ON e.id = a.event_id
    WHERE a.document_id = ? AND r.model_name = ? AND r.model_hash = ? AND NOT {UNDONE}
    ORDER BY a.id DESC LIMIT 1"""
_OF_ANY = f"""SELECT a.body FROM annotation_set a JOIN run r ON r.source_id = a.source_id
    JOIN event e ON e.id = a.event_id WHERE a.document_id = ? AND NOT {UNDONE}
    ORDER BY a.id DESC LIMIT 1"""


def said_last(connection: sqlite3.Connection, number: int) -> Annotations | None:
    """The latest predictions of any model for a document; ``None`` where there are none."""
    row = connection.execute(_OF_ANY, (number,)).fetchone()
    return None if row is None else decode_annotations(row[0])


def said_by_model(
    connection: sqlite3.Connection, number: int, name: str, hash_: str
) -> Annotations | None:
    """What a model predicted for a document, candidates included; runs that were undone do not count.

    Args:
        connection: To the project.
        number: The document.
        name: The model's name.
        hash_: Hex SHA-256 of its manifest.

    Returns:
        Its latest predictions, ``None`` where it made none.
    """
    row = connection.execute(_OF_MODEL, (number, name, hash_)).fetchone()
    return None if row is None else decode_annotations(row[0])
