"""Writer of brat standoff: a folder that brat itself can show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import Cluster, Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import ANY_TYPE, LabelSchema, RelationType
from sciextract.documents.spans import Span
from sciextract.errors import OutputError
from sciextract.formats.brat import (
    FIELD,
    NOTES_FILE,
    SCHEMA_FILE,
    AnnLines,
    DocumentPaths,
    event_of,
    ids_of,
    joined,
    pieces_of,
    references,
)
from sciextract.formats.items import CorpusItems, not_rejected
from sciextract.formats.json_values import dump_line
from sciextract.formats.layers import LabelNames, encodable, entities_in_text
from sciextract.formats.sink import LineSink, new_folder

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
        self._living = {entity.id for entity in not_rejected(annotated.annotations.entities)}
        self._old = CorpusItems(annotated.document.doc_key, "")
        self._before = {
            name: self._old.entity(line.fragments, line.label)
            for name, line in self._kept.mentions.items()
        }
        self._items = annotated.annotations
        self._by_name = self._named(entities_in_text(annotated))
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
        for relation in filter(self._fits, not_rejected(self._items.relations)):
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
        for cluster in not_rejected(self._items.clusters):
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
        self.losses += Counter({kind: number})

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


_ANY_ENTITY = "<ENTITY>"
_ANYTHING = "<ANY>"
_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Configuration:
    """The types of a schema and those seen in documents, with names that brat accepts."""

    def __init__(self, schema: LabelSchema | None, labels: LabelNames) -> None:
        """Start with the types of ``schema``."""
        self._schema = schema
        self._labels = labels
        self._entities = dict.fromkeys(map(labels.name_of, schema.entity_labels if schema else ()))
        self._relations = dict.fromkeys(
            map(labels.name_of, schema.relation_labels if schema else ())
        )
        self._groups = dict.fromkeys([COREFERENCE] if not schema or schema.coreference else [])
        self._events: dict[str, set[str]] = {}
        self._attributes: dict[str, set[str]] = {}

    def see(self, file: AnnFile) -> None:
        """Add the types of one document."""
        self._entities.update(dict.fromkeys(sorted(file.entity_names)))
        self._relations.update(dict.fromkeys(sorted(file.relation_names)))
        self._groups.update(dict.fromkeys(sorted(file.group_kinds)))
        for line in file.others:
            self._see_kept(line)

    def annotation_conf(self) -> str:
        """Which types there are, and which relations may join which."""
        return "\n".join(
            [
                "[entities]",
                *self._entities,
                "\n[relations]",
                # Mentions may nest and overlap, which brat reports without this line.
                f"<OVERLAP>\tArg1:{_ANY_ENTITY}, Arg2:{_ANY_ENTITY}, <OVL-TYPE>:<ANY>",
                *self._relation_lines(),
                *(
                    f"{kind}\tArg1:{_ANY_ENTITY}, Arg2:{_ANY_ENTITY}, <REL-TYPE>:symmetric-transitive"
                    for kind in self._groups
                ),
                "\n[events]",
                *(
                    f"{name}\t{', '.join(f'{role}*:{_ANYTHING}' for role in sorted(roles))}".strip()
                    for name, roles in self._events.items()
                ),
                "\n[attributes]",
                *(
                    f"{name}\tArg:{_ANYTHING}"
                    + (f", Value:{'|'.join(sorted(values))}" if values else "")
                    for name, values in self._attributes.items()
                ),
                "",
            ]
        )

    def visual_conf(self) -> str:
        """The labels that names stand for, and the colours of the schema."""
        names = [*self._entities, *self._relations]
        changed = self._labels.changed
        shown_as = {name: changed.get(name, name) or "mention without a type" for name in names}
        labels = [
            f"{name} | {label}"
            for name, label in shown_as.items()
            if label.isprintable() and "|" not in label
        ]
        lines = ["[labels]", *labels, "\n[drawing]"]
        lines += ["SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen, borderColor:darken"]
        lines += ["ARC_DEFAULT\tcolor:black, arrowHead:triangle-5"]
        return "\n".join([*lines, *self._colours(), ""])

    def _see_kept(self, line: str) -> None:
        event, words = event_of(line), line.split("\t")[1:2]
        values = words[0].split() if words else []
        if event and _NAME.fullmatch(event[0]):
            roles = {re.sub(r"[0-9]+$", "", value.partition(":")[0]) for value in values[1:]}
            self._events.setdefault(event[0], set()).update(filter(_NAME.fullmatch, roles))
        elif line[0] in "AM" and values and _NAME.fullmatch(values[0]):
            self._attributes.setdefault(values[0], set()).update(values[2:3])

    def _relation_lines(self) -> Iterator[str]:
        known = {self._labels.name_of(each.label): each for each in self._types()}
        for name in self._relations:
            relation = known.get(name)
            kind = ", <REL-TYPE>:symmetric" if relation and relation.symmetric else ""
            for head, tails in self._pairs(relation):
                yield f"{name}\tArg1:{head}, Arg2:{'|'.join(tails)}{kind}"

    def _types(self) -> tuple[RelationType, ...]:
        return self._schema.relations if self._schema else ()

    def _pairs(self, relation: RelationType | None) -> Iterable[tuple[str, list[str]]]:
        """Tail types by head type; every pair where the schema says nothing.

        brat checks Arg1 and Arg2 in this order for ``symmetric`` types too, so those have both orders.
        """
        if relation is None or not relation.pairs:
            return [(_ANY_ENTITY, [_ANY_ENTITY])]
        turned = [(tail, head) for head, tail in relation.pairs if relation.symmetric]
        tails: dict[str, list[str]] = {}
        for head, tail in dict.fromkeys([*relation.pairs, *turned]):
            tails.setdefault(self._type_name(head), []).append(self._type_name(tail))
        return tails.items()

    def _type_name(self, label: str) -> str:
        return _ANY_ENTITY if label == ANY_TYPE else self._labels.name_of(label)

    def _colours(self) -> Iterator[str]:
        for entity in self._schema.entities if self._schema else ():
            yield f"{self._labels.name_of(entity.label)}\tbgColor:{entity.colour}"
        for relation in self._types():
            yield f"{self._labels.name_of(relation.label)}\tcolor:{relation.colour}"


VISUAL_FILE = "visual.conf"
_REFUSED_IN_LABELS = re.compile(r"[^A-Za-z0-9_-]")


class BratWriter:
    """Writes a .txt and a .ann file a document, and the configuration at the end.

    What brat has no place for (document keys that are no file names, labels with other characters) goes
    into ``sciextract.jsonl``, which our own reader takes into account.
    """

    def __init__(self, destination: Path, *, schema: LabelSchema | None = None) -> None:
        """Write into the folder ``destination``; types, pairs and colours come from ``schema``.

        Raises:
            OutputError: The folder has content or cannot be made.
        """
        self.losses: Counter[str] = Counter()
        self._folder = new_folder(destination)
        self._paths = DocumentPaths()
        self._labels = LabelNames(_REFUSED_IN_LABELS)
        self._configuration = Configuration(schema, self._labels)
        self._noted: set[str] = set()
        self._notes: LineSink | None = None

    def write(self, document: AnnotatedDocument) -> None:
        """Add the files of one document.

        Raises:
            OutputError: A file cannot be written, or an entity leaves the text.
        """
        text = encodable(document.document.text, self.losses)
        file = AnnFile(document, text, self._labels)
        lines = list(file.lines())
        self.losses.update(file.losses)
        self._configuration.see(file)
        name = self._paths.name_of(document.document.doc_key)
        self._note(name, document.document.doc_key, file)
        self._put(f"{name}.txt", text)
        self._put(f"{name}.ann", "".join(f"{line}\n" for line in lines))

    def close(self) -> None:
        """Write the configuration.

        Raises:
            OutputError: It cannot be written.
        """
        self._put(SCHEMA_FILE, self._configuration.annotation_conf())
        self._put(VISUAL_FILE, self._configuration.visual_conf())
        if self._notes:
            self._notes.close()

    def _put(self, name: str, content: str) -> None:
        path = self._folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "x", encoding="utf-8", errors="replace", newline="") as stream:
                stream.write(content)
        except OSError as error:
            problem = f"{path}: cannot be written: {error.strerror}"
            raise OutputError(problem, "choose another --output") from error

    def _note(self, name: str, doc_key: str, file: AnnFile) -> None:
        for label_name, label in self._labels.changed.items():
            if label_name not in self._noted:
                self._noted.add(label_name)
                self._write_note({"label": label_name, "stands_for": label})
        note: dict[str, Any] = {"doc_key": doc_key} if doc_key != name else {}
        if file.exact:
            note["fragments"] = {
                mention: [[span.char_start, span.char_end] for span in spans]
                for mention, spans in file.exact.items()
            }
        if note:
            self._write_note({"file": name} | note)

    def _write_note(self, note: dict[str, Any]) -> None:
        if self._notes is None:
            self._notes = LineSink(self._folder / NOTES_FILE)
        self._notes.write_line(dump_line(note))
