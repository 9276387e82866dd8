"""Recent projects and the keymap file: convenience that must never stand in the way."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sciextract_app.opening import (
    FILE,
    Remembered,
    look_at,
    not_yet_imported,
    note_imported,
    recent_projects,
    remember,
    remembered,
    stamp,
)
from sciextract_app.settings import KEYMAP_FILE, load_keymap, user_folder


def touch(path: Path) -> Path:
    path.write_text("x")
    return path


class TestRecentProjects:
    def test_the_latest_comes_first(self, tmp_path: Path) -> None:
        for name in "abca":
            assert remember(Remembered(touch(tmp_path / name)))
        assert [project.path.name for project in recent_projects()] == ["a", "c", "b"]

    def test_missing_ones_are_dropped(self, tmp_path: Path) -> None:
        remember(Remembered(touch(tmp_path / "a")))
        (tmp_path / "a").unlink()
        assert recent_projects() == []

    def test_files_come_again_only_when_they_changed(self, tmp_path: Path) -> None:
        project, file = Remembered(touch(tmp_path / "p")), touch(tmp_path / "refs.bib")
        assert not_yet_imported(project, [str(file)]) == [str(file)]
        note_imported(project, [str(file)])
        remember(project)
        again = remembered(tmp_path / "p")
        assert not_yet_imported(again, [os.path.relpath(file)]) == []
        file.write_text("longer")
        assert not_yet_imported(again, [str(file)]) == [str(file)]

    def test_a_folder_has_changed_when_a_file_came(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        project = Remembered(tmp_path / "p")
        note_imported(project, [str(tmp_path / "in")])
        touch(tmp_path / "in" / "a.txt")
        assert not_yet_imported(project, [str(tmp_path / "in")])

    @pytest.mark.parametrize("content", ["", "{", "[1, {}]", '[{"path": 3}]', '"x"', "\x00"])
    def test_a_broken_list_is_an_empty_one(self, content: str, tmp_path: Path) -> None:
        file = user_folder("state") / FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        assert recent_projects() == []
        assert remember(Remembered(touch(tmp_path / "a")))
        assert len(json.loads(file.read_text())) == 1

    def test_a_folder_that_cannot_be_made_is_no_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SCIEXTRACT_HOME", str(touch(tmp_path / "file") / "below"))
        assert not remember(Remembered(touch(tmp_path / "a")))

    def test_without_a_home_the_platform_decides(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SCIEXTRACT_HOME")
        assert "sciextract" in str(user_folder("state"))


class TestKeymap:
    def write(self, text: str) -> None:
        folder = user_folder("config")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / KEYMAP_FILE).write_text(text)

    def test_no_file_changes_nothing(self) -> None:
        assert load_keymap({"reject"}).keys == {}

    def test_one_key_and_several(self) -> None:
        self.write('[keys]\nreject = "z"\naccept = ["enter", ","]\n')
        assert load_keymap({"reject", "accept"}).keys == {"reject": "z", "accept": "enter,comma"}

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ('rejct = "z"', "'rejct': reject"),
            ("reject = 3", "a key or a list of keys, not 3"),
            ("reject = []", "a key or a list of keys"),
            ("reject =", "the default keys apply"),
            ("keys = 1", "must be a table"),
        ],
    )
    def test_mistakes_are_told_and_change_nothing(self, text: str, words: str) -> None:
        self.write(text)
        found = load_keymap({"reject"})
        assert found.keys == {}
        assert words in found.problems[0]
        assert KEYMAP_FILE in found.problems[0]


def test_files_that_go_while_they_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(self: Path, pattern: str) -> list[Path]:
        raise FileNotFoundError(str(self))

    monkeypatch.setattr(Path, "rglob", gone)
    assert stamp(str(tmp_path)) == []


def test_a_look_at_a_project_ends_whatever_the_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "endless.sciextract"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            """CREATE VIEW progress AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT i AS document_id, 'done' AS entities FROM n"""
        )
    assert look_at(path) == look_at(tmp_path / "none.sciextract") == (0, 0)
