"""Where the project and other sources differ: which sources there are, what was decided, and taking over what another one has."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sciextract.documents.annotations import Annotations, Layer, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import RELATION_PREFIX
from sciextract.errors import ActionRefusedError
from sciextract.metrics.differences import (
    AnnotatedItem,
    Difference,
    DifferenceKind,
    differences,
    differing_attributes,
)
from sciextract.snapshot.documents import mention_states
from sciextract.store import (
    AttributeRef,
    DocumentState,
    EntityRef,
    EntityRow,
    Project,
    RelationRef,
)
from sciextract.store.actions import coreference
from sciextract.store.actions.editing import Edit
from sciextract.store.coverage import covered_attributes, with_types
from sciextract.store.document_state import Context, annotated, whole
from sciextract.store.events import REDO, UNDO, UNDONE
from sciextract.store.ingest import latest_of_source
from sciextract.store.rows import (
    BY_PERSONS,
    IN_VIEW,
    ProgressRow,
    attribute_name,
    covered_name,
    original_of,
)


@dataclass(frozen=True, slots=True)
class Majority:
    """What most annotators say who have looked for the types of a difference in its abstract.

    Attributes:
        side: The side that they take.
        votes: How many do.
        voters: Of how many.
    """

    side: Literal["mine", "theirs"]
    votes: int
    voters: int


@dataclass(frozen=True, slots=True)
class Dispute:
    """One difference that waits for a decision.

    Attributes:
        number: The document's number.
        source: The other source.
        key: What identifies the difference, the same in every listing.
        opposite: The key that it would have with both sides exchanged.
        difference: Both sides; the first one is what holds in the project.
        cluster_mentions: For a link of the other side the fragments of all mentions in its cluster.
        proposal: What most annotators say; ``None`` where it is not known, or no side has most of them.
    """

    number: int
    source: str
    key: str
    opposite: str
    difference: Difference
    cluster_mentions: tuple[tuple[Span, ...], ...] = ()
    proposal: Majority | None = None

    @property
    def change(self) -> str:
        """What the other side did to what holds in the project."""
        if self.difference.first is None:
            return "additions"
        return "deletions" if self.difference.second is None else "changes"

    def in_words(self, text: str) -> str:
        """Both sides in one line; ``text`` is the document's."""
        sides = []
        for name, item in (("mine", self.difference.first), ("theirs", self.difference.second)):
            words = "nothing"
            if item is not None:
                mentions = [" ".join(span.of(text) for span in spans) for spans in item.fragments]
                words = f"{(mentions or ['abstract'])[0]} [{item.label}]"
                if item.on:
                    value = ": ".join(filter(None, (item.label, item.value)))
                    words = f"{' … '.join(mentions) or 'abstract'} [{value}]"
                elif len(mentions) > 1:
                    words = f" {item.label or 'same as'} ".join(mentions)
            sides.append(f"{name}: {words}")
        words = "  |  ".join(sides)
        if (most := self.proposal) is not None:
            words += f"  |  {most.votes} of {most.voters} say {most.side}"
        return words

    def to_json(self) -> dict[str, Any]:
        """The dispute as one JSON object."""
        one = self.difference
        place = {"key": self.key, "number": self.number, "doc_key": one.doc_key}
        kind = {"source": self.source, "layer": one.item, "kind": one.kind.value}
        both = {"mine": _plain(one.first), "theirs": _plain(one.second)}
        return place | kind | both | {"majority": self.proposal and asdict(self.proposal)}


@dataclass(frozen=True, slots=True)
class DocumentComparison:
    """One document, twice.

    Attributes:
        source: The other source.
        mine: What holds in the project.
        theirs: What the other source has.
        disputes: Where they differ, also what has been decided already.
        covered: What the other source has looked for; everything when ``None``.
    """

    source: str
    mine: AnnotatedDocument
    theirs: AnnotatedDocument
    disputes: tuple[Dispute, ...]
    covered: frozenset[str] | None

    def waiting(self, decided: frozenset[str]) -> list[Dispute]:
        """The differences that are not among the decided ones.

        Where one side was preferred to the other, nobody is asked again for a source that has the other one.
        """
        return [one for one in self.disputes if decided.isdisjoint((one.key, one.opposite))]


