"""Lines of a brat .ann file: what is an entity, a relation or a cluster, and what is only kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.spans import Span
from sciextract.formats.base import Place, shown

FIELD = "brat"
"""The field of a document that holds what only brat knows (:meth:`AnnLines.to_field`)."""

_MENTION = re.compile(r"(\S+) +([0-9]{1,15} +[0-9]{1,15}(?:; *[0-9]{1,15} +[0-9]{1,15})*)\s*")
_RELATION = re.compile(r"(\S+)\s+([^\s:]+):(\S+)\s+([^\s:]+):(\S+)\s*")
_EVENT = re.compile(r"E\S*\t([^\s:]+):(\S+)")
_KINDS = {
    "E": "event",
    "A": "attribute",
    "M": "attribute",
    "N": "normalisation",
    "#": "note",
    "R": "relation of relations",
    "*": "group of relations",
}


@dataclass(frozen=True, slots=True)
class Mention:
    """A T line.

    Attributes:
        label: Its label; on reading as in the file, in what is kept as sciextract has it.
        fragments: In the order of the file.
        written: The file's copy of its characters; ``None`` where it has none.
        line: 1-based line number.
    """

    label: str
    fragments: tuple[Span, ...]
    written: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """An R line: its label, and two role names with the ids of what they refer to, head first."""

    label: str
    head: tuple[str, str]
    tail: tuple[str, str]
    line: int | None = None


@dataclass(slots=True)
class AnnLines:
    """The lines of one file by kind.

    Attributes:
        mentions: T lines by id.
        relations: R lines by id.
        groups: ``*`` lines: kind and members.
        others: All other lines as they are.
    """

    mentions: dict[str, Mention] = field(default_factory=dict)
    relations: dict[str, Arguments] = field(default_factory=dict)
    groups: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def triggers(self) -> dict[str, str]:
        """Id of the trigger (a T line) by id of its event."""
        found = ((line.split("\t")[0], _EVENT.match(line)) for line in self.others)
        return {event_id: match[2] for event_id, match in found if match}

    def warnings(self) -> tuple[str, ...]:
        """One remark a kind of line that is only kept."""
        kinds = Counter(_KINDS.get(line[0], "unknown") for line in self.others)
        return tuple(
            f"brat: kept but not interpreted: {kind} lines ({count})"
            for kind, count in kinds.items()
        )

    def to_field(self) -> dict[str, Any]:
        """Plain values for JSON; :meth:`from_field` reads them back."""
        return {
            "mentions": [
                [name, each.label, [[s.char_start, s.char_end] for s in each.fragments]]
                for name, each in self.mentions.items()
            ],
            "relations": [
                [name, each.label, list(each.head), list(each.tail)]
                for name, each in self.relations.items()
            ],
            "groups": [[kind, list(members)] for kind, members in self.groups],
            "lines": self.others,
        }

    @classmethod
    def from_field(cls, value: object) -> AnnLines:
        """What :meth:`to_field` gave; nothing where a field of that name is something else."""
        if not isinstance(value, Mapping):
            return cls()
        try:
            return cls(
                {
                    _word(name): Mention(str(label), tuple(Span(int(a), int(b)) for a, b in spans))
                    for name, label, spans in value["mentions"]
                },
                {
                    _word(name): Arguments(str(label), _role(head), _role(tail))
                    for name, label, head, tail in value["relations"]
                },
                [(_word(kind), tuple(map(_word, members))) for kind, members in value["groups"]],
                [line for line in map(str, value["lines"]) if len(line.splitlines()) == 1],
            )
        except (KeyError, TypeError, ValueError):
            return cls()


def _word(value: object) -> str:
    word = str(value)
    if len(word.split()) != 1:
        raise ValueError(word)
    return word


def _role(value: Sequence[object]) -> tuple[str, str]:
    role, name = map(_word, value)
    return role, name


def parse_ann(content: str, path: str, doc_key: str) -> AnnLines:
    """The lines of a file; blank ones are skipped.

    Raises:
        FormatError: A T, R or ``*`` line has a wrong shape, or an id occurs twice.
    """
    lines = AnnLines()
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            _add(lines, line.rstrip("\r"), Place(path, number, doc_key))
    return lines


def references(line: str) -> Iterator[str]:
    """Ids that an event, attribute, normalisation or note refers to."""
    name, _, rest = line.partition("\t")
    words = rest.split("\t")[0].split()
    if name.startswith("E"):
        yield from (word.partition(":")[2] for word in words)
    elif name[:1] in ("A", "M", "N", "#"):
        yield from words[1:2]
    elif name[:1] in ("R", "*"):
        yield from (word.rpartition(":")[2] for word in words[1:])


def event_of(line: str) -> tuple[str, str] | None:
    """Type and trigger of an event line."""
    match = _EVENT.match(line)
    return (match[1], match[2]) if match else None


def ids_of(lines: Iterable[str]) -> set[str]:
    """The ids that lines define."""
    return {line.split("\t")[0] for line in lines} - {"*"}


def _add(lines: AnnLines, line: str, place: Place) -> None:
    name, _, rest = line.partition("\t")
    if name[:1] == "T":
        _refuse_second(name, lines.mentions, place)
        lines.mentions[name] = _mention(rest, line, place)
    elif name[:1] == "R":
        _refuse_second(name, lines.relations, place)
        lines.relations[name] = _relation(rest, line, place)
    elif name == "*":
        words = rest.split()
        if len(words) < 2:
            raise place.error(f"{shown(line)} found, allowed is *<tab>KIND T1 T2 ...")
        lines.groups.append((words[0], tuple(words[1:])))
    else:
        lines.others.append(line)


def _refuse_second(name: str, known: Mapping[str, object], place: Place) -> None:
    if name in known:
        raise place.error(f"the id {shown(name)} occurs a second time; ids must differ")


def _mention(rest: str, line: str, place: Place) -> Mention:
    data, tab, written = rest.partition("\t")
    match = _MENTION.fullmatch(data)
    if match is None:
        allowed = "T1<tab>LABEL START END[;START END...]<tab>TEXT"
        raise place.error(f"{shown(line)} found, allowed is {allowed}")
    pairs = [pair.split() for pair in match[2].split(";")]
    fragments = tuple(Span(int(start), int(end)) for start, end in pairs)
    return Mention(match[1], fragments, written if tab else None, place.line)


def _relation(rest: str, line: str, place: Place) -> Arguments:
    match = _RELATION.fullmatch(rest.split("\t")[0])
    if match is None:
        allowed = "R1<tab>LABEL Arg1:T1 Arg2:T2"
        raise place.error(f"{shown(line)} found, allowed is {allowed}")
    label, *words = match.groups()
    first, second = (words[0], words[1]), (words[2], words[3])
    reverse = (first[0], second[0]) == ("Arg2", "Arg1")
    head, tail = (second, first) if reverse else (first, second)
    return Arguments(label, head, tail, place.line)
