"""Work divided among people without a server: copies of a project with a queue for each, and merging them again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from sciextract.errors import ProjectError, SchemaError, UsageError, as_command
from sciextract.store import Project, open_project
from sciextract.store.events import local_time, read_events
from sciextract.store.ingest import BATCH
from sciextract.store.label_changes import REMOVE
from sciextract.store.maintenance.backup import copy_project
from sciextract.store.merge import MergeCounts, ProjectMerge, foreign_documents
from sciextract.store.project_settings import merge_schemas
from sciextract.store.queries import SavedQueue, bring_queues, save_queue
from sciextract.workflows.adjudicate import refresh_disagreements
from sciextract.workflows.disagreements import Decisions

SHARED = "shared"
"""Name of the queue that all copies have."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The copy of one person.

    Attributes:
        project: The file.
        own: Abstracts of that person alone.
        shared: Abstracts of all.
    """

    project: str
    own: int
    shared: int


def divide(
    project: Project,
    names: Sequence[str],
    overlap: float,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Copy]:
    """Copy a project for several people, with queues of the abstracts in which nothing is finished: own and shared ones.

    Args:
        project: The project; it stays as it is.
        names: The copies lie beside it and are called so.
        overlap: Share of the abstracts that all get, 0 to 1, to measure their agreement.
        on_progress: Called with how many copies are made, of how many.

    Raises:
        UsageError: A name is no file name, or comes twice, or nothing is left to divide.
        ProjectError: A file of that name is there already, or cannot be written; no copy is left then.
    """
    targets = _find_targets(project.path, names)
    rows = project.connection.execute(
        """SELECT d.id, d.sha256 FROM progress p JOIN document d ON d.id = p.document_id
        WHERE 'done' NOT IN (p.entities, p.relations, p.coreference)"""
    )
    # An order that neither time nor content decides: everybody gets a fair sample.
    places = {number: hashlib.sha256(f"divide {sha}".encode()).digest() for number, sha in rows}
    numbers = sorted(places, key=places.__getitem__)
    if not numbers:
        raise UsageError(
            f"{project.path} has no abstract in which nothing is finished",
            "nothing is left to divide",
        )
    count = round(overlap * len(numbers))
    shared, rest, copies = numbers[:count], numbers[count:], []
    try:
        for place, target in enumerate(targets):
            on_progress(place, len(targets))
            own = rest[place :: len(targets)]
            copy_project(project.connection, project.path, target)
            copies.append(Copy(str(target), len(own), len(shared)))
            with open_project(target, target.stem) as copy:
                for name, queue in ((target.stem, own), (SHARED, shared)):
                    if queue:
                        save_queue(copy, SavedQueue(name, tuple(queue)))
    except BaseException:
        for made in copies:
            with suppress(OSError):
                Path(made.project).unlink()
        raise
    return copies


def _find_targets(project: Path, names: Sequence[str]) -> list[Path]:
    files = [f"{name.removesuffix(project.suffix)}{project.suffix}" for name in names]
    if not all(map(_is_plain, names)) or len({*map(str.casefold, files)}) < len(names):
        raise UsageError(
            f"{', '.join(map(repr, names))}: the copies cannot be called so",
            "give every person a name of their own, of printable characters and without a folder",
        )
    targets = [*map(project.with_name, files)]
    if there := [str(target) for target in targets if target.exists()]:
        raise ProjectError(
            f"{', '.join(there)}: there already; nothing was written",
            "choose other names, or move the file away",
        )
    return targets


def _is_plain(name: str) -> bool:
    return (
        name.isprintable()
        and name.strip(" .") == name != ""
        and PurePath(name).name == name
        and "\\" not in name
    )


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did.

    Attributes:
        counts: Documents and items.
        disagreements: Differences with the other project that wait for a decision.
        queues: Names under which saved queues of the other project were added.
    """

    counts: MergeCounts
    disagreements: int
    queues: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        found = {"disagreements": self.disagreements, "queues": list(self.queues)}
        return asdict(self.counts) | found


def _removed_types(project: Project, labels: Sequence[str]) -> dict[str, str]:
    """When those of the labels that the project had before were removed from it, in words."""
    return {
        label: f" (removed here {local_time(event.at)})"
        for event in reversed(read_events(project.connection))
        if event.kind == REMOVE and not event.undone
        for label in labels
        if event.params["what"] == f"remove {label}"
    }


def merge_projects(project: Project, other: Path, *, add_labels: bool = False) -> MergeReport:
    """Bring another project's documents and decisions into this one, by the hash of the texts.

    Its saved queues come along.
    Doing it again changes nothing. What was decided here stays; where both sides worked on a text, the
    other side's annotations are kept beside, and the differences wait for ``adjudicate``.

    Raises:
        SchemaError: The other schema has labels that this one lacks.
        ProjectError: Both are the same file, or one of them cannot be used.
    """
    # By file, not by name: a link or another spelling of the path is the same project.
    if other.exists() and project.path.samefile(other):
        raise ProjectError(f"{other} is the project itself", "name another project to merge")
    with open_project(other, read=True) as theirs:
        merged, lacking = merge_schemas(project.schema, theirs.schema)
        if lacking and not add_labels:
            hint = "the same command with --add-labels adds them to this project's schema"
            if gone := _removed_types(project, lacking):
                remove = as_command("sciextract", "schema", "remove", next(iter(gone)))
                hint += f"; to keep out what was removed, first {remove} --project COPY, a copy of the other project"
            said = [f"{label}{gone.get(label, '')}" for label in lacking]
            raise SchemaError(
                f"{theirs.path} has labels that {project.path} lacks: {', '.join(said)}; nothing was merged",
                hint,
            )
        if project.numbers():
            project.backup("before merge")
        if merged != project.schema:
            project.set_schema(merged)
        source = f"import:{other.name}"
        join, disagreements = ProjectMerge(project, theirs, source), 0
        decisions = Decisions(project)
        # In batches: each is one transaction, so that others can write in between and memory stays constant.
        documents = foreign_documents(theirs, merged)
        while batch := list(islice(documents, BATCH)):
            counts = refresh_disagreements(project, join.add(batch), decisions)
            disagreements += counts[project.source_id(source)]
        queues = tuple(bring_queues(project, theirs, other.stem, join.joined))
    return MergeReport(join.counts, disagreements, queues)
