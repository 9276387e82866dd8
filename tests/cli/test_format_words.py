"""One word for one thing: ``--to`` is the format to write, ``--from`` the format to read; older words still work."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.formats.registry import get_format
from tests.cli.conftest import Command
from tests.cli.projects import GOLD, write_lines


@pytest.mark.parametrize("word", ["--to", "--export", "--format"])
def test_the_format_that_export_writes(command: Command, project: Path, word: str) -> None:
    result = command("export", word, "jsonl")
    assert result.code == 0, result.err
    assert '"gold"' in result.out


@pytest.mark.parametrize("word", ["--from", "--format"])
@pytest.mark.parametrize("start", [["annotate", "--to", "jsonl"], ["convert", "--to", "jsonl"]])
def test_the_format_that_is_read(
    command: Command, work: Path, word: str, start: list[str], fake: object
) -> None:
    papers = work / "two.txt"
    papers.write_text("A first parser.\n\nA second parser.\n")
    result = command(*start, papers, word, "paragraphs")
    assert result.code == 0, result.err
    assert len(result.out.splitlines()) == 2


def test_a_word_with_an_equals_sign(command: Command, project: Path) -> None:
    assert command("export", "--format=jsonl").code == 0


@pytest.mark.parametrize("word", ["--to", "--export"])
def test_both_words_of_annotate_are_shown(command: Command, word: str) -> None:
    assert word in command("annotate", "--help").out


@pytest.mark.parametrize("name", ["export", "convert", "import", "annotate", "suggest"])
def test_older_words_are_not_shown(command: Command, name: str) -> None:
    assert "--format" not in command(name, "--help").out


def test_files_of_suggestions_and_their_format(command: Command, project: Path) -> None:
    write_lines(Path("more.jsonl"), GOLD)
    for words in (
        ("more.jsonl", "--from", "jsonl"),
        ("more.jsonl", "--format", "jsonl"),
    ):
        assert command("suggest", *words).code == 0, words
    unknown = command("suggest", "more.jsonl", "--from", "xyz").err
    assert "unknown format 'xyz'" in unknown and "langextract" in unknown


@pytest.mark.parametrize(
    ("name", "id"),
    [("spacy", "docbin"), ("huggingface", "parquet"), ("label-studio", "labelstudio")],
)
def test_common_names(name: str, id: str) -> None:
    assert get_format(name).id == get_format(name, "write").id == id
    with pytest.raises(UsageError):
        get_format(f"{name}x")
