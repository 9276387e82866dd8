"""brat standoff, written: a .txt and a .ann file a document, and the configuration that brat shows them with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import NOT_REJECTED, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import (
    ABSTRACT,
    ANY_TYPE,
    LINK,
    RELATION_PREFIX,
    LabelSchema,
    RelationType,
)
from sciextract.formats.brat import (
    NORMALISATION,
    NOTES_FILE,
    SCHEMA_FILE,
    SUFFIXES,
    join_pieces,
    pieces_of,
)
from sciextract.formats.items import COREFERENCE
from sciextract.formats.json_values import dump_line
from sciextract.formats.layers import (
    LabelNames,
    encodable,
    entities_in_text,
    named_attributes,
    named_links,
)
from sciextract.formats.sink import FileNames, FolderWriter, LineSink

_REFUSED = re.compile(r"[^A-Za-z0-9._-]+")
_ANY_ENTITY, _ANY_RELATION = "<ENTITY>", "<RELATION>"
VISUAL_FILE = "visual.conf"
_REFUSED_IN_LABELS = re.compile(r"[^A-Za-z0-9_-]")


class BratWriter(FolderWriter):
    """Writes a .txt and a .ann file a document, and the configuration at the end.

    What brat has no place for (document keys that are no file names, labels with other characters) goes
    into ``sciextract.jsonl``, which our own reader takes into account.
    """

    def __init__(self, destination: Path, *, schema: LabelSchema | None = None) -> None:
        """Write into the folder ``destination``; types, pairs and colours come from ``schema``.

        Raises:
            OutputError: The folder has content or cannot be made.
        """
        super().__init__(destination)
        self._names = FileNames(_REFUSED, SUFFIXES)
        self._labels = LabelNames(_REFUSED_IN_LABELS)
        self._configuration = Configuration(schema, self._labels)
        self._noted: set[str] = set()
        self._notes: LineSink | None = None

    def write(self, document: AnnotatedDocument) -> None:
        text = encodable(document.document.text, self.losses)
        exact: dict[str, tuple[Span, ...]] = {}
        lines = [*self._lines(document, text, exact)]
        doc_key = document.document.doc_key
        name = self._names.name_of(doc_key)
        for label_name, label in self._labels.changed.items():
            if label_name not in self._noted:
                self._noted.add(label_name)
                self._note({"label": label_name, "stands_for": label})
        note: dict[str, Any] = {"doc_key": doc_key} if doc_key != name else {}
        said = document.annotations.in_states(NOT_REJECTED).attributes
        if of_abstract := {item.label: item.value for item in said if not item.target}:
            note["attributes"] = of_abstract
        if exact:
            note["fragments"] = exact
        if note:
            self._note({"file": name} | note)
        self._save(f"{name}.txt", text)
        self._save(f"{name}.ann", "".join(f"{line}\n" for line in lines))

    def close(self) -> None:
        """Write the configuration.

        Raises:
            OutputError: It cannot be written.
        """
        self._save(SCHEMA_FILE, self._configuration.annotation_conf())
        self._save(VISUAL_FILE, self._configuration.visual_conf())
        if self._notes:
            self._notes.close()

    def _note(self, note: dict[str, Any]) -> None:
        if self._notes is None:
            self._notes = LineSink(self._folder / NOTES_FILE)
        self._notes.write_line(dump_line(note))

    def _lines(
        self, annotated: AnnotatedDocument, text: str, exact: dict[str, tuple[Span, ...]]
    ) -> Iterator[str]:
        """All lines: entities, relations, clusters, attributes. ``exact`` gets the fragments that a T line does not tell."""
        living = entities_in_text(annotated)
        pieces = {entity.id: pieces_of(text, entity.fragments) for entity in living}
        written = [entity for entity in living if pieces[entity.id]]
        names = {entity.id: f"T{number}" for number, entity in enumerate(written, start=1)}
        self.lose("entity of line breaks only", len(living) - len(written))
        for entity in written:
            name, parts = names[entity.id], pieces[entity.id]
            if join_pieces(text, parts) != entity.fragments:
                exact[name] = entity.fragments
            ranges = ";".join(f"{span.char_start} {span.char_end}" for span in parts)
            label = self._labels.name_of(entity.label)
            yield f"{name}\t{label} {ranges}\t{' '.join(span.of(text) for span in parts)}"
        relations, groups = named_links(annotated, names, self.losses)
        for number, ((head, tail, label), ids) in enumerate(relations.items(), start=1):
            names |= dict.fromkeys(ids, f"R{number}")
            yield f"R{number}\t{self._labels.name_of(label)} Arg1:{head} Arg2:{tail}"
        for mentions in groups:
            yield f"*\t{COREFERENCE} {' '.join(mentions)}"
        name_of, seen = self._labels.name_of, list[tuple[str, str]]()
        # Those of the abstract stand in the notes.
        said = named_attributes(annotated, names | {"": ""}, self.losses)
        links = 0
        for (name, label), attribute in said.items():
            line = f"N{links + 1}\tReference {name} {attribute.value}\tlink"
            if label == LINK and NORMALISATION.fullmatch(line):
                links += 1
                yield line
            elif name:
                value = attribute.value and name_of(attribute.value)
                seen.append((name_of(label), value))
                yield f"A{len(seen)}\t{' '.join(filter(None, (seen[-1][0], name, value)))}"
        configuration = self._configuration
        for label_name, value in seen:
            configuration.values_of(label_name).update({value: None} if value else {})
        configuration.entities |= dict.fromkeys(sorted(name_of(item.label) for item in written))
        configuration.relations |= dict.fromkeys(sorted(name_of(link[2]) for link in relations))
        configuration.has_clusters |= bool(groups)


class Configuration:
    """The types of a schema and those seen in documents, with names that brat accepts."""

    def __init__(self, schema: LabelSchema | None, labels: LabelNames) -> None:
        self._schema = schema
        self._labels = labels
        types = (schema.entity_labels, schema.relation_labels) if schema else ((), ())
        self.entities, self.relations = (
            dict.fromkeys(map(labels.name_of, listed)) for listed in types
        )
        self.has_clusters = schema is None or schema.coreference
        name_of = labels.name_of
        any_of = {ANY_TYPE: _ANY_ENTITY, f"{RELATION_PREFIX}{ANY_TYPE}": _ANY_RELATION}
        self._attributes: dict[str, tuple[list[str], dict[str, None]]] = {}
        for kind in schema.attributes if schema else ():
            on = [target for target in kind.on if target != ABSTRACT]
            targets = [any_of.get(t) or name_of(t.removeprefix(RELATION_PREFIX)) for t in on]
            values = dict.fromkeys(map(name_of, kind.values))
            self._attributes[name_of(kind.label)] = targets, values

    def values_of(self, attribute: str) -> dict[str, None]:
        """The values of an attribute so far; one that the schema does not know may stand on anything."""
        return self._attributes.setdefault(attribute, ([_ANY_ENTITY, _ANY_RELATION], {}))[1]

    def annotation_conf(self) -> str:
        """Which types there are, and which relations may join which."""
        any_pair = f"Arg1:{_ANY_ENTITY}, Arg2:{_ANY_ENTITY}"
        # Mentions may nest and overlap, which brat reports without the line OVERLAP.
        lines = ["[entities]", *self.entities, "\n[relations]"]
        lines.append(f"<OVERLAP>\t{any_pair}, <OVL-TYPE>:<ANY>")
        types = self._schema.relations if self._schema else ()
        known = {self._labels.name_of(relation.label): relation for relation in types}
        for name in self.relations:
            relation = known.get(name, RelationType(name, key="", colour=""))
            # brat checks Arg1 and Arg2 in this order for symmetric types, too, so those get both orders.
            turned = [(tail, head) for head, tail in relation.pairs if relation.symmetric]
            tails: dict[str, list[str]] = {}
            for pair in dict.fromkeys([*(relation.pairs or [(ANY_TYPE, ANY_TYPE)]), *turned]):
                head, tail = (
                    _ANY_ENTITY if label == ANY_TYPE else self._labels.name_of(label)
                    for label in pair
                )
                tails.setdefault(head, []).append(tail)
            kind = ", <REL-TYPE>:symmetric" if relation.symmetric else ""
            for head, names in tails.items():
                lines.append(f"{name}\tArg1:{head}, Arg2:{'|'.join(names)}{kind}")
        if self.has_clusters:
            lines.append(f"{COREFERENCE}\t{any_pair}, <REL-TYPE>:symmetric-transitive")
        lines += ["\n[events]", "\n[attributes]"]
        for name, (on, values) in self._attributes.items():
            listed = f", Value:{'|'.join(values)}" if values else ""
            lines += [f"{name}\tArg:{'|'.join(on)}{listed}"] if on else []
        return "\n".join([*lines, ""])

    def visual_conf(self) -> str:
        """The labels that names stand for, and the colours of the schema."""
        changed = self._labels.changed
        lines = ["[labels]"]
        for name in (*self.entities, *self.relations, *self._attributes):
            label = changed.get(name, name) or "mention without a type"
            if label.isprintable() and "|" not in label:
                lines.append(f"{name} | {label}")
        lines.append("\n[drawing]")
        lines.append("SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen, borderColor:darken")
        lines.append("ARC_DEFAULT\tcolor:black, arrowHead:triangle-5")
        if self._schema:
            name_of = self._labels.name_of
            lines += [f"{name_of(e.label)}\tbgColor:{e.colour}" for e in self._schema.entities]
            lines += [f"{name_of(r.label)}\tcolor:{r.colour}" for r in self._schema.relations]
        return "\n".join([*lines, ""])
