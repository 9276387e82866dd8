"""Keys at random: nothing is ever raised, the store's rules hold, and everything can be taken back."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import Annotations, Candidates, LabelScore, SpanCandidate
from sciextract.store import open_project
from sciextract.store.health.consistency import problems
from sciextract.store.log.rebuild import differing
from sciextract.store.project import Project
from sciextract_app.presenter.actions import ACTIONS
from sciextract_app.presenter.desk import Desk
from sciextract_app.presenter.queue import Order
from sciextract_app.presenter.shown import Mode
from tests.app.presenter.abstracts import (
    SYMMETRIC,
    TEXT,
    corrupted,
    document,
    place,
    predict,
    project_with,
)
from tests.unit.store.projects import all_state

OTHER = "A tagger 😀 meets \x1b[31mredα\r\n[12] graph tagger. It e\u0301xists."
BOUND = sorted({key for action in ACTIONS for key in action.keys})
KEYS = [*BOUND, *"abdeghjklostuvw", *["enter", "escape", "tab", "1", "2", "a", "s"] * 3, "z", "f9"]
RUNS = int(os.environ.get("SCIEXTRACT_FUZZ_RUNS", "12"))
LENGTH = int(os.environ.get("SCIEXTRACT_FUZZ_KEYS", "300"))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with predictions and candidates in its first abstract, one of odd characters, and an empty one."""
    texts = (TEXT, OTHER, "", "  ")
    with project_with(tmp_path_factory.mktemp("original"), None, texts) as project:
        spans = [
            SpanCandidate(place(word), (LabelScore("Task", 0.3),)) for word in ("study", "hard")
        ]
        said = corrupted(3).annotations
        told = Annotations(said.entities, said.relations, said.clusters, Candidates(tuple(spans)))
        predict(project, told, document(doc_key="d1"))
        return project.path


@contextmanager
def copy_of(original: Path) -> Iterator[Project]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.sciextract"
        shutil.copy(original, path)
        with open_project(path, "ann") as project:
            project.connection.execute("PRAGMA synchronous = OFF")
            yield project


def check(desk: Desk) -> None:
    """What holds after every key."""
    now = desk.situation
    passage = desk.passage()
    assert 0 <= passage.cursor[0] <= passage.cursor[1] <= len(passage.text)
    if now.scene is not None:
        assert now.focus is None or now.scene.row(now.focus) is not None
        assert not (passage.selection and passage.candidate)
        assert (now.mode is Mode.JUMP) == bool(now.mode is Mode.JUMP and passage.hints)
    assert sum(mark.focused and mark.last for mark in passage.marks) <= 1
    assert desk.footer()


def take_all_back(desk: Desk) -> None:
    """Undo until only what was not done at the desk is left."""
    for _ in range(10_000):
        feedback = desk.press("u")
        if desk.mode is Mode.CONFIRM:
            desk.press("escape")
            return
        assert not feedback.problem, feedback.message
    raise AssertionError("there is no end to what can be undone")


def play(original: Path, keys: list[str], order: Order) -> None:
    with copy_of(original) as project:
        desk = Desk(project, 1, order=order)
        begin = all_state(project)
        for key in keys:
            asks = desk.situation.pending.question.startswith("Take back")
            desk.press("escape" if asks else key)  # the predictions stay, else nothing is left
            check(desk)
        assert desk.inspector() and desk.header() and desk.relations(everything=True) is not None
        desk.press("escape")
        desk.press("escape")
        assert desk.mode is Mode.REVIEW
        assert differing(project.connection) == []
        assert not any(problems(project.draft(n), SYMMETRIC) for n in project.numbers())
        take_all_back(desk)
        assert all_state(project) == begin


@settings(max_examples=RUNS)
@given(keys=st.lists(st.sampled_from(KEYS), max_size=60), order=st.sampled_from(Order))
def test_few_keys(original: Path, keys: list[str], order: Order) -> None:
    play(original, keys, order)


@pytest.mark.parametrize("seed", range(RUNS))
def test_many_keys(original: Path, seed: int) -> None:
    chance = random.Random(seed)
    play(original, chance.choices(KEYS, k=LENGTH), chance.choice(list(Order)))
