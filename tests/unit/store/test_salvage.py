"""Damaged files: new indexes where they help, else what can be read, in a new project."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.store import Project, open_project, project_settings
from sciextract.store.maintenance.backup import KEPT, list_backups, newest_sound, restore
from sciextract.store.maintenance.doctor import examine, repair
from sciextract.store.maintenance.salvage import Salvaged
from sciextract.store.queries import SavedQueue, queue_lengths, read_queue, save_queue
from sciextract.store.views import EVERYTHING
from tests.unit.store.patients import change, like, patient, wrong
from tests.unit.store.projects import all_state, put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed project of 21 abstracts."""
    return patient(tmp_path)


def _root_page(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return int(connection.execute(query, (name,)).fetchone()[0])


def _spoil(path: Path, page: int) -> None:
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = bytes([13]) + os.urandom(4095)
    path.write_bytes(content)


def test_damaged_index_is_made_anew(path: Path) -> None:
    with open_project(path) as project:
        right = all_state(project)
    _spoil(path, _root_page(path, "tally_label"))
    assert wrong(path) == {"file"}
    done = repair(path, "ann")
    assert done.after.sound
    assert done.salvaged is None
    assert done.kept is not None
    assert examine(done.kept).damaged
    with open_project(path) as project:
        assert all_state(project) == right


def _leaf(path: Path, table: str) -> int:
    """A page in the middle of a table."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)
        ).fetchall()
    return int(found[len(found) // 2][0])


@pytest.mark.parametrize("table", ["document", "token_table", "entity", "change", "record"])
def test_damaged_page_is_read_around(path: Path, table: str) -> None:
    with open_project(path) as project:
        sound = project.backup("by hand").path
        right = {each.document.doc_key: each for each in project.stream(EVERYTHING)}
    _spoil(path, _leaf(path, table))
    damaged = path.read_bytes()
    done = repair(path, "ann")
    assert path.read_bytes() == damaged
    assert done.sound_backup == sound
    saved = done.salvaged
    assert saved is not None
    assert saved.path is not None
    assert saved.documents + saved.lost_documents == 21
    assert saved.documents >= 10
    assert examine(saved.path).sound
    with open_project(saved.path) as project:
        same = [each for each in project.stream(EVERYTHING) if _same(each, right)]
        assert len(same) >= 10
        assert project.schema.name == "small"


def test_a_huge_number_in_a_damaged_page_is_not_counted_up_to(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE summary SET document_id = ? WHERE document_id = 1", (2**62,))
        connection.commit()
    _spoil(path, _leaf(path, "document"))
    saved = repair(path, "ann").salvaged
    assert saved is not None and saved.documents >= 10


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


def _same(each: AnnotatedDocument, right: Mapping[str, AnnotatedDocument]) -> bool:
    return right.get(each.document.doc_key) == each


def test_file_that_was_cut_off_gives_what_is_left(path: Path) -> None:
    with open_project(path, "ann") as project:
        for number in range(200):
            put(project, text=like(f"Further text {number}. " * 9), doc_key=f"further{number}")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 9 // 10])
    done = repair(path, "ann")
    assert done.before.damaged
    assert done.salvaged is not None
    assert done.salvaged.path is not None
    assert done.salvaged.documents > 50
    assert examine(done.salvaged.path).sound


def test_text_that_was_altered_is_flagged(path: Path) -> None:
    change(path, "UPDATE document SET text = replace(text, 'Number 4', 'Number X') WHERE id = 5")
    _spoil(path, _leaf(path, "change"))
    saved = repair(path, "ann").salvaged
    assert saved is not None
    assert saved.path is not None
    assert saved.altered == 1
    with open_project(saved.path) as project:
        (flagged,) = [n for n in project.numbers() if _flagged(project, n)]
        assert "altered" in project.document_state(flagged).progress.note  # type: ignore[union-attr]


def _flagged(project: Project, number: int) -> bool:
    progress = project.document_state(number).progress
    return progress is not None and progress.flagged


def test_lost_schema_is_made_of_the_labels_that_occur(path: Path) -> None:
    change(path, "UPDATE label_schema SET body = 'gone'")
    _spoil(path, _leaf(path, "change"))
    saved = repair(path, "ann").salvaged
    assert saved is not None
    assert saved.path is not None
    with open_project(saved.path) as project:
        assert set(project.schema.entity_labels) == {"Method", "Task"}


@pytest.mark.parametrize("size", [50, 3000])
def test_nothing_to_save(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])
    done = repair(path, "ann")
    assert done.salvaged is not None
    assert done.salvaged.path is None
    assert done.sound_backup is None
    assert json.dumps(done.to_json())


class TestBelongings:
    """Queues and the choice of a model are saved with the documents."""

    @pytest.fixture
    def saved(self, path: Path) -> Salvaged:
        with open_project(path) as project:
            save_queue(
                project, SavedQueue("tricky", (3, 5, 2), words="lattice", sort="random", seed=7)
            )
            project_settings.append(project, {"name": "parsing", "hash": "ab" * 32})
            project_settings.append(project, {"rollback": True})
        change(path, "INSERT INTO meta VALUES ('queue:odd', 'gone')")
        _spoil(path, _leaf(path, "change"))
        done = repair(path, "ann").salvaged
        assert done is not None and done.path is not None
        return done

    def test_queues_know_their_abstracts_by_their_new_numbers(
        self, path: Path, saved: Salvaged
    ) -> None:
        assert saved.path is not None and saved.queues == 1
        with open_project(path, read=True) as old, open_project(saved.path) as new:
            before, after = read_queue(old, "tricky"), read_queue(new, "tricky")
            assert before is not None and after is not None
            assert (after.words, after.sort, after.seed) == ("lattice", "random", 7)
            keys = [
                [project.document_state(number).stored.document.doc_key for number in queue.numbers]
                for project, queue in ((old, before), (new, after))
            ]
            assert keys[0] == keys[1]
            assert queue_lengths(new) == {"tricky": 3}

    def test_choices_stay_with_their_time(self, path: Path, saved: Salvaged) -> None:
        assert saved.path is not None and saved.choices == 2
        with open_project(path, read=True) as old, open_project(saved.path) as new:
            assert project_settings.read(new) == project_settings.read(old)

    @pytest.mark.parametrize("value", ["gone", "[1]", '[{"name": 3}]', "{}"])
    def test_choices_that_make_no_sense_are_left_out(self, path: Path, value: str) -> None:
        change(path, f"INSERT INTO meta VALUES ('models', '{value}')")
        _spoil(path, _leaf(path, "change"))
        done = repair(path, "ann").salvaged
        assert done is not None and done.path is not None and done.choices == 0
