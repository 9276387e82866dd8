"""How far the annotators of several projects agree, and a project with what other sources said in it."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, combinations
from typing import Any

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema, match_names
from sciextract.errors import UsageError
from sciextract.metrics.agreement import agreement, token_alpha
from sciextract.metrics.report import AgreementReport, TokenAlpha
from sciextract.store import Project, label_changes
from sciextract.store.coverage import covered_attributes, with_types
from sciextract.store.document_state import annotated
from sciextract.store.events import COVER, MERGED, SUGGEST_ALIKE
from sciextract.store.finished import SUGGEST_TYPES, document_before
from sciextract.store.ingest import latest_of_source
from sciextract.store.project_settings import read_annotations, read_covered
from sciextract.store.rows import ProgressRow, rename_covered
from sciextract.store.statistics import DECIDED
from sciextract.workflows.disagreements import decided_part


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two projects agree.

    Attributes:
        first: The first project's file.
        second: The second one's.
        report: The figures; ``None`` where they have finished no type of the same abstract.
        only_first: Texts that only the first has finished, or in other types, or that came from the second.
        only_second: The same of the second one.
    """

    first: str
    second: str
    report: AgreementReport | None
    only_first: int
    only_second: int


@dataclass(frozen=True, slots=True)
class Agreed:
    """How far two projects or more agree.

    Attributes:
        pairs: Every two of them.
        tokens: Krippendorff's alpha over all of them.
    """

    pairs: tuple[PairAgreement, ...]
    tokens: TokenAlpha

    def to_json(self) -> dict[str, Any]:
        """The report of ``--json``: of two projects their figures, of more those of every pair."""
        pairs = []
        for pair in self.pairs:
            names = asdict(replace(pair, report=None))
            del names["report"]
            pairs.append(names | (pair.report.to_json() if pair.report else {"documents": 0}))
        return (pairs[0] if len(pairs) == 1 else {"pairs": pairs}) | {"alpha": asdict(self.tokens)}


def agree(projects: Sequence[Project]) -> Agreed:
    """Compare the current views of projects, in the types that each two, and for alpha all of them, have looked for.

    Raises:
        UsageError: There is no text in which two have looked for the same type.
    """
    sides = [_Side(project, projects[0].schema) for project in projects]
    pairs = tuple(_compare(*pair) for pair in combinations(sides, 2))
    if not any(pair.report for pair in pairs):
        raise UsageError(
            f"{' and '.join(str(project.path) for project in projects)} have no text in common in which both have finished the same types",
            "finish abstracts with D at the desk, or import annotated files with --done all",
        )
    groups = []
    for sha in dict.fromkeys(chain.from_iterable(side.covered for side in sides)):
        group: list[_Side] = []
        for side in sides:
            if sha in side.covered and not any(side.is_copy(other, sha) for other in group):
                group.append(side)
        covered = frozenset.intersection(*(side.covered[sha][1] for side in group))
        if len(group) > 1 and covered:
            groups.append([side.document(sha, covered) for side in group])
    return Agreed(pairs, token_alpha(groups))


def _compare(first: _Side, second: _Side) -> PairAgreement:
    both = {
        sha: covered
        for sha in first.covered
        if sha in second.covered
        and (covered := first.covered[sha][1] & second.covered[sha][1])
        and not first.is_copy(second, sha)
    }
    mine, theirs = ([side.document(sha, both[sha]) for sha in both] for side in (first, second))
    asked = covered_attributes(first.schema, both.values())
    symmetric = first.symmetric | second.symmetric
    report = agreement(mine, theirs, symmetric, attributes=asked) if both else None
    names = str(first.project.path), str(second.project.path)
    return PairAgreement(
        *names, report, len(first.covered) - len(both), len(second.covered) - len(both)
    )


class _Side:
    """One annotator's project, with another schema's names of types.

    Attributes:
        schema: The other schema.
        covered: By the hash of each text in which somebody has looked for a type its number, and those types.
        symmetric: Relation labels without direction.
    """

    def __init__(self, project: Project, schema: LabelSchema) -> None:
        self.project, own, self.schema = project, project.schema, schema
        self._names = (
            match_names(schema.entities, own.entities),
            match_names(schema.relations, own.relations),
            match_names(schema.attributes, own.attributes),
        )
        self.symmetric = frozenset(
            self._names[1].get(label, label) for label in own.symmetric_labels
        )
        connection, names = project.connection, project.sources
        rows = connection.execute(
            """SELECT d.sha256, d.id, p.covered, p.coreference = 'done' FROM document d
            JOIN progress p ON p.document_id = d.id ORDER BY d.id"""
        )
        found = {}
        for sha, number, body, with_clusters in rows:
            covered = frozenset(rename_covered(json.loads(body), *self._names))
            found[sha] = number, covered | ({Layer.COREFERENCE.value} if with_clusters else set())
        self.covered = {sha: known for sha, known in found.items() if known[1]}
        decided = connection.execute(
            f"""SELECT DISTINCT d.sha256, i.type, e.author_id, e.kind = '{MERGED}' FROM ({DECIDED}) i
            JOIN event e ON e.id = i.event_id JOIN document d ON d.id = i.document_id"""
        )
        self._authors: dict[str, set[tuple[str, str, int]]] = defaultdict(set)
        for sha, label, author, merged in decided:
            [label] = rename_covered([label], *self._names)
            self._authors[sha].add((label, names[author], merged))

    def is_copy(self, other: _Side, sha: str) -> bool:
        """Whether all that one side has of the types of a text that both looked for is the other's work, which came by merging."""
        both = self.covered[sha][1] & other.covered[sha][1]
        mine, theirs = (
            {(author, merged) for label, author, merged in side._authors[sha] if label in both}
            for side in (self, other)
        )
        if not {author for author, _ in mine} & {author for author, _ in theirs}:
            return False
        return any(all(merged for _, merged in found) for found in (mine, theirs))

    def document(self, sha: str, covered: frozenset[str]) -> AnnotatedDocument:
        """The current view of a text, in some types."""
        found = self.project.document(self.covered[sha][0])
        renamed = replace(found, annotations=found.annotations.renamed(*self._names))
        return with_types(renamed, covered.__contains__)


