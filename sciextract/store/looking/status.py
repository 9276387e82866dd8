"""How far the work on a project is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sciextract.store.file.failures import translated
from sciextract.store.health import alarm, backup
from sciextract.store.state.rows import Completeness, Layer

if TYPE_CHECKING:
    from sciextract.store.project import Project


@dataclass(frozen=True, slots=True)
class Status:
    """Counts of a project.

    Attributes:
        project: The file.
        schema: The label schema's name.
        documents: Abstracts.
        undecided: Items that wait for a decision.
        decided: Items that a person accepted, edited, added or rejected.
        imported: Items that came with a file and stand as they came.
        completeness: Per layer how many abstracts are untouched, in progress, done.
        flagged: Abstracts with a flag.
        sources: Names of everyone who said something: imports, model runs, persons.
        newest_backup: File of the newest backup.
        alarms: What has become fewer without an event.
        unclean: Whether a process did not close the project.
    """

    project: str
    schema: str
    documents: int
    undecided: int
    decided: int
    imported: int
    completeness: dict[str, dict[str, int]]
    flagged: int
    sources: list[str]
    newest_backup: str | None
    alarms: list[str]
    unclean: bool

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return asdict(self)


def status_of(project: Project) -> Status:
    """The counts of an open project."""
    connection = project.connection
    with translated(project.path):
        documents, flagged = connection.execute(
            "SELECT count(*), coalesce(sum(flagged), 0) FROM progress"
        ).fetchone()
        undecided, decided = connection.execute(
            "SELECT coalesce(sum(undecided), 0), coalesce(sum(decided), 0) FROM summary"
        ).fetchone()
        imported = connection.execute(
            "SELECT coalesce(sum(number), 0) FROM tally WHERE state = 'imported'"
        ).fetchone()[0]
        backups = backup.list_backups(project.path)
        return Status(
            project=str(project.path),
            schema=project.schema.name,
            documents=documents,
            undecided=undecided,
            decided=decided,
            imported=imported,
            completeness={layer.value: _completeness(project, layer) for layer in Layer},
            flagged=flagged,
            sources=sorted(project.sources.values()),
            newest_backup=str(backups[0].path) if backups else None,
            alarms=alarm.drops(connection),
            unclean=bool(project.unclean),
        )


def _completeness(project: Project, layer: Layer) -> dict[str, int]:
    rows = project.connection.execute(
        f"SELECT {layer.value}, count(*) FROM progress GROUP BY {layer.value}"
    )
    counts = dict(rows.fetchall())
    return {each.value: counts.get(each.value, 0) for each in Completeness}
