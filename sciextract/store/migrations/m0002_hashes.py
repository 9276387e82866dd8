"""Version 2: hashes in the log, so that the doctor sees what a failing disk or another program altered there.

Entries of earlier versions have none.
"""

from __future__ import annotations

STATEMENTS = (
    "ALTER TABLE event ADD COLUMN hash TEXT",
    "ALTER TABLE change ADD COLUMN hash TEXT",
)