_ONLY = (DifferenceKind.ONLY_FIRST, DifferenceKind.ONLY_SECOND)
_EXCHANGED = dict(zip(_ONLY, reversed(_ONLY), strict=True))


def compare_with_source(
    project: Project, doc: DocumentState, source_id: int
) -> DocumentComparison | None:
    """Hold a document against a source's annotations of it; ``None`` when there is nothing to compare.

    Args:
        project: The open project.
        doc: The document as it is, or would be.
        source_id: The other source.
    """
    found = latest_of_source(project.connection, doc.stored.number, source_id)
    if found is None or doc.progress is None:
        return None
    return compare_with(project, doc, project.sources[source_id], *found)


def compare_with(
    project: Project,
    doc: DocumentState,
    source: str,
    annotations: Annotations,
    covered: frozenset[str] | None = None,
) -> DocumentComparison:
    """Hold a document against what a source says about it.

    Args:
        project: The open project.
        doc: The document as it is, or would be.
        source: The other source.
        annotations: What it says.
        covered: What it has looked for; everything when ``None``.
    """
    mine = annotated(doc, project.sources, IN_VIEW)
    view = decided_part(annotations) if covered is None else annotations.in_states(IN_VIEW)
    theirs = AnnotatedDocument(mine.document, view)
    differing = [*differences(mine, theirs, project.schema.symmetric_labels)]
    if covered is not None:
        differing = [*_were_looked_at(differing, doc, annotations, covered)]
    differing += _differing_attributes(project, doc, mine, theirs, covered)
    number, sha = doc.stored.number, mine.document.text_sha256
    listed: dict[str, Dispute] = {}
    for one in differing:
        # Decided keys lie in the logs of projects: every part of them keeps its spelling.
        sides = [_plain(side, ids=False) for side in (one.first, one.second)]
        keys = []
        for kind, both in ((one.kind, sides), (_EXCHANGED.get(one.kind, one.kind), sides[::-1])):
            text = json.dumps([sha, one.item, kind, both], sort_keys=True)
            keys.append(hashlib.blake2b(text.encode(), digest_size=6).hexdigest())
        cluster: tuple[tuple[Span, ...], ...] = ()
        if one.layer is Layer.COREFERENCE and one.second is not None:
            clusters, wanted = theirs.annotations.clusters, one.second.id
            mentions = next(known.mentions for known in clusters if known.id == wanted)
            cluster = tuple(theirs.annotations.entity(mention).fragments for mention in mentions)
        listed[keys[0]] = Dispute(number, source, keys[0], keys[1], one, cluster)
    return DocumentComparison(source, mine, theirs, tuple(listed.values()), covered)


def _differing_attributes(
    project: Project,
    doc: DocumentState,
    mine: AnnotatedDocument,
    theirs: AnnotatedDocument,
    covered: frozenset[str] | None,
) -> Iterator[Difference]:
    """Where attributes that both have looked for differ; of a file, which may hold none, those that it has."""
    here = (doc.progress or ProgressRow()).looked_for
    looked_for = here if covered is None else here & covered
    [kinds] = covered_attributes(project.schema, [looked_for])
    # An attribute that mentions have as well is finished with them: of relations nobody was asked yet.
    own, other = (with_types(side, looked_for.__contains__) for side in (mine, theirs))
    for one in differing_attributes(own, other, kinds, project.schema.symmetric_labels):
        if one.second is not None or covered is not None:
            yield one


def types_of(one: Difference) -> set[str]:
    """The types that somebody has to have looked for to say something about a difference."""
    types = {covered_name(one.layer, item.label) for item in one.items}
    if one.is_attribute:
        relation = one.items[0].on.partition(RELATION_PREFIX)[2]
        types = {attribute_name(one.items[0].label)}
        types |= {covered_name(Layer.RELATIONS, relation)} if relation else set()
    return types


