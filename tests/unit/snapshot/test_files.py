"""Snapshots that are not as they were written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sciextract.errors import TrainingDataError
from sciextract.snapshot.documents import Split
from sciextract.snapshot.files import build_snapshot, read_snapshot, read_undecided
from sciextract.store import Project
from tests.unit.snapshot.abstracts import put_gold, texts


@pytest.fixture
def folder(project: Project, tmp_path: Path) -> Path:
    put_gold(project, texts(Split.TRAIN)[0])
    build_snapshot(project, tmp_path / "s")
    return tmp_path / "s"


def _other_version(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    text = json.dumps(manifest | {"format_version": 9})
    (folder / "manifest.json").write_text(text, "utf-8")


def _entry_lost(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    del manifest["files"]["train.jsonl"]
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "is not a snapshot"),
        (lambda folder: (folder / "manifest.json").write_text("{", "utf-8"), "is not JSON"),
        (lambda folder: (folder / "manifest.json").write_text("[]", "utf-8"), "expected object"),
        (_other_version, "format_version 9 found; expected 1"),
        (_entry_lost, "the manifest has none"),
        (lambda folder: (folder / "dev.jsonl").unlink(), "cannot be read"),
        (lambda folder: (folder / "train.jsonl").write_text("{}\n", "utf-8"), "not as it was"),
    ],
)
def test_harm_is_told(folder: Path, harm: Callable[[Path], object], said: str) -> None:
    harm(folder)
    with pytest.raises(TrainingDataError, match=said):
        read_snapshot(folder)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(TrainingDataError, match="is not a snapshot"):
        read_snapshot(tmp_path / "nothing")
    with pytest.raises(TrainingDataError, match="cannot be read"):
        list(read_undecided(tmp_path / "nothing"))
