"""Which files and folders of a folder are its splits."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import InputMissingError, UsageError
from sciextract.formats.inputs import Part, part_of, paths_of, splits_of


def _touch(folder: Path, *names: str) -> Path:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}\n")
    return folder


def _names(folder: Path) -> dict[str, list[str]]:
    return {
        part.value: [str(path.relative_to(folder)) for path in paths]
        for part, paths in splits_of(folder).items()
    }


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train.jsonl", Part.TRAIN),
        ("train-00000-of-00001.parquet", Part.TRAIN),
        ("scierc_train.json.gz", Part.TRAIN),
        ("validation", Part.DEV),
        ("dev.jsonl", Part.DEV),
        ("VALID.jsonl", Part.DEV),
        ("test", Part.TEST),
        ("latest.jsonl", None),
        ("restrained.txt", None),
        ("the-test-of-time.txt", None),
        ("0001.txt", None),
        ("", None),
    ],
)
def test_names_of_splits(name: str, part: Part | None) -> None:
    assert part_of(name) is part


def test_layouts_of_the_hub(tmp_path: Path) -> None:
    flat = _touch(
        tmp_path / "flat", "train.jsonl", "dev.jsonl", "test.jsonl", "README.md", "other.jsonl"
    )
    assert _names(flat) == {
        "train": ["train.jsonl"], "validation": ["dev.jsonl"], "test": ["test.jsonl"]
    }  # fmt: skip
    parts = ("train-00000-of-00002.parquet", "train-00001-of-00002.parquet")
    data = _touch(
        tmp_path / "hub", *(f"data/{part}" for part in parts), "data/validation-0.parquet"
    )
    assert _names(data)["train"] == [f"data/{part}" for part in parts]
    converted = _touch(
        tmp_path / "converted", "default/train/0000.parquet", "default/test/0.parquet"
    )
    assert _names(converted) == {"train": ["default/train"], "test": ["default/test"]}


def test_hidden_files_and_those_of_no_format_are_no_splits(tmp_path: Path) -> None:
    folder = _touch(tmp_path, ".cache/train.jsonl", "train.md", "train.py")
    assert splits_of(folder) == {}


def test_standoff_files_belong_together_whatever_they_are_called(tmp_path: Path) -> None:
    folder = _touch(tmp_path, "train-1.txt", "train-1.ann", "other.txt", "other.ann")
    assert splits_of(folder) == {} and paths_of(folder, Part.TRAIN) == [folder]
    split = _touch(tmp_path / "split", "train/a.txt", "train/a.ann", "dev/b.txt", "dev/b.ann")
    assert paths_of(split, Part.DEV) == [split / "dev"]


def test_a_file_or_a_folder_without_splits_is_whatever_is_wanted(tmp_path: Path) -> None:
    folder = _touch(tmp_path, "a.jsonl")
    for path in (folder, folder / "a.jsonl"):
        assert paths_of(path, Part.TRAIN) == paths_of(path, Part.DEV) == [path]


def test_a_split_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = _touch(tmp_path, "test.jsonl", "train.jsonl")
    with pytest.raises(UsageError, match="has no validation split, only test, train"):
        paths_of(folder, Part.DEV)
    with pytest.raises(InputMissingError, match="no such file"):
        paths_of(tmp_path / "gone", Part.TRAIN)
