"""Damaged files: they are left as they are, and the newest sound backup is named."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sciextract.errors import ProjectDamagedError
from sciextract.store import open_project
from sciextract.store.maintenance.backup import KEPT, list_backups, newest_sound, restore
from sciextract.store.maintenance.doctor import repair
from tests.unit.store.patients import patient


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed project of 21 abstracts."""
    return patient(tmp_path)


def _spoil(path: Path, page: int) -> None:
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = bytes([13]) + os.urandom(4095)
    path.write_bytes(content)


def _leaf(path: Path, table: str) -> int:
    """A page in the middle of a table."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)
        ).fetchall()
    return int(found[len(found) // 2][0])


@pytest.mark.parametrize("table", ["document", "token_table", "entity", "change", "record"])
def test_damaged_page_leaves_the_file_and_names_a_backup(path: Path, table: str) -> None:
    with open_project(path) as project:
        sound = project.backup("by hand").path
    _spoil(path, _leaf(path, table))
    damaged = path.read_bytes()
    done = repair(path, "ann")
    assert path.read_bytes() == damaged
    assert done.after.damaged
    assert done.sound_backup == sound


def test_backups_of_a_damaged_file_push_no_sound_one_out(path: Path) -> None:
    with open_project(path) as project:
        sound = project.backup("sound")
    _spoil(path, _leaf(path, "token_table"))
    with open_project(path) as project:
        for number in range(KEPT + 2):
            project.backup(f"damaged {number}")
    assert len(list_backups(path)) == KEPT + 3
    assert newest_sound(path) == sound
    restore(sound.path, path)
    with open_project(path) as project:
        project.backup("sound again")
    assert len(list_backups(path)) == KEPT


def test_file_that_was_cut_off(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 9 // 10])
    done = repair(path, "ann")
    assert done.before.damaged
    assert done.sound_backup is None
    assert json.dumps(done.to_json())


@pytest.mark.parametrize(
    ("index", "is_ignored"),
    [
        ('CREATE INDEX "mine" ON entity(label, state)', True),
        ("CREATE UNIQUE INDEX mine ON entity(document_id, id)", False),
        ("CREATE INDEX mine ON entity(upper(label))", False),
    ],
)
def test_an_index_of_another_program(path: Path, index: str, is_ignored: bool) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute(index)
    if is_ignored:
        open_project(path).close()
    else:
        with pytest.raises(ProjectDamagedError, match='DROP INDEX "mine"'):
            open_project(path)
