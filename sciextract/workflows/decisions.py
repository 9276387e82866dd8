"""Which projects were merged and which differences have been decided, by the log."""

from __future__ import annotations

import json
from collections import defaultdict

from sciextract.store.file.failures import translated
from sciextract.store.log.events import REDO, UNDO
from sciextract.store.project import Project

KIND = "adjudicate"
"""The word in the log: one event a decision, with the key of the difference, or the keys of several."""
MERGE = "merge project"
"""The word for another project that came in, under the name of a source."""


class Decisions:
    """What was merged and decided and not undone; asking again reads only what the log has grown since.

    Args:
        project: Asked outside of transactions, since what is read must stay.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._last = 0
        self._keys: dict[int, frozenset[str]] = {}
        self._events: defaultdict[int, list[int]] = defaultdict(list)
        self._merges: dict[int, str] = {}
        self._undone: set[int] = set()

    def keys(self, number: int) -> frozenset[str]:
        """Keys of the decided differences of one document."""
        self._read()
        holding = [self._keys[each] for each in self._events[number] if each not in self._undone]
        return frozenset().union(*holding)

    def merged(self) -> dict[str, int]:
        """Names and numbers of the merged projects, in the order in which they came."""
        self._read()
        names = [name for each, name in self._merges.items() if each not in self._undone]
        return {name: self._project.source_id(name) for name in dict.fromkeys(names)}

    def was_merged(self, source: str) -> bool:
        """Whether a source is another project, even one whose merge was undone."""
        self._read()
        return source in self._merges.values()

    def _read(self) -> None:
        with translated(self._project.path):
            rows = self._project.connection.execute(
                "SELECT id, kind, params, target FROM event WHERE id > ? AND kind IN (?, ?, ?, ?) ORDER BY id",
                (self._last, KIND, MERGE, UNDO, REDO),
            ).fetchall()
        for event_id, kind, params, target in rows:
            self._last = event_id
            if kind == KIND:
                self._note(event_id, json.loads(params))
            elif kind == MERGE:
                self._merges[event_id] = json.loads(params)["source"]
            elif kind == UNDO:
                self._undone.add(target)
            else:
                self._undone.discard(target)

    def _note(self, event_id: int, told: dict[str, object]) -> None:
        match told:
            case {"number": int(number), "keys": list(keys)}:
                self._keys[event_id] = frozenset(keys)
            case {"number": int(number), "key": str(key)}:
                self._keys[event_id] = frozenset({key})
            case _:
                return
        self._events[number].append(event_id)
