"""A project to break, for the tests of the doctor."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sciextract.store import EntityRef
from sciextract.store.maintenance.checks import Severity
from sciextract.store.maintenance.doctor import examine
from tests.unit.store.projects import (
    TEXT,
    cluster,
    guess,
    guess_relation,
    new_project,
    place,
    put,
)

ITEMS = (
    guess("e1", place("graph net")),
    guess("e2", place("network"), "Task"),
    guess("e3", place("net", 1)),
    guess_relation("r", "e1", "e2"),
    cluster("c", "e1", "e3"),
)
DOCUMENTS = 21


def patient(folder: Path) -> Path:
    """A closed project of 21 abstracts with decisions of a person, Ann."""
    with new_project(folder, "ann") as project:
        for number in range(DOCUMENTS - 1):
            text = like(f"Number {number}. " + "More. " * 40)
            put(project, *ITEMS[:2], ITEMS[3], text=text, doc_key=f"d{number}")
        put(project, *ITEMS, doc_key="last")
        project.actions.accept(1, EntityRef("e1"))
        project.actions.reject(2, EntityRef("e2"))
        project.actions.note(3, "seen")
    return project.path


def like(text: str) -> str:
    """A text with every place of the shared one, so that its spans fit."""
    return f"{TEXT} {text}"


def change(path: Path, *statements: str) -> None:
    """Change a file behind the project's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            connection.execute(statement)


def wrong(path: Path) -> set[str]:
    """The checks that the doctor finds an error with."""
    found = examine(path)
    return {finding.check for finding in found.findings if finding.severity is Severity.ERROR}
