"""From a key to the end of its last frame, in a real terminal: moves and decisions apart, beside a bare app."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.tui_bare import WORDS
from benchmarks.tui_terminal import BARE, DESK, Repaint, Size, TimedTerminal, started
from sciextract.store import Project, open_project
from sciextract_app.shared import session

MOVES = ("tab", "shift+tab", "tab", "j", "down", "k", "l", "l", "h", "w", "b", "j")
DECISIONS = {"enter": "accept", "x": "reject", "2": "type", "e": "edge", "F": "flag"}
Repaints = dict[str, list[Repaint]]


BARE_APP = "bare app after "


def measure(path: Path, number: int, size: Size, rounds: int) -> Repaints:
    """Repaints by kind of key: ``move``, each decision, ``undo``, ``next abstract``, and of the bare app after each kind.

    Args:
        path: The project; every decision in it is taken back.
        number: The dense abstract to begin with; at least one follows it.
        size: Of the terminal.
        rounds: How often all keys are pressed.
    """
    with (
        opened(path, number, size) as desk,
        open_project(path, "looks", read=True) as project,
        started(BARE, path.parent, size) as bare,
    ):
        bare.open(WORDS)
        bare.settle()
        turns = Turns(desk, bare)
        for _ in range(rounds):
            for key in MOVES:
                turns.press(key, "move")
            for key, kind in DECISIONS.items():
                turns.decide(project, key, kind)
            for key in "np":
                turns.press(key, "next abstract")
    return turns.found


class Turns:
    """After every key of the desk the bare app gets one, so that both meet the same machine."""

    def __init__(self, desk: TimedTerminal, bare: TimedTerminal) -> None:
        self._desk = desk
        self._bare = bare
        self.found: Repaints = {}

    def press(self, key: str, kind: str) -> None:
        """Press a key at the desk, then one at the bare app; one that changes nothing does not count."""
        self._keep(self._desk.repaint(key), kind)

    def decide(self, project: Project, key: str, kind: str) -> None:
        """A decision and its undo; one that the desk refuses, such as an edge of a relation, does not count."""
        before = _events(project)
        spent = self._desk.repaint(key)
        if _events(project) > before:
            self._keep(spent, kind)
            self.press("u", "undo")
        self.press("tab", "move")

    def _keep(self, spent: Repaint | None, kind: str) -> None:
        beside = self._bare.repaint("k")
        if spent is not None and beside is not None:
            self.found.setdefault(kind, []).append(spent)
            self.found.setdefault(BARE_APP + kind, []).append(beside)


def paging(path: Path, number: int, size: Size, pages: int) -> Repaints:
    """Repaints of pages of the list: one after the other, and from end to end."""
    found: Repaints = {}
    with opened(path, number, size) as desk:
        desk.repaint("ctrl+l")
        desk.settle()
        for _ in range(pages // 20):
            for key in ("home", "end"):
                _press(desk, key, "to the other end", found)
            for key in ("pageup",) * 10 + ("pagedown",) * 5 + ("up",) * 5:
                _press(desk, key, "page" if key.startswith("page") else "row", found)
    return found


@contextmanager
def opened(path: Path, number: int, size: Size) -> Iterator[TimedTerminal]:
    """The desk at an abstract, with nothing in flight."""
    words = stop_at(path, number)
    with started((*DESK, path.name, "--no-predict"), path.parent, size) as terminal:
        terminal.open(words)
        terminal.settle()
        yield terminal
        terminal.leave()  # a project that was not closed is checked when it is opened again


def stop_at(path: Path, number: int) -> str:
    """Note an abstract as where the person stopped; gives a word that tells when its text is shown."""
    session.save(path, session.Session(number))
    with open_project(path, "looks", read=True) as project:
        body = project.document_state(number).text.partition("\n")[2]
    return max((word for word in body.split()[:40] if word.isalpha()), key=len)


def _events(project: Project) -> int:
    return int(project.connection.execute("SELECT max(id) FROM event").fetchone()[0])


def _press(terminal: TimedTerminal, key: str, kind: str, found: Repaints) -> None:
    spent = terminal.repaint(key)
    if spent is not None:
        found.setdefault(kind, []).append(spent)
