"""``annotation.conf`` and ``visual.conf``, from which brat knows the types of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sciextract.documents.schema import ANY_TYPE, LabelSchema, RelationType
from sciextract.formats.standoff.brat_file import COREFERENCE, AnnFile
from sciextract.formats.standoff.brat_lines import event_of
from sciextract.formats.standoff.standoff import LabelNames

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
