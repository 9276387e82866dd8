"""Keys at random, half of them such that mean something now, and what holds after each of them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from sciextract.documents.annotations import Candidates, LabelScore, SpanCandidate
from sciextract_app.review.keys.desk import Desk
from sciextract_app.shared.actions import ACTIONS
from sciextract_app.shared.view_models import Mode
from tests.app.review.abstracts import TEXT, corrupted, document, place, predict, project_with

OTHER = "A tagger 😀 meets \x1b[31mredα\r\n[12] graph tagger. It e\u0301xists."
BOUND: list[str] = sorted({key for action in ACTIONS for key in action.keys})
KEYS: list[str] = [
    *BOUND,
    *"abdeghjklostuvw",
    *["enter", "escape", "tab", "1", "2", "a", "s"] * 3,
    "z",
    "f9",
]
_WRITTEN = {"Enter": "enter", "Esc": "escape", "Space": "space", "Tab": "tab"}
_RANGES = {"1-6": "123456", "1-7": "1234567", "1-9": "123456789"}


def original_project(folder: Path) -> Path:
    """Predictions and candidates in the first abstract, one of odd characters, and two without words."""
    with project_with(folder, None, (TEXT, OTHER, "", "  ")) as project:
        spans = (_candidate(word) for word in ("study", "hard"))
        said = replace(corrupted(3).annotations, candidates=Candidates(tuple(spans)))
        predict(project, said, document(doc_key="d1"))
        return project.path


def next_key(desk: Desk, chance: random.Random) -> str:
    """Half of the keys at random, half among those that the desk offers."""
    if chance.random() < 0.5:
        return chance.choice(KEYS)
    offered = offers(desk)
    return chance.choice(offered) if offered else "escape"


def offers(desk: Desk) -> list[str]:
    """Keys of footer and legend that mean something now, and the letters over the text."""
    found: list[str] = [rest[0] for rest in desk.passage().hints.values() if rest]
    for hint in (*desk.footer(), *desk.legend()):
        for key in hint.key.split() if hint.live else ():
            found += _RANGES.get(key) or [_WRITTEN.get(key, key)]
    return [key for key in found if len(key) == 1 or key in _WRITTEN.values()]


def check(desk: Desk) -> None:
    """What holds after every key."""
    now = desk.state
    passage = desk.passage()
    assert 0 <= passage.cursor[0] <= passage.cursor[1] <= len(passage.text)
    if now.view is not None:
        assert now.focus is None or now.view.row(now.focus) is not None
        assert not (passage.selection and passage.candidate)
        assert (now.mode is Mode.JUMP) == bool(now.mode is Mode.JUMP and passage.hints)
    assert sum(mark.focused and mark.last for mark in passage.marks) <= 1
    assert desk.footer()


def _candidate(word: str) -> SpanCandidate:
    return SpanCandidate(place(word), (LabelScore("Task", 0.3),))
