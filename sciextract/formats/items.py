"""Items of one imported document: entities of several fragments, relations, clusters from lists or links."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
    stable_id,
)
from sciextract.documents.document import AnnotatedDocument, Document, warnings_of
from sciextract.errors import FormatError
from sciextract.formats.alignment import is_variant, repeats, span_between
from sciextract.formats.base import Place, quoted
from sciextract.formats.json_values import list_at, object_at, string_at
from sciextract.text.analyse import analyse
from sciextract.text.offsets import CODE_POINTS, UNITS, OffsetMap, Unit, cuts_word

COREFERENCE = "COREF"
"""The label of relations that link mentions of the same thing, as Prodigy's coreference recipe has it."""

UNLABELLED = "relation"
"""The label of relations that have none in their file."""

MISFIT = "mention that does not fit its text"
LOOSE = "relation that does not fit"
LOST_MEMBER = "mention of a cluster that is not there"
UNFIT_ATTRIBUTE = "attribute that does not fit"
_MOST_NAMED = 5


class CorpusItems:
    """Entities, relations and clusters in the order in which they are added.

    Equal entities are kept apart, since other items of the file may mean one of them; a relation or
    cluster that is there already is not added again. Annotation tools (:meth:`add_relation`) keep equal relations
    apart, too, and link the mentions of a cluster by relations labelled ``COREF``.

    Args:
        place: Where the record stands; the key of its document is part of every id.
        provenance: The source of all items.
        state: The state of all items.
        owner: Part of every id where several sources annotate one document.

    Attributes:
        remarks: What was not read as it stands, by kind.
        unread: What the file holds and an annotated document does not, by kind: a loss of reading.
        bare_offsets: See :class:`~sciextract.documents.document.AnnotatedDocument`.
    """

    def __init__(
        self, place: Place, provenance: str, state: State = State.IMPORTED, owner: str = ""
    ) -> None:
        self._place = place
        self._doc_key = place.doc_key
        self._provenance = provenance
        self._state = state
        self._owner = (owner,) if owner else ()
        self._equal: Counter[tuple[object, ...]] = Counter()
        self._entities: dict[str, Entity] = {}
        self._on: defaultdict[Span, list[Entity]] = defaultdict(list)
        self._relations: dict[str, Relation] = {}
        self._clusters: dict[str, Cluster] = {}
        self._attributes: dict[str, Attribute] = {}
        self._links: list[tuple[Entity, Entity]] = []
        self.remarks: Counter[str] = Counter()
        self.unread: Counter[str] = Counter()
        self.bare_offsets = False

    @property
    def entities(self) -> list[Entity]:
        return list(self._entities.values())

    @property
    def spans(self) -> list[Span]:
        """The ranges of all entities, from their first to their last character."""
        return [entity.span for entity in self._entities.values()]

    @contextmanager
    def leaving_out(self, kind: str = MISFIT) -> Iterator[None]:
        """What goes wrong inside costs one item, which is counted and named; the document stays."""
        try:
            yield
        except FormatError as error:
            self.unread[kind] += 1
            if self.unread[kind] <= _MOST_NAMED:
                problem = error.problem.removeprefix(f"doc_key {quoted(self._doc_key)}: ")
                line = f"line {error.line}: " if error.line else ""
                self.remarks[f"left out: {line}{problem}"] += 1

    def objects(
        self, value: object, field: str, kind: str = MISFIT
    ) -> Iterator[tuple[dict[str, Any], str]]:
        """The objects of a list, each with its field; what is none is left out."""
        for index, item in enumerate(list_at(value, field, self._place)):
            with self.leaving_out(kind):
                yield object_at(item, f"{field}[{index}]", self._place), f"{field}[{index}]"

    def check_copy(
        self, written: str, fragments: Sequence[str], place: Place, field: str = ""
    ) -> None:
        """Compare a file's copy of a mention with the text at its offsets; that of a normalised text is remarked.

        Raises:
            FormatError: It is another string.
        """
        if repeats(written, fragments):
            return
        there = quoted(" ".join(fragments))
        if not is_variant(written, fragments):
            raise place.error(f"{quoted(written)} found, but the text has {there}", field=field)
        self.remarks[f"the copy {quoted(written)} of a mention is {there} in the text"] += 1

    def span_at(
        self, start: object, end: object, copy: object, unit: Unit, offsets: OffsetMap, field: str
    ) -> Span:
        """The characters between two offsets that count a unit; where the file has a copy of them, they are compared with it.

        Raises:
            FormatError: They are no offsets of the text, or the copy is another string.
        """
        if type(start) is not int or type(end) is not int or not 0 <= start < end:
            problem = f"start {quoted(start)} and end {quoted(end)} found"
            raise self._place.error(f"{problem}; expected 0 <= start < end", field=field)
        if not isinstance(copy, str | None):
            raise self._place.unexpected(copy, "the mention's text", field=field)
        self.bare_offsets |= copy is None and unit is CODE_POINTS
        span = span_between(start, end, unit, offsets, field, self._place)
        if copy is not None:
            self.check_copy(copy, [span.of(offsets.text)], self._place, field)
        return span

    def entity(self, fragments: Sequence[Span], label: str, score: float | None = None) -> Entity:
        """Add an entity; ``fragments`` are ascending."""
        item_id = self._own_id("entity", *chain.from_iterable(fragments), label)
        made = Entity(item_id, tuple(fragments), label, score, self._state, self._provenance)
        self._entities[item_id] = made
        if len(fragments) == 1:
            self._on[fragments[0]].append(made)
        return made

    def mention(self, span: Span, label: str) -> Entity:
        """The entity on a span that a cluster or relation means; made without a type where there is none.

        Args:
            span: Its range.
            label: Its type (empty if it has none), which decides where several entities lie on the span.
        """
        return self.find(span, label) or self.entity([span], "")

    def find(self, span: Span, label: str) -> Entity | None:
        """The entity on a span, of this label if there are several."""
        found = self._on[span]
        called = (entity for entity in found if entity.label == label)
        return next(called, found[0] if found else None)

    def relation(self, head: Entity, tail: Entity, label: str, score: float | None) -> Relation:
        ends = (head.id, tail.id, label)
        return self._relation(self._id("relation", *ends), ends, score)

    def cluster(self, mentions: Iterable[Entity], score: float | None) -> Cluster:
        """Add a cluster; its mentions are put in text order, each once."""
        unique = {mention.id: mention for mention in mentions}
        ids = sorted(unique, key=lambda mention: (unique[mention].fragments, mention))
        return self._cluster(ids, score)

    def attribute(self, target: Entity | Relation | None, label: str, value: str) -> None:
        """Say something of an item, or of the abstract; each has one value an attribute, and further ones are counted."""
        on = target.id if target else ""
        item_id = self._id("attribute", on, label)
        made = Attribute(item_id, on, label, value, None, self._state, self._provenance)
        if self._attributes.setdefault(item_id, made).value != value:
            self.unread["second value of an attribute"] += 1

    def read_relations(
        self,
        listed: object,
        field: str,
        ends: Sequence[str],
        kind: str,
        by_id: Mapping[str, Entity],
    ) -> None:
        """Add the relations of a list, of which some fields hold the ids of the arguments, and ``kind`` the label."""
        for relation, where in self.objects(listed, field, LOOSE):
            with self.leaving_out(LOOSE):
                for name in ends:
                    if str(relation.get(name)) not in by_id:
                        allowed = "the id of an entity of this record"
                        place = f"{where}.{name}"
                        raise self._place.unexpected(relation.get(name), allowed, field=place)
                head, tail = (by_id[str(relation[name])] for name in ends)
                label = string_at(relation.get(kind) or "", f"{where}.{kind}", self._place)
                self.add_relation(head, tail, label)

    def add_relation(
        self, head: Entity, tail: Entity, label: str, score: float | None = None
    ) -> None:
        """Add a new relation, or a link between two mentions of a cluster."""
        if label == COREFERENCE:
            self._links.append((head, tail))
            return
        if not label:
            self.remarks[f"relation without a label, read as {UNLABELLED!r}"] += 1
        ends = (head.id, tail.id, label or UNLABELLED)
        self._relation(self._own_id("relation", *ends), ends, score)

    def annotations(self) -> Annotations:
        """All that was added; links are joined into clusters, mentions in text order."""
        groups: dict[str, dict[str, Entity]] = {}
        for head, tail in self._links:
            joined = groups.get(head.id, {head.id: head}) | groups.get(tail.id, {tail.id: tail})
            groups |= dict.fromkeys(joined, joined)
        # Every mention of a group holds the same dictionary.
        unique = {id(group): group for group in groups.values()}.values()
        members = [sorted(group.values(), key=lambda mention: mention.span) for group in unique]
        for mentions in sorted(members, key=lambda member: member[0].span):
            self._cluster([mention.id for mention in mentions], None)
        return Annotations(
            tuple(self._entities.values()),
            tuple(self._relations.values()),
            tuple(self._clusters.values()),
            attributes=tuple(self._attributes.values()),
        )

    def document(self, text: str, fields: Mapping[str, Any]) -> AnnotatedDocument:
        """The document of a text with all that was added; its tokens are derived."""
        tokens = analyse(text, self.spans, title_length=title_length_of(text, fields))
        return self.annotate(Document(self._doc_key, text, tokens, fields))

    def annotate(self, document: Document, done: bool | None = None) -> AnnotatedDocument:
        """The document with all that was added, and with what was noted on the way."""
        unread = Counter({f"not read: {kind}": count for kind, count in self.unread.items()})
        warnings = warnings_of(self.remarks | unread)
        return AnnotatedDocument(
            document,
            self.annotations(),
            None,
            warnings,
            done,
            {**+self.unread},
            bare_offsets=self.bare_offsets,
        )

    def _relation(self, item_id: str, ends: tuple[str, str, str], score: float | None) -> Relation:
        made = Relation(item_id, *ends, score, self._state, self._provenance)
        return self._relations.setdefault(item_id, made)

    def _cluster(self, mentions: Sequence[str], score: float | None) -> Cluster:
        """Add a cluster of mentions (ids) in this order."""
        item_id = self._id("cluster", *mentions)
        made = Cluster(item_id, tuple(mentions), score, self._state, self._provenance)
        return self._clusters.setdefault(item_id, made)

    def _id(self, kind: str, *parts: object) -> str:
        """An id that equal items share."""
        return stable_id(kind, self._doc_key, *parts, *self._owner)

    def _own_id(self, kind: str, *parts: object) -> str:
        """An id that equal items do not share: from the second on it ends with a number."""
        before = self._equal[kind, *parts]
        self._equal[kind, *parts] += 1
        number = (before + 1,) if before else ()
        return stable_id(kind, self._doc_key, *parts, *self._owner, *number)


