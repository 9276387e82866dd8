"""One word for one thing: ``--to`` is the format to write, ``--from`` the format to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.formats.registry import get_format
from tests.cli.conftest import Command
from tests.cli.projects import GOLD, write_lines


@pytest.mark.parametrize("word", ["--to", "--export"])
def test_both_words_of_annotate_are_shown(command: Command, word: str) -> None:
    assert word in command("annotate", "--help").out


def test_files_of_suggestions_and_their_format(command: Command, project: Path) -> None:
    write_lines(Path("more.jsonl"), GOLD)
    assert command("suggest", "more.jsonl", "--from", "jsonl").code == 0
    unknown = command("suggest", "more.jsonl", "--from", "xyz").err
    assert "unknown format 'xyz'" in unknown and "langextract" in unknown


@pytest.mark.parametrize(
    ("name", "id"),
    [("spacy", "docbin"), ("huggingface", "parquet"), ("label-studio", "labelstudio")],
)
def test_common_names(name: str, id: str) -> None:
    assert get_format(name, "write").id == id
    with pytest.raises(UsageError):
        get_format(f"{name}x")