def _were_looked_at(
    found: Iterable[Difference], doc: DocumentState, said: Annotations, covered: frozenset[str]
) -> Iterator[Difference]:
    """The differences at which the other side has looked: elsewhere nothing differs.

    Args:
        found: All differences.
        doc: The document here.
        said: All that the other side decided, rejected items too, and what files said there.
        covered: What the other side has looked for.
    """
    decided_there = _places(said, BY_PERSONS)
    here = _places(whole(doc, defaultdict(str)).annotations, frozenset(State))
    for row in doc.edited:
        spans = original_of(row).get("fragments", ())
        here.add((Layer.ENTITIES, frozenset([tuple(Span(*edges) for edges in spans)])))
    for one in found:
        places = [_places_of(one.layer, item) for item in one.items]
        # What a file said there, and nobody decided, differs only where it has never been here.
        is_new = one.second is not None and here.isdisjoint(places[-1])
        if types_of(one) & covered or is_new or not decided_there.isdisjoint(set().union(*places)):
            yield one


_Place = frozenset[tuple[Span, ...]]


def _places(annotations: Annotations, states: Collection[State]) -> set[tuple[Layer, _Place]]:
    """Where items of some states stand: a mention, two that are related, and one that is in a cluster."""
    at = {entity.id: entity.fragments for entity in annotations.entities}
    found = {
        (Layer.ENTITIES, frozenset([entity.fragments]))
        for entity in annotations.entities
        if entity.state in states
    }
    for relation in annotations.relations:
        if relation.state in states:
            found.add((Layer.RELATIONS, frozenset([at[relation.head], at[relation.tail]])))
    for cluster in annotations.clusters:
        for mention, state in zip(cluster.mentions, mention_states(cluster), strict=True):
            if state in states:
                found.add((Layer.COREFERENCE, frozenset([at[mention]])))
    return found


def _places_of(layer: Layer, item: AnnotatedItem) -> set[tuple[Layer, _Place]]:
    parts = (
        [[place] for place in item.fragments] if layer is Layer.COREFERENCE else [item.fragments]
    )
    return {(layer, frozenset(part)) for part in parts}


def decided_part(annotations: Annotations) -> Annotations:
    """What a source had decided, with its undecided items left out; a model's say is all of it."""
    decided = annotations.in_states(IN_VIEW)
    return decided if decided.entities else annotations


def _plain(item: AnnotatedItem | None, *, ids: bool = True) -> dict[str, Any] | None:
    if item is None:
        return None
    spans = [[[s.char_start, s.char_end] for s in fragments] for fragments in item.fragments]
    plain = {"label": item.label, "fragments": spans, "entity_labels": list(item.entity_labels)}
    plain |= {"on": item.on, "value": item.value} if item.on else {}
    return plain | ({"id": item.id, "entities": list(item.entities)} if ids else {})


# The word in the log: one event a decision, with the key of the difference, or the keys of several.
KIND = "adjudicate"
# The word for another project that came in, under the name of a source.
MERGE = "merge project"