def score_of(value: Any) -> float | None:
    """``value`` if it is a probability."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def title_length_of(text: str, fields: Mapping[str, Any]) -> int:
    """How many characters at the start of a text are the title that its fields name, on a line of its own."""
    title = fields.get("title")
    is_first = isinstance(title, str) and title and text.startswith(f"{title}\n")
    return len(str(title)) if is_first else 0


_Found = TypeVar("_Found")


def in_fitting_unit(
    read: Callable[[Unit], tuple[CorpusItems, _Found]],
    text: str = "",
    units: Sequence[Unit] = UNITS,
) -> tuple[CorpusItems, _Found]:
    """What is read with offsets of that unit of which the fewest mentions are :data:`MISFIT`; of code points where all do as well.

    Args:
        read: Reads the mentions of a record with offsets of a unit.
        text: Where it is given, of other units that do as well, the one that cuts the fewest words is taken.
        units: What offsets may count, code points first.

    Raises:
        FormatError: It cannot be read in any unit.
    """
    found: list[tuple[tuple[int, int], CorpusItems, _Found]] = []
    problems: list[FormatError] = []
    for unit in units:
        try:
            items, others = read(unit)
        except FormatError as error:
            problems.append(error)
            continue
        cuts = 0
        if unit is not CODE_POINTS:
            items.remarks[unit.remark] += 1
            cuts = sum(cuts_word(text, edge) for edge in chain.from_iterable(items.spans))
        found.append(((items.unread[MISFIT], cuts), items, others))
        if not any(found[-1][0]):
            break
    if not found:
        raise problems[0]
    return min(found, key=itemgetter(0))[1:]
