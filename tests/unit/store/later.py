"""A release that does not exist yet: with migrations after the newest one, to test what they go through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from sciextract.store import connection as header
from sciextract.store import migrations

#: The second one changes many rows in several statements, so that half of it would be seen.
STEPS = (
    ("later_one", ("CREATE TABLE later_one (value TEXT)", "INSERT INTO later_one VALUES ('one')")),
    (
        "later_two",
        (
            "ALTER TABLE document ADD COLUMN later_two TEXT",
            "UPDATE document SET later_two = pause(replace(hex(zeroblob(100)), '00', text))",
            "CREATE INDEX later_two ON document(later_two)",
        ),
    ),
)


@contextmanager
def later_release(pause: Callable[[], None] = lambda: None) -> Iterator[int]:
    """Within the block a release with two more migrations runs, which reads no earlier one; gives its version.

    Args:
        pause: Called in the middle of the last migration, once for each document.
    """
    released, migrate = migrations._steps(), migrations.migrate
    version = len(released) + len(STEPS)

    def migrate_with_pause(connection, stop_before=None):  # type: ignore[no-untyped-def]
        connection.create_function("pause", 1, lambda text: (pause(), text)[1])  # type: ignore[func-returns-value]
        migrate(connection, stop_before)

    with (
        mock.patch.object(migrations, "_steps", lambda: (*released, *STEPS)),
        mock.patch.object(header, "VERSION", version),
        mock.patch.object(header, "READABLE", version),
        mock.patch("sciextract.store.opening.migrate", migrate_with_pause),
    ):
        yield version
