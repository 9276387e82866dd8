from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.cli.annotate_screen import count_records


@pytest.mark.parametrize(
    ("name", "content", "count"),
    [
        ("a.jsonl", '{"text": "x"}\n{"text": "y"}', 2),
        ("a.jsonl", '\n{"text": "x"}\n', 2),
        ("a.txt", "one abstract\n\nin paragraphs\n", 1),
        ("a.csv", 'id,text\n1,"two\nlines"\n2,x\n', 2),
        ("a.tsv", "id\ttext\n1\tx\n", 1),
        ("a.txt", "", 1),
    ],
)
def test_records_of_a_file(tmp_path: Path, name: str, content: str, count: int) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert count_records([str(tmp_path / name)]) == count


def test_folders_and_several_inputs(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("x")
    (folder / "b.jsonl").write_text('{"text": "x"}\n' * 3)
    (folder / ".hidden.txt").write_text("x")
    (folder / "notes.md").write_text("x")
    assert count_records([str(tmp_path), str(folder / "a.txt")]) == 5


def test_a_file_without_an_abstract_counts_as_the_problem_that_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n' * 2)
    (tmp_path / "requirements.txt").write_text("numpy==2.0\n")
    assert count_records([str(tmp_path)]) == 3
    (tmp_path / "requirements.txt").rename(tmp_path / "LICENSE.md")
    assert count_records([str(tmp_path)]) == 2


def test_what_cannot_be_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n\ny\n")
    assert count_records(["-"]) is None
    assert count_records([str(tmp_path / "gone")]) is None
    assert count_records([str(tmp_path / "a.txt")], "paragraphs") is None
