"""How the work goes: acceptance per label, kinds of edits, calibration of scores, time, progress."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import Layer
from sciextract.store.coverage import find_missing
from sciextract.store.events import MERGED
from sciextract.store.maintenance import backup
from sciextract.store.rows import Completeness
from sciextract.store.sqlite import first_value

if TYPE_CHECKING:
    from sciextract.store.project import Project


BINS = 10
_ITEMS = """SELECT score, state, source_id FROM entity
    UNION ALL SELECT score, state, source_id FROM relation
    UNION ALL SELECT score, state, source_id FROM link"""
DECIDED = " UNION ALL ".join(
    f"SELECT document_id, event_id, state, {type} AS type FROM {table} WHERE state IN ('accepted', 'edited', 'added', 'rejected')"
    for table, type in (("entity", "'entities:' || label"), ("relation", "'relations:' || label"), ("link", "'coreference'"))
)  # fmt: skip
"""In SQL: all items that a person decided, with their type as what was looked for is called."""


@dataclass(frozen=True, slots=True)
class LabelRow:
    """What became of a model's items of one label.

    Attributes:
        kind: ``entity``, ``relation`` or ``link``.
        label: The label the model gave; empty for links.
        accepted: Right as they stood.
        edited: Right after an edit.
        rejected: Wrong.
        undecided: Not looked at.
        added: Items that the model had missed.
    """

    kind: str
    label: str
    accepted: int
    edited: int
    rejected: int
    undecided: int
    added: int

    @property
    def acceptance(self) -> float | None:
        """Share of decided items that were accepted as they stood, 0 to 1; ``None`` before any decision."""
        decided = self.accepted + self.edited + self.rejected
        return self.accepted / decided if decided else None


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Decided items of the model with scores in one range (Guo et al. 2017, section 2).

    Attributes:
        low: Least score.
        high: Upper end, exclusive but for 1.
        count: How many.
        mean_score: What the model claimed, ``None`` without items.
        accepted: Share that was accepted as it stood, ``None`` without items.
    """

    low: float
    high: float
    count: int
    mean_score: float | None
    accepted: float | None


@dataclass(frozen=True, slots=True)
class Stats:
    """Everything that ``sciextract stats`` tells.

    Attributes:
        labels: Per label.
        edits: How often a label, a boundary, a direction or a cluster was changed.
        reliability: Calibration of the model's scores.
        calibration_error: Expected calibration error over the bins, 0 to 1; ``None`` without decisions.
        seconds_per_abstract: Mean over abstracts with recorded time, ``None`` without any.
        timed_abstracts: How many abstracts have recorded time.
        done_by_day: Abstracts that were marked as done, by UTC day.
        actions_by_author: Actions in the log by who made them.
    """

    labels: list[LabelRow]
    edits: dict[str, int]
    reliability: list[ReliabilityBin]
    calibration_error: float | None
    seconds_per_abstract: float | None
    timed_abstracts: int
    done_by_day: dict[str, int]
    actions_by_author: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """The report of ``--json``."""
        rows = [asdict(row) | {"acceptance": row.acceptance} for row in self.labels]
        return asdict(self) | {"labels": rows}


def stats_of(project: Project) -> Stats:
    """The statistics of an open project."""
    connection = project.connection
    bins = count_bins(
        connection.execute(
            f"""SELECT score, state = 'accepted' FROM ({_ITEMS}) i JOIN source s ON s.id = i.source_id
            WHERE s.kind = 'model' AND state IN ('accepted', 'edited', 'rejected')
              AND score IS NOT NULL"""
        )
    )
    # Time is noted once an event, also where it changed several abstracts.
    seconds, timed = connection.execute(
        """SELECT sum(seconds), count(DISTINCT document_id) FROM (
            SELECT e.id, min(e.seconds) AS seconds, min(c.document_id) AS document_id
              FROM event e JOIN change c ON c.event_id = e.id
             WHERE e.seconds IS NOT NULL GROUP BY e.id)"""
    ).fetchone()
    actions = connection.execute(
        """SELECT s.name, count(*) FROM event e JOIN source s ON s.id = e.author_id
        WHERE e.kind <> ? GROUP BY s.id ORDER BY 2 DESC""",
        (MERGED,),
    )
    return Stats(
        labels=_count_labels(connection),
        edits=_count_edits(connection),
        reliability=bins,
        calibration_error=calibration_error(bins),
        seconds_per_abstract=seconds / timed if timed else None,
        timed_abstracts=timed,
        done_by_day=done_by_day(project),
        actions_by_author=dict(actions.fetchall()),
    )


