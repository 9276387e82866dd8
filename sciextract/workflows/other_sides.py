"""Who else has said something about texts of a project: merged projects, models, files with annotations."""

from __future__ import annotations

from dataclasses import dataclass

from sciextract.store.file.failures import translated
from sciextract.store.log.events import UNDONE
from sciextract.store.project import Project
from sciextract.workflows.decisions import Decisions

_SPEAKERS = f"""SELECT s.name, s.id FROM source s
    LEFT JOIN run r ON r.source_id = s.id LEFT JOIN event e ON e.id = r.event_id
    WHERE EXISTS (SELECT 1 FROM annotation_set a WHERE a.source_id = s.id)
      AND (e.id IS NULL OR NOT {UNDONE}) ORDER BY s.id"""


@dataclass(frozen=True, slots=True)
class OtherSide:
    """Somebody whom the project can be held against.

    Attributes:
        name: ``import:FILE``; of a model ``model:NAME@HASH`` for all its runs.
        source_ids: The numbers of its sources.
        merged: Whether it is another project that was merged.
    """

    name: str
    source_ids: tuple[int, ...]
    merged: bool

    def source_in(self, project: Project, number: int) -> int | None:
        """The one of its sources that spoke last about a document, ``None`` where none did."""
        marks = ", ".join("?" * len(self.source_ids))
        row = project.connection.execute(
            f"""SELECT source_id FROM annotation_set
            WHERE document_id = ? AND source_id IN ({marks}) ORDER BY id DESC LIMIT 1""",
            (number, *self.source_ids),
        ).fetchone()
        return None if row is None else int(row[0])


def other_sides(project: Project, decisions: Decisions) -> list[OtherSide]:
    """Merged projects first, then models with the newest ones first, then files.

    Runs and merges that were undone are left out.
    """
    with translated(project.path):
        rows = project.connection.execute(_SPEAKERS).fetchall()
    merged = decisions.merged()
    by_name: dict[str, tuple[int, ...]] = {}
    for name, source_id in rows:
        if name in merged or not decisions.was_merged(name):
            own = name.partition("/")[0] if name.startswith("model:") else name
            by_name[own] = (*by_name.get(own, ()), source_id)
    found = [OtherSide(name, ids, name in merged) for name, ids in by_name.items()]
    return sorted(found, key=_rank)


def _rank(side: OtherSide) -> tuple[bool, bool, int]:
    is_model = side.name.startswith("model:")
    newest = side.source_ids[-1]
    return not side.merged, not is_model, -newest if is_model else newest
