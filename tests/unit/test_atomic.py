"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from pathlib import Path

import pytest

from sciextract import atomic


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_replaced(tmp_path: Path, alone: bool, durable: bool) -> None:
    target = tmp_path / "file.json"
    for text in ("first", "second ä"):
        atomic.write(target, text, alone=alone, durable=durable)
        assert target.read_bytes() == text.encode()
    assert names(tmp_path) == ["file.json"]


@pytest.mark.parametrize("durable", [True, False])
def test_a_folder_is_replaced(tmp_path: Path, durable: bool) -> None:
    target = tmp_path / "folder"
    for name in ("a", "b"):
        with atomic.replacing(target, durable=durable) as partial:
            (partial / "inner").mkdir(parents=True)
            (partial / name).touch()
        assert names(target) == [name, "inner"]
    assert names(tmp_path) == ["folder"]


def test_a_block_that_fails_or_writes_nothing_changes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("whole")
    with pytest.raises(KeyboardInterrupt), atomic.replacing(target) as partial:
        partial.write_text("half")
        raise KeyboardInterrupt
    with atomic.replacing(target):
        pass
    assert names(tmp_path) == ["file"]
    assert target.read_text() == "whole"


def test_a_folder_that_cannot_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    rename = os.rename

    def refuses_partial(source: Path, place: Path) -> None:
        if source.name.endswith(".partial"):
            raise OSError(errno.EIO, "no")
        rename(source, place)

    monkeypatch.setattr(os, "rename", refuses_partial)
    with pytest.raises(OSError, match="no"), atomic.replacing(target) as partial:
        partial.mkdir()
    assert names(tmp_path) == ["folder"]


def test_what_a_killed_process_left_is_replaced_by_one_that_is_alone(tmp_path: Path) -> None:
    left = atomic.partial_path(tmp_path / "file", alone=True)
    left.mkdir()
    atomic.write(tmp_path / "file", "whole", alone=True)
    assert names(tmp_path) == ["file"]


def test_the_longest_name_leaves_room(tmp_path: Path) -> None:
    target = tmp_path / ("ä" * 127)
    atomic.write(target, "x")
    with atomic.creating(tmp_path / ("b" * 255)) as partial:
        partial.mkdir()
    assert len(names(tmp_path)) == 2


def test_a_new_file_takes_no_name_of_another(tmp_path: Path) -> None:
    target = tmp_path / "file"
    with atomic.creating(target, durable=True) as partial:
        partial.write_text("first")
    with pytest.raises(FileExistsError), atomic.creating(target) as partial:
        partial.write_text("second")
    assert (names(tmp_path), target.read_text()) == (["file"], "first")


def test_a_new_folder_takes_no_name_of_another(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "content").touch()
    with pytest.raises(FileExistsError), atomic.creating(target) as partial:
        partial.mkdir()
    assert (names(tmp_path), names(target)) == (["folder"], ["content"])


def test_leftovers_of_a_target_go_when_they_are_old(tmp_path: Path) -> None:
    old, other, fresh = (atomic.partial_path(tmp_path / name) for name in ("a[1]", "b", "a[1]"))
    for file in (old, other, fresh):
        file.touch()
    for file in (old, other):
        os.utime(file, (time.time() - 100,) * 2)
    atomic.remove_leftovers(tmp_path, older_than=50, of=tmp_path / "a[1]")
    assert names(tmp_path) == sorted([other.name, fresh.name])
    atomic.remove_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_lines_are_appended_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines"
    atomic.append_line(path, b"one\n")
    with path.open("ab") as stream:
        stream.write(b"torn")
    atomic.append_line(path, b"two\n")
    assert path.read_bytes() == b"one\ntorn\ntwo\n"

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="full"):
        atomic.append_line(path, b"three\n")
    assert path.read_bytes() == b"one\ntorn\ntwo\n"


def test_what_an_ended_process_left_goes_at_once_and_what_a_running_one_writes_stays(
    tmp_path: Path,
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    running = atomic.partial_path(tmp_path / "model")
    left = running.with_name(running.name.replace(f"-{os.getpid()}-", f"-{ended.pid}-"))
    for partial in (running, left):
        partial.mkdir()
    atomic.remove_leftovers(tmp_path, older_than=3_600)
    assert names(tmp_path) == [running.name]