class Decisions:
    """What was merged and decided and not undone; asking again reads only what the log has grown since.

    Args:
        project: Asked outside of transactions, since what is read must stay.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._last = 0
        self._decided: defaultdict[int, dict[int, frozenset[str]]] = defaultdict(dict)
        self._merges: dict[int, str] = {}
        self._undone: set[int] = set()

    def keys(self, number: int) -> frozenset[str]:
        """Keys of the decided differences of one document."""
        self._read()
        events = self._decided[number].items()
        return frozenset().union(*[keys for event, keys in events if event not in self._undone])

    def merged(self) -> dict[str, int]:
        """Names and numbers of the merged projects, in the order in which they came."""
        self._read()
        names = [name for event_id, name in self._merges.items() if event_id not in self._undone]
        return {name: self.project.source_id(name) for name in dict.fromkeys(names)}

    def was_merged(self, source: str) -> bool:
        """Whether a source is another project, even one whose merge was undone."""
        self._read()
        return source in self._merges.values()

    def _read(self) -> None:
        rows = self.project.connection.execute(
            "SELECT id, kind, params, target FROM event WHERE id > ? AND kind IN (?, ?, ?, ?) ORDER BY id",
            (self._last, KIND, MERGE, UNDO, REDO),
        ).fetchall()
        for event_id, kind, params, target in rows:
            self._last = event_id
            if kind == KIND:
                match json.loads(params):
                    case {"number": int(number), "keys": list(keys)}:
                        self._decided[number][event_id] = frozenset(keys)
                    case {"number": int(number), "key": str(key)}:
                        self._decided[number][event_id] = frozenset({key})
                    # What a later version wrote decides nothing that this one can tell.
            elif kind == MERGE:
                self._merges[event_id] = json.loads(params)["source"]
            elif kind == UNDO:
                self._undone.add(target)
            else:
                self._undone.discard(target)


_SPEAKERS = f"""SELECT s.name, s.id FROM source s
    LEFT JOIN run r ON r.source_id = s.id LEFT JOIN event e ON e.id = r.event_id
    WHERE EXISTS (SELECT 1 FROM annotation_set a WHERE a.source_id = s.id)
      AND (e.id IS NULL OR NOT {UNDONE}) ORDER BY s.id"""


@dataclass(frozen=True, slots=True)
class OtherSource:
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


def other_sources(project: Project, decisions: Decisions) -> list[OtherSource]:
    """Merged projects first, then models with the newest ones first, then files.

    Runs and merges that were undone are left out.
    """
    rows = project.connection.execute(_SPEAKERS).fetchall()
    merged = decisions.merged()
    by_name: dict[str, tuple[int, ...]] = {}
    for name, source_id in rows:
        if name in merged or not decisions.was_merged(name):
            own = name.partition("/")[0] if name.startswith("model:") else name
            by_name[own] = (*by_name.get(own, ()), source_id)
    others = [OtherSource(name, ids, name in merged) for name, ids in by_name.items()]

    def place_of(other: OtherSource) -> tuple[bool, bool, int]:
        is_model, newest = other.name.startswith("model:"), other.source_ids[-1]
        return not other.merged, not is_model, -newest if is_model else newest

    return sorted(others, key=place_of)


def take_theirs(doc: DocumentState, context: Context, dispute: Dispute) -> None:
    """Make the document say what the other side says.

    Raises:
        ActionRefusedError: It cannot be done (yet).
    """
    one, edit = dispute.difference, Edit(doc, context)
    # Of one side at least there is something: where it is not theirs, it is mine.
    mine, theirs, there = one.first, one.second, one.items[0]
    if one.is_attribute:
        if theirs is None:
            edit.decide(AttributeRef(there.id), accept=False)
        else:
            edit.set_attribute(theirs.entities[0], theirs.label, theirs.value)
    elif one.layer is Layer.ENTITIES:
        if theirs is None:
            edit.decide(EntityRef(there.id), accept=False)
        elif mine is None:
            edit.add_entity(theirs.fragments[0], theirs.label)
        else:
            edit.set_fragments(mine.id, theirs.fragments[0])
            edit.set_entity_label(mine.id, theirs.label)
    elif one.layer is Layer.RELATIONS:
        if mine is not None:
            edit.decide(RelationRef(mine.id), accept=False)
        if theirs is not None:
            head, tail = (_entity_on(doc, theirs, place).id for place in (0, 1))
            # The other side may have kept a relation that the schema does not allow: a person has decided that.
            edit.add_relation(head, tail, theirs.label, illegal=True)
    elif theirs is None:
        coreference.leave(edit, there.entities[1])
    else:
        _join(doc, edit, theirs, dispute.cluster_mentions)


def _join(
    doc: DocumentState, edit: Edit, link: AnnotatedItem, cluster: Collection[tuple[Span, ...]]
) -> None:
    """Put the mentions of a link into one cluster: of their own the one with more of the other side's cluster in it."""
    pair = tuple(_entity_on(doc, link, place).id for place in (0, 1))
    links = [known for mention in pair for known in doc.links_of(mention)]
    homes = dict.fromkeys(known.cluster_id for known in links if known.state is not State.REJECTED)

    def count_shared(cluster_id: str) -> int:
        rows = (doc.entity(member.entity_id) for member in doc.members(cluster_id))
        return sum(row is not None and row.fragments in cluster for row in rows)

    home = max(homes, key=count_shared, default=None)
    if home is None:
        coreference.new_cluster(edit, pair)
        return
    there = {member.entity_id for member in doc.members(home)}
    for mention in pair:
        if mention not in there:
            coreference.join(edit, mention, home)


def _entity_on(doc: DocumentState, item: AnnotatedItem, place: int) -> EntityRow:
    for row in doc.on_fragments(item.fragments[place]):
        if row.in_view:
            return row
    text = " ".join(span.of(doc.text) for span in item.fragments[place])
    raise ActionRefusedError(
        f"{text!r} is not an entity here", "decide the differences of the entities first"
    )
