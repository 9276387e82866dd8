"""Where lines go, and what happens when they cannot."""

from __future__ import annotations

import errno
import io
import sys
from pathlib import Path

import pytest

from sciextract.errors import OutputError
from sciextract.formats.sink import FileNames, LineSink, new_folder


class Full(io.StringIO):
    """A stream on a disk without room."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


class Gone(io.StringIO):
    """A pipe whose reader has left."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_lines_end_in_one_line_feed_and_are_utf8(tmp_path: Path) -> None:
    sink = LineSink(tmp_path / "out.jsonl")
    sink.write_line("α\r")
    sink.close()
    assert (tmp_path / "out.jsonl").read_bytes() == "α\r\n".encode()


def test_a_full_disk_is_said() -> None:
    with pytest.raises(OutputError, match="the stream: the disk is full"):
        LineSink(Full()).write_line("x")


def test_a_folder_that_does_not_exist_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot be written: No such file") as caught:
        LineSink(tmp_path / "absent" / "out.jsonl")
    assert "--output" in caught.value.hint


def test_a_reader_that_has_gone_is_left_to_the_command_line() -> None:
    with pytest.raises(BrokenPipeError):
        LineSink(Gone()).write_line("x")


def test_standard_output_is_utf8_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    bytes_out = io.BytesIO()
    stream = io.TextIOWrapper(bytes_out, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    sink = LineSink("-")
    sink.write_line("α")
    sink.close()
    assert bytes_out.getvalue() == "α\n".encode()
    assert not stream.closed


def test_an_open_stream_stays_open() -> None:
    stream = io.StringIO()
    sink = LineSink(stream)
    sink.write_line("x")
    sink.close()
    assert stream.getvalue() == "x\n"


def test_file_names() -> None:
    names = FileNames()
    keys = ["a/b", "A:b", "", "CON.txt", "..", "a\nb", "été", "é" * 100]
    made = [names.name_of(key) for key in keys]
    assert made[:6] == ["a_b", "A_b-2", "document", "CON.txt_", "document-2", "a_b-3"]
    assert made[6] == "été" and len(made[7].encode()) <= 120


def test_new_folder(tmp_path: Path) -> None:
    assert new_folder(tmp_path / "a" / "b").is_dir()
    with pytest.raises(OutputError, match="not empty"):
        new_folder(tmp_path / "a")
