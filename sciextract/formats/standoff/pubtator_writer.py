"""Writer of PubTator: a title line, an abstract line, a line a mention and a line a relation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.live import live
from sciextract.formats.sink import LineSink
from sciextract.formats.standoff.pubtator_lines import (
    FIELD,
    NO_IDENTIFIER,
    OWN,
    Kept,
    Mention,
    cell_of_label,
    label_of,
    nearest_pair,
)
from sciextract.formats.standoff.standoff import encodable, live_entities, one_line

_REFUSED_IN_KEYS = re.compile(r"[|\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_END = re.compile(r"[\r\n]")
_UNTYPED = "Mention"


class PubtatorWriter:
    """Writes one document after the other, an empty line between them.

    The first line of a text is the title, the rest the abstract. What has no place in a line is counted
    in ``losses``; further line ends become blanks, so that offsets stay right.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        self.losses: Counter[str] = Counter()
        self._sink = LineSink(destination)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: The file cannot be written, or an entity leaves the text.
        """
        key = _REFUSED_IN_KEYS.sub("_", document.document.doc_key) or "_"
        text = encodable(document.document.text, self.losses)
        title, _, abstract = text.partition("\n")
        if not abstract:
            # An empty abstract line says that there is no abstract, not that the title ends a line.
            title = text
        breaks = len(_LINE_END.findall(title + abstract))
        lines = _Lines(document)
        lines.count("document key with other characters", key != document.document.doc_key)
        lines.count("line break in the text", breaks)
        self._sink.write_line(f"{key}|t|{_LINE_END.sub(' ', title)}")
        self._sink.write_line(f"{key}|a|{_LINE_END.sub(' ', abstract)}")
        for columns in (*lines.mentions(text), *lines.relations):
            self._sink.write_line("\t".join([key, *columns]))
        self._sink.write_line("")
        self.losses.update(lines.losses)

    def close(self) -> None:
        """Flush, and close the file that was opened here."""
        self._sink.close()


class _Lines:
    """The annotation lines of one document, without its key.

    Attributes:
        relations: Columns of the relations.
        losses: What has no place, by kind.
    """

    def __init__(self, annotated: AnnotatedDocument) -> None:
        self.losses: Counter[str] = Counter()
        self._items = annotated.annotations
        self._living = {entity.id: entity for entity in live_entities(annotated)}
        whole = [each for each in self._living.values() if len(each.fragments) == 1]
        self.count("discontinuous entity", len(self._living) - len(whole))
        entities = sorted(whole, key=lambda each: each.span)
        self._index = {entity.id: index for index, entity in enumerate(entities)}
        self._kept = Kept.from_field(annotated.document.fields.get(FIELD))
        self._mentions = _with_columns(entities, self._kept)
        self._add_clusters()
        self.relations = [*self._relation_columns()]

    def mentions(self, text: str) -> Iterator[list[str]]:
        """Columns of the mentions, in text order."""
        for mention in self._mentions:
            cell, exact = cell_of_label(mention.label, _UNTYPED)
            first, *others = mention.columns or (NO_IDENTIFIER,)
            ours = [*mention.own, *exact]
            identifiers = [] if ours and first in ("", NO_IDENTIFIER) else [first]
            written = one_line(text[mention.char_start : mention.char_end])
            offsets = [str(mention.char_start), str(mention.char_end)]
            yield [*offsets, written, cell, "|".join([*identifiers, *ours]), *others]

    def count(self, kind: str, number: int) -> None:
        """Count a loss, if there is one."""
        if number:
            self.losses[kind] += number

    def _add_clusters(self) -> None:
        groups: dict[tuple[int, ...], None] = {}
        for cluster in live(self._items.clusters):
            mentions = set(cluster.live_mentions) & self._living.keys()
            fitting = tuple(sorted(self._index[each] for each in mentions & self._index.keys()))
            self.count("mention of an entity that does not fit", len(mentions) - len(fitting))
            self.count("second cluster in the same place", int(fitting in groups))
            groups |= {fitting: None} if fitting else {}
        for number, indices in enumerate(sorted(groups), start=1):
            for index in indices:
                self._add_identifier(index, f"{OWN}C{number}")

    def _add_identifier(self, index: int, identifier: str) -> str:
        mention = self._mentions[index]
        if identifier not in mention.own:
            self._mentions[index] = replace(mention, own=(*mention.own, identifier))
        return identifier

    def _relation_columns(self) -> Iterator[list[str]]:
        """Lines as they were read while their relation is still there, then lines for new relations."""
        fitting = [each for each in live(self._items.relations) if self._fits(each)]
        wanted = dict.fromkeys(
            (self._index[each.head], self._index[each.tail], each.label) for each in fitting
        )
        self.count("second relation in the same place", len(fitting) - len(wanted))
        new = dict(wanted)
        for columns in self._kept.relations:
            name, head, tail, *others = columns
            label = label_of(name, others)
            pair = nearest_pair(self._mentions, head, tail)
            if pair is None or (*pair, label) in wanted:
                yield list(columns)
            if pair is not None:
                new.pop((*pair, label), None)
        for head_index, tail_index, label in new:
            cell, exact = cell_of_label(label, _UNTYPED)
            yield [cell, *self._identifiers(head_index, tail_index), *exact]

    def _fits(self, relation: Relation) -> bool:
        ends = {relation.head, relation.tail}
        if ends <= self._index.keys():
            return True
        self.count("relation of an entity that does not fit", int(ends <= self._living.keys()))
        return False

    def _identifiers(self, head: int, tail: int) -> tuple[str, str]:
        """Those of the data base where they lead back to the same two mentions, else our own."""
        found = [(self._mentions[index].columns or ("",))[0] for index in (head, tail)]
        if all(found) and nearest_pair(self._mentions, found[0], found[1]) == (head, tail):
            return found[0], found[1]
        return (
            self._add_identifier(head, f"{OWN}M{head + 1}"),
            self._add_identifier(tail, f"{OWN}M{tail + 1}"),
        )


def _with_columns(entities: list[Entity], kept: Kept) -> list[Mention]:
    """The entities as mentions, each with what stood behind its type when it was read, also under another type."""
    waiting: dict[tuple[int, int], list[Mention]] = {}
    for mention in kept.mentions:
        waiting.setdefault((mention.char_start, mention.char_end), []).append(mention)
    mentions = [Mention(*_place(entity), entity.label) for entity in entities]
    for same_label in (True, False):
        for index, plain in enumerate(mentions):
            there = waiting.get((plain.char_start, plain.char_end), [])
            found = next(
                (each for each in there if each.label == plain.label or not same_label), None
            )
            if found is not None and not plain.columns:
                there.remove(found)
                mentions[index] = replace(plain, columns=found.columns)
    return mentions


def _place(entity: Entity) -> tuple[int, int]:
    return entity.span.char_start, entity.span.char_end
