"""Keys at random: nothing is ever raised, the store's rules hold, and everything can be taken back."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.store import Project, open_project
from sciextract.store.document_state import find_broken_rules
from sciextract.store.state_tables import find_differing
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.modes import Confirming
from sciextract_app.review.model.queue import Order
from sciextract_app.shared.view_models import Mode
from tests.app.review.abstracts import SYMMETRIC
from tests.app.review.random_keys import KEYS, check, next_key, original_project
from tests.tiers import seeds
from tests.unit.store.projects import all_state

RUNS = int(os.environ.get("SCIEXTRACT_FUZZ_RUNS", "100"))
LENGTH = int(os.environ.get("SCIEXTRACT_FUZZ_KEYS", "500"))
FEW = 12
"""Short sequences, which hypothesis makes shorter still when one fails."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return original_project(tmp_path_factory.mktemp("original"))


@contextmanager
def copy_of(original: Path) -> Iterator[Project]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.sciextract"
        shutil.copy(original, path)
        with open_project(path, "ann") as project:
            project.connection.execute("PRAGMA synchronous = OFF")
            yield project


def take_all_back(desk: Desk) -> None:
    """Undo until only what was not done at the desk is left."""
    for _ in range(10_000):
        feedback = desk.press("u")
        if desk.mode is Mode.CONFIRM:
            desk.press("escape")
            return
        assert not feedback.problem, feedback.message
    raise AssertionError("there is no end to what can be undone")


def play(original: Path, keys: Callable[[Desk], Iterator[str]], order: Order) -> None:
    with copy_of(original) as project:
        desk = Desk(project, 1, order=order)
        begin = all_state(project)
        for key in keys(desk):
            doing = desk.state.doing
            asks = isinstance(doing, Confirming) and doing.question.startswith("Take back")
            desk.press("escape" if asks else key)  # the predictions stay, else nothing is left
            check(desk)
        assert desk.inspector() and desk.header() and desk.relations(everything=True) is not None
        desk.press("escape")
        desk.press("escape")
        assert desk.mode is Mode.REVIEW
        assert find_differing(project.connection) == []
        assert not any(
            find_broken_rules(project.document_state(n), SYMMETRIC) for n in project.numbers()
        )
        take_all_back(desk)
        assert all_state(project) == begin


@settings(max_examples=FEW)
@given(keys=st.lists(st.sampled_from(KEYS), max_size=60), order=st.sampled_from(Order))
def test_few_keys(original: Path, keys: list[str], order: Order) -> None:
    play(original, lambda _: iter(keys), order)


@pytest.mark.parametrize("seed", seeds(RUNS, fast=4))
def test_many_keys(original: Path, seed: int) -> None:
    chance = random.Random(seed)
    order = chance.choice(list(Order))
    play(original, lambda desk: (next_key(desk, chance) for _ in range(LENGTH)), order)
