"""CoNLL-2012 (OntoNotes) columns: a token a line, names in column 11, coreference in the last column.

Columns are separated by blanks: document, part, number, token, part of speech, parse, lemma, frameset, sense,
speaker, names, any number of predicate arguments, coreference.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import NOT_REJECTED, Annotations
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import TokenRange
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source, quoted, read_each
from sciextract.formats.decoding import Block, Edge, blocks_of, readable_lines
from sciextract.formats.items import CorpusItems
from sciextract.formats.layers import LabelNames, TokenLayers, token_layers
from sciextract.formats.sink import LineWriter
from sciextract.formats.tagged_tokens import flat
from sciextract.text.characters import without_surrogates
from sciextract.text.tokenizer import from_token_lists

_BEGIN = re.compile(r"#\s*begin document \((.*)\);?(?:\s*part\s+(\d{1,9}))?\s*$")
_END = re.compile(r"#\s*end document")
_WORD, _NAMES, _FEWEST = 3, 10, 5
_OPENING_NAME = re.compile(r"\(([^()*|\s]+)")
_COREFERENCE = re.compile(r"(\()?(\d{1,9})(\))?")
_EMPTY = frozenset({"-", "_", "*", "XX", "(TOP*", "*)", "(TOP*)"})
_SPACE = re.compile(r"\s")
_REFUSED_IN_LABELS = re.compile(r"[\s()*|\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def read_conll2012(source: Source) -> Iterator[ReadItem]:
    """Read names as entities and coreference as clusters; part 1 of ``NAME`` is called ``NAME_1``.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all, or no document begins in it.
    """

    def edge_of(line: str, block: Block) -> Edge:
        has_ended = not block or _END.match(str(block[-1][1]))
        if has_ended and not line.strip():
            return Edge.BETWEEN
        return Edge.FIRST if has_ended or _BEGIN.match(line) else Edge.INSIDE

    def read(block: Block, _: int) -> AnnotatedDocument:
        (first_line, first), *lines = readable_lines(block)
        begins = _BEGIN.match(first)
        if not begins:
            raise Place(source.path, first_line).error("a line before '#begin document'")
        part_number = int(begins[2] or 0)
        key = f"{begins[1]}_{part_number}" if part_number else begins[1]
        sentences: list[list[tuple[list[str], int]]] = [[]]
        for number, line in lines:
            if not line.strip():
                sentences.append([])
            elif not line.startswith("#"):
                cells, place = line.split(), Place(source.path, number, key)
                expected = len(next((rows[0][0] for rows in sentences if rows), cells))
                if len(cells) < _FEWEST:
                    problem = f"{len(cells)} columns found; expected {_FEWEST} or more "
                    raise place.error(f"{problem}(document, part, number, token, ..., coreference)")
                # From column 12 on, rows differ: there is one for each predicate of the sentence.
                if len(cells) <= _NAMES + 1 and len(cells) != expected:
                    problem = f"{len(cells)} columns found; expected {expected} as before"
                    raise place.error(problem)
                sentences[-1].append((cells, number))
        sentences = [rows for rows in sentences if rows]
        rows = [row for sentence in sentences for row in sentence]
        place = Place(source.path, first_line, key)
        text, tokens = from_token_lists([[cells[_WORD] for cells, _ in each] for each in sentences])
        items = CorpusItems(key, source.provenance)
        for each in tokens.sentences:
            part = rows[each.token_start : each.token_end]
            for start, end, label in _names(part, place):
                found = TokenRange(each.token_start + start, each.token_start + end)
                items.entity([tokens.char_span(found)], label)
        for mentions in _clusters(rows, place).values():
            items.cluster([items.mention(tokens.char_span(each), "") for each in mentions], None)
        between = [[*cells[_WORD + 1 : _NAMES], *cells[_NAMES + 1 : -1]] for cells, _ in rows]
        if any(cell not in _EMPTY for cells in between for cell in cells):
            items.unread["conll2012 columns of a token"] += len(rows)
        return items.annotated(Document(key, text, tokens))

    problem = "no document begins: there is no line '#begin document (NAME); part 000'"
    nothing = FormatError(problem, path=source.path)
    return read_each(blocks_of(source, edge_of), read, nothing)


def _names(rows: list[tuple[list[str], int]], place: Place) -> Iterator[tuple[int, int, str]]:
    """Start, end (exclusive) and label of the names of a sentence: ``(LABEL*`` to ``*)``, or ``(LABEL)``."""
    waiting: list[tuple[int, str]] = []
    for index, (cells, line) in enumerate(rows):
        cell = cells[_NAMES] if len(cells) > _NAMES + 1 else "*"
        waiting += [(index, label) for label in _OPENING_NAME.findall(cell)]
        for _ in range(cell.count(")")):
            if not waiting:
                raise _unbalanced(cell, "names", line, place)
            start, label = waiting.pop()
            yield start, index + 1, label
    if waiting:
        index, _ = waiting[-1]
        raise _unbalanced(rows[index][0][_NAMES], "names", rows[index][1], place)


def _clusters(rows: list[tuple[list[str], int]], place: Place) -> dict[int, list[TokenRange]]:
    """The mentions of each cluster, in the order of the clusters' numbers; a closing bracket ends the mention of the
    cluster that began last.
    """
    found: defaultdict[int, list[TokenRange]] = defaultdict(list)
    waiting: defaultdict[int, list[int]] = defaultdict(list)
    for index, (cells, line) in enumerate(rows):
        if cells[-1] in ("-", "_", "*"):
            continue
        marks = [_COREFERENCE.fullmatch(part) for part in cells[-1].split("|")]
        for mark in marks:
            if mark is None or not (mark[1] or mark[3]):
                problem = (
                    f"{quoted(cells[-1])} found; expected '-', '(1', '1)' and '(1)', joined by '|'"
                )
                raise Place(place.path, line, place.doc_key).error(problem, field="coreference")
            if mark[1]:
                waiting[int(mark[2])].append(index)
        for mark in marks:
            if mark is not None and mark[3]:
                if not waiting[int(mark[2])]:
                    raise _unbalanced(cells[-1], "coreference", line, place)
                start = waiting[int(mark[2])].pop()
                found[int(mark[2])].append(TokenRange(start, index + 1))
    for started in waiting.values():
        if started:
            cells, line = rows[started[-1]]
            raise _unbalanced(cells[-1], "coreference", line, place)
    return dict(sorted(found.items()))


def _unbalanced(cell: str, column: str, line: int, place: Place) -> FormatError:
    problem = f"{quoted(cell)} found, but its bracket has no partner"
    return Place(place.path, line, place.doc_key).error(problem, field=column)


class Conll2012Writer(LineWriter):
    """Writes names and coreference; counts in ``losses`` what brackets in columns cannot hold.

    Of names that overlap, the longest is written.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        super().__init__(destination)
        self._labels = LabelNames(_REFUSED_IN_LABELS)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: The file cannot be written.
        """
        given = document.annotations
        without = Annotations(given.entities, (), given.clusters)
        layers = token_layers(replace(document, annotations=without), keep_given=True)
        self.losses.update(layers.losses)
        self.lose("relation", sum(each.state in NOT_REJECTED for each in given.relations))
        key = _cell(document.document.doc_key) or "-"
        self.lose("document key with other characters", key != document.document.doc_key)
        self._sink.write_line(f"#begin document ({key}); part 000")
        table = layers.table
        words = [_cell(word) for word in table.strings(document.document.text)]
        names, clusters = ["*"] * len(words), self._cluster_cells(layers)
        for ner in layers.ner:
            for tokens, entity in flat(ner, self.losses):
                name = self._labels.name_of(entity.label)
                self.lose("label with other characters", name != entity.label)
                names[tokens.token_start] = f"({name}*"
                names[tokens.token_end - 1] += ")"
        for sentence in table.sentences:
            for index in range(sentence.token_start, sentence.token_end):
                number = index - sentence.token_start
                # Parsers of the format want a tree: a flat one over the sentence.
                parse = (
                    f"{'' if number else '(TOP'}*{')' if index + 1 == sentence.token_end else ''}"
                )
                name = names[index]
                name = name.replace("*)", ")") if name.startswith("(") else name
                cells = [key, "0", str(number), words[index], "XX", parse, "-", "-", "-", "-"]
                self._sink.write_line("   ".join([*cells, name, clusters[index]]))
            self._sink.write_line("")
        self._sink.write_line("#end document")

    def _cluster_cells(self, layers: TokenLayers) -> list[str]:
        table = layers.table
        # What opens, whole mentions, what closes; of several brackets the outer ones are outside.
        cells: list[list[tuple[int, int, int, str]]] = [[] for _ in range(len(table))]
        number = -1
        for cluster in layers.clusters:
            # Brackets cannot tell mentions across sentences, nor two of a cluster that cross.
            mentions: list[TokenRange] = []
            ranges = sorted(
                (tokens for tokens, _ in cluster), key=lambda r: (r.token_start, -r.token_end)
            )
            for each in ranges:
                sentence = table.sentences[table.sentence_of(each.token_start)]
                if not sentence.contains(each):
                    self.lose("mention across sentences")
                elif any(
                    m.token_start < each.token_start < m.token_end < each.token_end
                    for m in mentions
                ):
                    self.lose("mention that crosses another of its cluster")
                else:
                    mentions.append(each)
            number += bool(mentions)
            for start, end in ((each.token_start, each.token_end - 1) for each in mentions):
                if start == end:
                    cells[start].append((1, 0, number, f"({number})"))
                else:
                    cells[start].append((0, -end, number, f"({number}"))
                    cells[end].append((2, -start, number, f"{number})"))
        return ["|".join([mark for *_, mark in sorted(each)]) or "-" for each in cells]


def _cell(text: str) -> str:
    """Text without white space and lone surrogates, and not the start of a comment."""
    cell = without_surrogates(_SPACE.sub("_", text))[0]
    return f"_{cell[1:]}" if cell.startswith("#") else cell