@dataclass(frozen=True, slots=True)
class AuthorRow:
    """What one person decided, as far as it holds: of several who decided about an item, the last one counts.

    Attributes:
        author: ``person:NAME``.
        abstracts: Abstracts with such items.
        accepted: Items that were right as they stood.
        edited: Items that were right after an edit.
        added: Items that the person added.
        rejected: Items that were wrong.
        first: UTC time of the first decision; of what came with a merge, as the other project has it.
        last: UTC time of the last one.
    """

    author: str
    abstracts: int
    accepted: int
    edited: int
    added: int
    rejected: int
    first: str
    last: str


def decisions_by_author(connection: sqlite3.Connection) -> list[AuthorRow]:
    """Who decided what holds in a project, with what came by merging, the first one first."""
    rows = connection.execute(
        f"""SELECT s.name, count(DISTINCT i.document_id), sum(i.state = 'accepted'), sum(i.state = 'edited'),
            sum(i.state = 'added'), sum(i.state = 'rejected'),
            min(coalesce(json_extract(e.params, '$.first'), e.at)), max(coalesce(json_extract(e.params, '$.last'), e.at))
        FROM ({DECIDED}) i JOIN event e ON e.id = i.event_id JOIN source s ON s.id = e.author_id
        GROUP BY s.id ORDER BY 7"""
    )
    return [AuthorRow(*row) for row in rows]


def done_by_day(project: Project) -> dict[str, int]:
    """Abstracts that were marked as done, by UTC day."""
    rows = project.connection.execute(
        """SELECT substr(e.at, 1, 10), count(DISTINCT c.document_id) FROM event e
        JOIN change c ON c.event_id = e.id WHERE e.kind = 'done' GROUP BY 1 ORDER BY 1"""
    )
    return dict(rows.fetchall())


def calibration_error(bins: Iterable[ReliabilityBin]) -> float | None:
    """Expected calibration error: the mean gap of claim and truth, weighted by the bins' sizes."""
    filled = [bin_ for bin_ in bins if bin_.mean_score is not None and bin_.accepted is not None]
    gaps = sum(bin_.count * abs((bin_.mean_score or 0) - (bin_.accepted or 0)) for bin_ in filled)
    decided = sum(bin_.count for bin_ in filled)
    return gaps / decided if decided else None


def count_bins(decided: Iterable[tuple[float, int]]) -> list[ReliabilityBin]:
    """Scores and whether they were accepted, in bins of equal width."""
    by_bin: list[list[tuple[float, int]]] = [[] for _ in range(BINS)]
    for score, accepted in decided:
        # A score of 1 belongs to the last bin.
        by_bin[min(int(score * BINS), BINS - 1)].append((score, accepted))
    bins = []
    for place, items in enumerate(by_bin):
        means = [sum(column) / len(items) for column in zip(*items, strict=True)] or [None, None]
        low, high = place / BINS, (place + 1) / BINS
        bins.append(ReliabilityBin(low, high, len(items), *means))
    return bins