def agree_when_merged(project: Project, numbers: Collection[int]) -> AgreementReport | None:
    """How far the project and those merged into it agreed before the merge, of which differences are decided since.

    Args:
        numbers: The abstracts to look at; each is compared with the first merged project that looked for the same types.

    Returns:
        The figures; ``None`` where no abstract was annotated on both sides.
    """
    # Of a project that was merged again the first time: later, its own work is here.
    query = """SELECT a.document_id, a.event_id, a.body, min(a.id) FROM annotation_set a JOIN event e ON e.id = a.event_id
        WHERE e.kind = 'merge project' GROUP BY a.document_id, a.source_id ORDER BY 4"""
    mine, theirs, covered_by_both, compared = [], [], list[frozenset[str]](), set[int]()
    for number, event_id, body, _ in project.connection.execute(query).fetchall():
        if number not in numbers or number in compared:
            continue
        before, looked_for = document_before(project, number, event_id)
        covered = read_covered(project.connection, body)
        both = looked_for if covered is None else looked_for & covered
        if both:
            compared.add(number)
            other = AnnotatedDocument(
                before.document, decided_part(read_annotations(project.connection, body))
            )
            mine.append(with_types(before, both.__contains__))
            theirs.append(with_types(other, both.__contains__))
            covered_by_both.append(both)
    if not mine:
        return None
    asked = covered_attributes(project.schema, covered_by_both)
    return agreement(mine, theirs, project.schema.symmetric_labels, attributes=asked)


# Abstracts that are compared with a source: enough for narrow intervals, and soon done.
MOST = 300

# Kinds of events that decide about no item.
_NO_DECISION = (
    *("import", "merge project", "predict", "done", COVER, "completeness", "flag", "note"),
    *(*label_changes.KINDS, SUGGEST_TYPES, SUGGEST_ALIKE),
)


class Cancelled(Exception):
    """The person did not want to wait any longer."""


@dataclass(frozen=True, slots=True)
class ComparableSource:
    """A source that the abstracts can be compared with.

    Attributes:
        name: Such as ``import:maria.sciextract`` or ``model:sci@1f0c``.
        source_id: Its number.
        numbers: Abstracts that it has annotated and whose entities are done here, in an order by hash.
    """

    name: str
    source_id: int
    numbers: tuple[int, ...]


def sides(project: Project) -> list[ComparableSource]:
    """All sources with abstracts to compare, the latest first."""
    rows = project.connection.execute(
        """SELECT DISTINCT s.name, s.id, d.id, d.sha256 FROM annotation_set a
        JOIN source s ON s.id = a.source_id JOIN document d ON d.id = a.document_id
        JOIN progress p ON p.document_id = d.id WHERE p.entities = 'done'"""
    ).fetchall()
    by_name: dict[tuple[int, str], list[tuple[str, int]]] = {}
    for name, source_id, number, sha in rows:
        # An order that neither time nor content decides, so that the first MOST are a fair sample.
        place = hashlib.sha256(f"agreement {sha}".encode()).hexdigest()
        by_name.setdefault((source_id, name), []).append((place, number))
    return [
        ComparableSource(name, source_id, tuple(number for _, number in sorted(numbers)))
        for (source_id, name), numbers in sorted(by_name.items(), reverse=True)
    ]


def agree_with(
    project: Project,
    side: ComparableSource,
    on_progress: Callable[[int, int], bool] = lambda done, of: True,
) -> AgreementReport | None:
    """Compare what holds in the project with the latest annotations of a source, on :data:`MOST` abstracts at most.

    Of abstracts that came with a file, those are left out about which nobody has decided anything here: they
    would agree with themselves.

    Args:
        side: The source.
        on_progress: Called with how many abstracts are read, of how many; gives whether to continue.

    Returns:
        The figures, ``None`` where no abstract could be compared.

    Raises:
        Cancelled: ``on_progress`` said no.
    """
    wanted, numbers = side.numbers[:MOST], ", ".join("?" * len(_NO_DECISION))
    decided = f"""SELECT 1 FROM change c JOIN event e ON e.id = c.event_id
        WHERE c.document_id = ? AND e.kind NOT IN ({numbers}) LIMIT 1"""
    mine, theirs = [], []
    for place, number in enumerate(wanted):
        if not on_progress(place, len(wanted)):
            raise Cancelled
        found = latest_of_source(project.connection, number, side.source_id)
        if found is None:
            continue
        if side.name.startswith("import:"):
            rows = project.connection.execute(decided, (number, *_NO_DECISION))
            if rows.fetchone() is None:
                continue
        doc = project.document_state(number)
        both = (doc.progress or ProgressRow()).looked_for
        both = both if found[1] is None else both & found[1]
        if both:
            here = annotated(doc, project.sources)
            mine.append(with_types(here, both.__contains__))
            there = replace(here, annotations=decided_part(found[0]))
            theirs.append(with_types(there, both.__contains__))
    return agreement(mine, theirs, project.schema.symmetric_labels) if mine else None
