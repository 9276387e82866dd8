"""Writers of CoNLL columns: a token a line, IOB2 tags, flat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TextIO

from sciextract.documents.annotations import Annotations, Entity
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.formats.json_lines import dump_line
from sciextract.formats.live import live
from sciextract.formats.sink import LineSink
from sciextract.formats.standoff.conll_columns import (
    FIELD,
    NO_COLUMNS,
    NO_VALUE,
    PLAIN_START,
    SEPARATOR,
    TaggedRange,
    find_tokens,
    flat,
    tags_of,
    written_form,
)
from sciextract.formats.standoff.standoff import LabelNames, live_entities
from sciextract.formats.token_layers import token_layers

# What ends a cell for programs that split at any white space.
_REFUSED_IN_LABELS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class ConllWriter:
    """Writes the layout of CoNLL-2003: ``-DOCSTART- -X- O O``, then token, two other columns and tag between blanks.

    Tags hold neither nested, overlapping, discontinuous and untyped entities nor relations and clusters;
    of entities that overlap, the longest is written and the others are counted in ``losses``, as are document
    keys and exact texts.
    """

    _EXACT: ClassVar[bool] = False

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        self.losses: Counter[str] = Counter()
        self._labels = LabelNames(_REFUSED_IN_LABELS)
        self._sink = LineSink(destination)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: The file cannot be written, or an entity leaves the text.
        """
        live_entities(document)
        layers = token_layers(_entities_only(document))
        self.losses.update(layers.losses)
        self._count(document.annotations)
        chosen = [self._flat(sentence) for sentence in layers.ner]
        if self._EXACT:
            self._sink.write_line(
                f"{SEPARATOR} {self._given(document.document, layers.table, chosen)}"
            )
        else:
            self._count_plain(document.document, layers.table, chosen)
            self._sink.write_line(PLAIN_START)
        self._sink.write_line("")
        self._write_rows(document.document, layers.table, chosen)

    def close(self) -> None:
        """Flush, and close the file that was opened here."""
        self._sink.close()

    def _count(self, annotations: Annotations) -> None:
        relations, clusters = live(annotations.relations), live(annotations.clusters)
        counts = {"relation": len(relations), "cluster": len(clusters)}
        self.losses.update({kind: count for kind, count in counts.items() if count})

    def _count_plain(
        self, document: Document, table: TokenTable, chosen: list[list[TaggedRange]]
    ) -> None:
        """What the exact layout would hold."""
        changed = self._labels.changed
        counts = {
            "document key and exact text (conll-exact holds them)": 1,
            "document without tokens": not len(table),
            "token with other characters": sum(
                token != written_form(token) for token in table.strings(document.text)
            ),
            "label with other characters": sum(
                each.label in changed for sentence in chosen for each in sentence
            ),
        }
        self.losses.update({kind: int(count) for kind, count in counts.items() if count})

    def _flat(self, sentence: list[tuple[TokenRange, Entity]]) -> list[TaggedRange]:
        return [
            TaggedRange(tokens, self._labels.name_of(entity.label))
            for tokens, entity in flat(sentence, self.losses)
        ]

    def _given(self, document: Document, table: TokenTable, chosen: list[list[TaggedRange]]) -> str:
        """What rows cannot hold, as JSON: key, exact text, and labels that had to be changed."""
        forms = [written_form(token) for token in table.strings(document.text)]
        given: dict[str, Any] = {"doc_key": document.doc_key, "text": document.text}
        if find_tokens(document.text, forms) != table.spans:
            given["token_ranges"] = [[span.char_start, span.char_end] for span in table.spans]
        names = {each.label for sentence in chosen for each in sentence}
        changed = self._labels.changed
        if names & changed.keys():
            given["labels"] = {name: changed[name] for name in sorted(names & changed.keys())}
        return dump_line(given)

    def _write_rows(
        self, document: Document, table: TokenTable, chosen: list[list[TaggedRange]]
    ) -> None:
        forms = table.strings(document.text)
        columns = _other_columns(document.fields, len(forms))
        if not columns and (lost := len(_kept_columns(document.fields))):
            self.losses["conll columns of a token"] += lost
        for sentence, ranges in zip(table.sentences, chosen, strict=True):
            tags = tags_of(len(sentence), [_shifted(each, sentence.token_start) for each in ranges])
            for index, tag in enumerate(tags, start=sentence.token_start):
                others = columns[index] if columns else NO_COLUMNS
                self._sink.write_line(" ".join([written_form(forms[index]), *others, tag]))
            self._sink.write_line("")


class ExactConllWriter(ConllWriter):
    """Writes the same rows, with key and exact text in the ``-DOCSTART-`` line, so that nothing but annotations is lost."""

    _EXACT = True


def _entities_only(document: AnnotatedDocument) -> AnnotatedDocument:
    return replace(document, annotations=Annotations(document.annotations.entities))


def _shifted(each: TaggedRange, first: int) -> TaggedRange:
    tokens = TokenRange(each.tokens.token_start - first, each.tokens.token_end - first)
    return TaggedRange(tokens, each.label)


def _other_columns(fields: Mapping[str, Any], count: int) -> list[list[str]]:
    """The other columns as they were read; none where the tokens are no longer the same."""
    columns = _kept_columns(fields)
    if len(columns) != count:
        return []
    if not all(isinstance(cells, list) for cells in columns):
        return []
    if len({len(cells) for cells in columns}) != 1:
        return []
    return [[written_form(str(cell)) or NO_VALUE for cell in cells] for cells in columns]


def _kept_columns(fields: Mapping[str, Any]) -> list[Any]:
    kept = fields.get(FIELD)
    columns = kept.get("columns") if isinstance(kept, Mapping) else None
    return columns if isinstance(columns, list) else []