def _count_labels(connection: sqlite3.Connection) -> list[LabelRow]:
    """What became of models' items, by kind and by the label that the model gave."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for kind, label in (("entity", "label"), ("relation", "label"), ("link", "''")):
        of_models = f"FROM {kind} WHERE source_id IN (SELECT id FROM source WHERE kind = 'model')"
        # SQLite counts the many that no edit touched; what was edited says itself what it was.
        untouched = connection.execute(
            f"SELECT {label}, state, count(*) {of_models} AND was IS NULL GROUP BY 1, 2"
        )
        for first, state, count in untouched:
            counts.setdefault((kind, first), Counter())[state] += count
        edited = connection.execute(f"SELECT {label}, state, was {of_models} AND was IS NOT NULL")
        for now, state, was in edited:
            first = json.loads(was).get("label", now)
            counts.setdefault((kind, first), Counter())[state] += 1
        added = f"SELECT {label}, count(*) FROM {kind} WHERE state = 'added' GROUP BY 1"
        for now, count in connection.execute(added):
            counts.setdefault((kind, now), Counter())["added"] += count
    names = ("accepted", "edited", "rejected", "undecided", "added")
    return [
        LabelRow(kind, label, *(found[name] for name in names))
        for (kind, label), found in sorted(counts.items())
    ]


def _count_edits(connection: sqlite3.Connection) -> dict[str, int]:
    edits: Counter[str] = Counter()
    for label, start, end, was in connection.execute(
        "SELECT label, char_start, char_end, was FROM entity WHERE was IS NOT NULL"
    ):
        old = json.loads(was)
        edits["entity label"] += old["label"] != label
        edits["boundaries"] += [old["fragments"][0][0], old["fragments"][-1][1]] != [start, end]
    for label, head, was in connection.execute(
        "SELECT label, head, was FROM relation WHERE was IS NOT NULL"
    ):
        old = json.loads(was)
        edits["relation label"] += old["label"] != label
        edits["direction"] += old["head"] != head
    edits["cluster"] += first_value(connection, "SELECT count(*) FROM link WHERE was IS NOT NULL")
    return {kind: count for kind, count in edits.items() if count}


def label_states(project: Project) -> dict[tuple[str, str], dict[str, int]]:
    """How many items are in each state, by kind (``entity``, ``relation``, ``link``) and label, which links have none."""
    rows = project.connection.execute(
        "SELECT kind, label, state, sum(number) FROM tally GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    ).fetchall()
    by_label: dict[tuple[str, str], dict[str, int]] = {}
    for kind, label, state, number in rows:
        by_label.setdefault((kind, label), {})[state] = number
    return by_label


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
        missing: By type, or by layer, how many abstracts were finished before it came.
        flagged: Abstracts with a flag.
        sources: Names of everyone who said something: imports, model runs, persons.
        newest_backup: File of the newest backup.
    """

    project: str
    schema: str
    documents: int
    undecided: int
    decided: int
    imported: int
    completeness: dict[str, dict[str, int]]
    missing: dict[str, int]
    flagged: int
    sources: list[str]
    newest_backup: str | None

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return asdict(self)


def status_of(project: Project) -> Status:
    """The counts of an open project."""
    connection = project.connection
    begun = [Completeness.IN_PROGRESS, Completeness.DONE]
    cells = [(layer.value, value.value) for layer in Layer for value in begun]
    sums = "".join(f", coalesce(sum({layer} = '{value}'), 0)" for layer, value in cells)
    # One pass over the table, which holds a row an abstract.
    documents, flagged, *numbers = connection.execute(
        f"SELECT count(*), coalesce(sum(flagged), 0){sums} FROM progress"
    ).fetchone()
    undecided, decided, imported = connection.execute(
        """SELECT coalesce(sum(undecided), 0), coalesce(sum(decided), 0),
            (SELECT coalesce(sum(number), 0) FROM tally WHERE state = 'imported') FROM summary"""
    ).fetchone()
    backups = backup.list_backups(project.path)
    found = dict(zip(cells, numbers, strict=True))
    completeness = {
        layer.value: {
            Completeness.UNTOUCHED.value: documents
            - sum(found[layer.value, value] for value in begun),
            **{value.value: found[layer.value, value] for value in begun},
        }
        for layer in Layer
    }
    return Status(
        project=str(project.path),
        schema=project.schema.name,
        documents=documents,
        undecided=undecided,
        decided=decided,
        imported=imported,
        completeness=completeness,
        missing={
            label or layer.value: len(numbers)
            for (layer, label), numbers in find_missing(connection, project.schema).items()
        },
        flagged=flagged,
        sources=sorted(project.sources.values()),
        newest_backup=str(backups[0].path) if backups else None,
    )
