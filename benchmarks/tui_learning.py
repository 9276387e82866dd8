"""Keys of the desk while an adapter learns in its process, and while that process is stopped, by turns in one desk."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from benchmarks.tui_bare import WORDS
from benchmarks.tui_keys import Repaints, Turns, stop_at
from benchmarks.tui_terminal import BARE, DESK, Size, TimedTerminal, started
from sciextract.store import Project, open_project

FINISHED, UNTOUCHED = 20, 40
"""Abstracts that are learned from at first, and such as are finished later or get suggestions."""

PHASES = {"while it learns": signal.SIGCONT, "learning stopped": signal.SIGSTOP}
KEYS = ("tab", "enter", "u", "j", "x", "u", "tab", "2", "u", "k", "tab", "l")
_SIGN = "⟳"


def measure(path: Path, size: Size, rounds: int) -> Repaints:
    """Repaints by phase, and of the bare app in each.

    Args:
        path: A project of :func:`~benchmarks.tui_corpus.learning_project`.
        size: Of the terminal.
        rounds: How often all keys are pressed in each phase.
    """
    words = stop_at(path, 1)
    with (
        started((*DESK, path.name), path.parent, size) as desk,
        open_project(path, "bench") as project,
        started(BARE, path.parent, size) as bare,
    ):
        desk.open(words)
        bare.open(WORDS)
        desk.wait_for(_SIGN)
        desk.settle()
        process, turns = _learning_process(path), Turns(desk, bare)
        for _ in range(rounds):
            for phase, sent in PHASES.items():
                _keep_learning(desk, project)
                os.kill(process, sent)
                for key in KEYS:
                    turns.press(key, phase)
            os.kill(process, signal.SIGCONT)
        desk.leave()
    return turns.found


def _keep_learning(desk: TimedTerminal, project: Project) -> None:
    """Finish another abstract when there is nothing left to learn."""
    desk.settle()
    if _SIGN not in desk.text:
        last = project.documents_with_undecided()[-1]
        project.actions.mark_done(last, undecided="accept")
        desk.press(
            "n", "p", "F"
        )  # the next decision in an opened abstract notices what is finished
        desk.wait_for(_SIGN)
        desk.settle()


def _learning_process(path: Path) -> int:
    """The process that learns from a project; it lives as long as the desk."""
    words = (b"learning_process", bytes(path.resolve()))
    [found] = (
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if all(word in path.read_bytes() for word in words)
    )
    return found
