from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import Any, TextIO, cast

import pytest

from sciextract.documents.annotations import Annotations, Entity, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import OutputError, UsageError
from sciextract.formats import open_writer
from sciextract.formats.registry import writable
from sciextract.text.analyse import make_document
from sciextract.workflows.output import OutputFile, StandardOutput, check_output


def test_nothing_written_leaves_nothing(tmp_path: Path) -> None:
    OutputFile(str(tmp_path / "a")).close()
    assert not (tmp_path / "a").exists()


def test_each_line_is_on_the_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with OutputFile(str(path)) as stream:
        assert stream.writable()
        stream.write("κ = 1\n")
        assert path.read_text("utf-8") == "κ = 1\n"
    assert stream.closed
    stream.close()


def test_going_on_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one\n")
    with OutputFile(str(path), append=True) as stream:
        stream.write("two\n")
    OutputFile(str(path), append=True).close()
    assert path.read_text() == "one\ntwo\n"


def test_a_line_that_does_not_fit_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            if data[:6] == b"second":
                super().write(data[: len(data) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    monkeypatch.setattr(io, "FileIO", Full)
    with OutputFile(str(path)) as stream:
        stream.write("first\n")
        with pytest.raises(OutputError, match="the disk is full") as caught:
            stream.write("second line\n")
        assert "--resume" in caught.value.hint
    assert path.read_text() == "first\n"


def test_an_output_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        OutputFile(str(tmp_path)).write("x\n")


def test_where_an_output_may_lie(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "a.txt").write_text("text")
    (tmp_path / "link.txt").symlink_to(papers / "a.txt")
    (tmp_path / "empty.jsonl").touch()
    inside = str(papers / "deep" / ".." / "out.jsonl")
    (papers / "deep").mkdir()
    for path in (inside, str(tmp_path / "link.txt")):
        with pytest.raises(UsageError, match="would be read"):
            check_output(path, [str(papers), str(papers / "a.txt")], overwrite=True)
    for name in ("papers/out.result", "papers/.out.jsonl", "out.jsonl", "empty.jsonl"):
        check_output(str(tmp_path / name), ["-", str(papers)], overwrite=False)
    check_output(os.devnull, [str(papers)], overwrite=False)


class Screen(io.BytesIO):
    """A terminal that remembers what it was told."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("format_id", [spec.id for spec in writable() if spec.output == "stream"])
def test_data_on_a_terminal_cannot_steer_it_and_is_exact_elsewhere(
    format_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "\x1b]0;x\x07 \x9b31m \u202etab\tend"
    entity = Entity("e", (Span(0, len(hostile)),), f"M{hostile}")
    document = make_document(hostile, f"{hostile}\n{hostile}", {"title": hostile})
    annotated = AnnotatedDocument(document, Annotations((entity,)))

    def sent(raw: io.BytesIO, *, direct: bool) -> str:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "utf-8"))
        writer = open_writer(format_id, "-" if direct else cast(TextIO, StandardOutput()))
        writer.write(annotated)
        writer.close()
        sys.stdout.flush()
        return raw.getvalue().decode()

    exact = sent(io.BytesIO(), direct=False)
    assert sent(io.BytesIO(), direct=True) == exact
    for direct in (False, True):
        shown = sent(Screen(), direct=direct)
        assert {character for character in shown if not character.isprintable()} <= {"\n", "\t"}
        assert (len(shown), shown.count("\n")) == (len(exact), exact.count("\n"))
