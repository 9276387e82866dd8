"""What a word after ``--model``, or given to ``Extractor.load``, means."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import DEFAULT_MODEL, locate_model
from sciextract.resources import bundled_models
from tests.unit.workflows.models.builders import model_folder

BUNDLED = bundled_models() / DEFAULT_MODEL


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder called like the bundled model lies in the current one."""
    monkeypatch.chdir(tmp_path)
    return model_folder(tmp_path / DEFAULT_MODEL)


def test_a_bundled_name_means_the_model_in_the_package(here: Path) -> None:
    assert locate_model(DEFAULT_MODEL) == BUNDLED
    assert Extractor.load(threads=1).config.name == DEFAULT_MODEL


@pytest.mark.parametrize("word", ["./sci", Path("sci"), "{here}"])
def test_a_folder_is_named_as_a_path(here: Path, word: str | Path) -> None:
    word = word.format(here=here) if isinstance(word, str) else word
    assert locate_model(word).resolve() == here.resolve()


def test_other_words_mean_a_folder_first(here: Path) -> None:
    folder = model_folder(here.parent / "mine")
    assert locate_model("mine").resolve() == folder.resolve()
