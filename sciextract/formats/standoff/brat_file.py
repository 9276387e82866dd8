"""The lines of one .ann file: ids as they were, and what was only kept, as far as it still refers to something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from sciextract.documents.annotations import Cluster, Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.formats.corpus_items import CorpusItems
from sciextract.formats.live import live
from sciextract.formats.standoff.brat_lines import FIELD, AnnLines, event_of, ids_of, references
from sciextract.formats.standoff.brat_notes import joined, pieces_of
from sciextract.formats.standoff.standoff import LabelNames, live_entities

COREFERENCE = "COREF"


class AnnFile:
    """One document as brat lines.

    Attributes:
        exact: Fragments by T id where those in the file do not tell them.
        entity_names: Names of the entity types that stand in the file, triggers of events left out.
        relation_names: Names of the relation types in it.
        group_kinds: Kinds of clusters in it.
        others: The lines that were only kept.
        losses: What brat cannot hold, by kind.
    """

    def __init__(self, annotated: AnnotatedDocument, text: str, labels: LabelNames) -> None:
        """Lay out ``annotated``; ``text`` is its text as it stands in the .txt file."""
        self.exact: dict[str, tuple[Span, ...]] = {}
        self.losses: Counter[str] = Counter()
        self._text = text
        self._labels = labels
        self._kept = AnnLines.from_field(annotated.document.fields.get(FIELD))
        self._triggers = self._kept.triggers
        self._living = {entity.id for entity in live(annotated.annotations.entities)}
        self._old = CorpusItems(annotated.document.doc_key, "")
        self._before = {
            name: self._old.entity(line.fragments, line.label)
            for name, line in self._kept.mentions.items()
        }
        self._items = annotated.annotations
        self._by_name = self._named(live_entities(annotated))
        self._names = {entity.id: name for name, entity in self._by_name.items()}
        self._relations = self._named_relations()
        self.others = self._still_meaningful()
        self._events = self._living_events()
        self.entity_names = {
            labels.name_of(entity.label)
            for name, entity in self._by_name.items()
            if name not in self._events
        }
        self.relation_names = {labels.name_of(each.label) for each in self._relations.values()}
        self.group_kinds: set[str] = set()

    def lines(self) -> Iterator[str]:
        """All lines: entities, relations, clusters, then what was only kept."""
        for name, entity in self._by_name.items():
            yield self._mention_line(name, entity)
        for name, relation in self._relations.items():
            yield self._relation_line(name, relation)
        yield from self._group_lines()
        yield from self.others

    def _named(self, entities: Iterable[Entity]) -> dict[str, Entity]:
        """Entities by T id: the one they came with, else a new one."""
        writable = [entity for entity in entities if pieces_of(self._text, entity.fragments)]
        self._count("entity of line breaks only", len(self._living) - len(writable))
        by_id = {entity.id: entity for entity in writable}
        by_place: dict[tuple[object, ...], list[Entity]] = {}
        for entity in writable:
            by_place.setdefault((entity.fragments, entity.label), []).append(entity)
        named = {
            name: by_id.pop(before.id)
            for name, before in self._before.items()
            if before.id in by_id
        }
        for name, line in self._kept.mentions.items():
            alike = by_place.get((line.fragments, line.label), [])
            found = next((each for each in alike if each.id in by_id), None)
            if name not in named and found is not None:
                named[name] = by_id.pop(found.id)
        new_names = self._fresh("T")
        ordered = {name: named[name] for name in self._kept.mentions if name in named}
        return ordered | {next(new_names): entity for entity in by_id.values()}

    def _named_relations(self) -> dict[str, Relation]:
        """Relations by R id, like entities."""
        waiting: dict[tuple[str, str, str], Relation] = {}
        for relation in filter(self._fits, live(self._items.relations)):
            key = (self._names[relation.head], self._names[relation.tail], relation.label)
            self._count("second relation in the same place", int(key in waiting))
            waiting.setdefault(key, relation)
        named: dict[str, Relation] = {}
        for name, line in self._kept.relations.items():
            head, tail = (self._triggers.get(end, end) for _, end in (line.head, line.tail))
            same = waiting.pop((head, tail, line.label), None)
            if same:
                named[name] = same
        return named | dict(zip(self._fresh("R"), waiting.values(), strict=False))

    def _fits(self, relation: Relation) -> bool:
        ends = {relation.head, relation.tail}
        if ends <= self._names.keys():
            return True
        lost = ends <= self._living
        self._count("relation of an entity that does not fit", int(lost))
        return False

    def _still_meaningful(self) -> list[str]:
        """Kept lines that refer to nothing which is gone; a line may refer to another such line."""
        defined = {*self._kept.mentions, *self._kept.relations, *ids_of(self._kept.others)}
        lines = self._kept.others
        while True:
            alive = {*self._by_name, *self._relations, *ids_of(lines)}
            gone = defined - alive
            staying = [line for line in lines if self._stays(line, gone)]
            if len(staying) == len(lines):
                break
            lines = staying
        lost = len(self._kept.others) - len(lines)
        self._count("annotation line of a kind that is not interpreted", lost)
        return lines

    def _stays(self, line: str, gone: set[str]) -> bool:
        event = event_of(line)
        trigger = self._by_name.get(event[1]) if event else None
        # brat refuses an event whose trigger has another type.
        before = self._kept.mentions.get(event[1]) if event else None
        renamed = trigger and before and trigger.label != before.label
        return not renamed and gone.isdisjoint(references(line))

    def _living_events(self) -> dict[str, list[str]]:
        """Events by trigger, of the events that are written."""
        events: dict[str, list[str]] = {}
        for line in self.others:
            event = event_of(line)
            if event and event[1] in self._by_name:
                events.setdefault(event[1], []).append(line.split("\t")[0])
        return events

    def _mention_line(self, name: str, entity: Entity) -> str:
        pieces = pieces_of(self._text, entity.fragments)
        if joined(self._text, pieces) != entity.fragments:
            self.exact[name] = entity.fragments
        ranges = ";".join(f"{span.char_start} {span.char_end}" for span in pieces)
        written = " ".join(span.of(self._text) for span in pieces)
        return f"{name}\t{self._labels.name_of(entity.label)} {ranges}\t{written}"

    def _relation_line(self, name: str, relation: Relation) -> str:
        line = self._kept.relations.get(name)
        roles = (line.head, line.tail) if line else (("Arg1", ""), ("Arg2", ""))
        ends = [
            f"{role}:{self._reference(entity_id, before)}"
            for (role, before), entity_id in zip(roles, (relation.head, relation.tail), strict=True)
        ]
        return f"{name}\t{self._labels.name_of(relation.label)} {' '.join(ends)}"

    def _reference(self, entity_id: str, before: str = "") -> str:
        """What refers to an entity: its T id, or the event that it triggers, as brat wants it."""
        name = self._names[entity_id]
        events = self._events.get(name, [])
        if before == name or before in events:
            return before
        return events[0] if events else name

    def _group_lines(self) -> Iterator[str]:
        kinds = self._kept_kinds()
        seen: set[frozenset[str]] = set()
        for cluster in live(self._items.clusters):
            mentions = self._mentions(cluster)
            key = frozenset(mentions)
            self._count("second cluster in the same place", int(key in seen))
            if mentions and key not in seen:
                seen.add(key)
                kind = kinds.get(cluster.id) or kinds.get(key) or COREFERENCE
                self.group_kinds.add(kind)
                yield f"*\t{kind} {' '.join(map(self._reference, mentions))}"

    def _kept_kinds(self) -> dict[object, str]:
        """Kind of a group by the id that its cluster got on reading, and by its mentions."""
        kinds: dict[object, str] = {}
        for kind, members in self._kept.groups:
            names = [self._triggers.get(member, member) for member in members]
            before = [self._before[name] for name in names if name in self._before]
            kinds[self._old.cluster(before, None).id] = kind
            mentions = [self._by_name[name].id for name in names if name in self._by_name]
            kinds[frozenset(mentions)] = kind
        return kinds

    def _mentions(self, cluster: Cluster) -> list[str]:
        """The mentions of a cluster that stand in the file, in the order of the file."""
        members = set(cluster.live_mentions)
        lost = len((members & self._living) - self._names.keys())
        self._count("mention of an entity that does not fit", lost)
        return [entity_id for entity_id in self._names if entity_id in members]

    def _count(self, kind: str, number: int) -> None:
        if number:
            self.losses[kind] += number

    def _fresh(self, letter: str) -> Iterator[str]:
        """Ids behind all that the file has used, also for what is gone."""
        kept = self._kept
        used = [*kept.mentions, *kept.relations, *ids_of(kept.others)]
        used += [name for line in kept.others for name in references(line)]
        found = (re.fullmatch(rf"{letter}([0-9]{{1,15}}).*", name) for name in used)
        number = max((int(match[1]) for match in found if match), default=0)
        while True:
            number += 1
            yield f"{letter}{number}"
