"""CoNLL-2012 (OntoNotes) columns: a token a line, names in column 11, coreference in the last column.

Columns are separated by blanks: document, part, number, token, part of speech, parse, lemma, frameset, sense,
speaker, names, any number of predicate arguments, coreference.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import NOT_REJECTED, Annotations, Span, TokenRange
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError
from sciextract.formats.base import (
    Block,
    LineRole,
    Place,
    ReadItem,
    Source,
    blocks_of,
    quoted,
    read_each,
    readable_lines,
)
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
    """Read names as entities and coreference as clusters; part 1 of ``NAME`` is called ``NAME_1``."""

    def role_of(line: str, block: Block) -> LineRole:
        has_ended = not block or _END.match(str(block[-1][1]))
        if has_ended and not line.strip():
            return LineRole.BETWEEN
        return LineRole.FIRST if has_ended or _BEGIN.match(line) else LineRole.INSIDE

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
        place_of = partial(Place, source.path, doc_key=key)
        names = [
            (cells[_NAMES] if len(cells) > _NAMES + 1 else "*", place_of(line_number))
            for cells, line_number in rows
        ]
        text, tokens = from_token_lists([[cells[_WORD] for cells, _ in part] for part in sentences])
        items = CorpusItems(Place(source.path, None, key), source.provenance)
        for inside in tokens.sentences:
            column = names[inside.token_start : inside.token_end]
            for start, end, label in _find_enclosed(column, "names", _name_brackets):
                found = TokenRange(inside.token_start + start, inside.token_start + end)
                items.entity([tokens.char_span(found)], label)
        clusters: defaultdict[int, list[Span]] = defaultdict(list)
        column = [(cells[-1], place_of(line_number)) for cells, line_number in rows]
        for start, end, cluster in _find_enclosed(column, "coreference", _cluster_brackets):
            clusters[int(cluster)].append(tokens.char_span(TokenRange(start, end)))
        for _, spans in sorted(clusters.items()):
            items.cluster([items.mention(span, "") for span in spans], None)
        between = [[*cells[_WORD + 1 : _NAMES], *cells[_NAMES + 1 : -1]] for cells, _ in rows]
        if any(cell not in _EMPTY for cells in between for cell in cells):
            items.unread["conll2012 columns of a token"] += len(rows)
        return items.annotate(Document(key, text, tokens))

    problem = "no document begins: there is no line '#begin document (NAME); part 000'"
    nothing = FormatError(problem, path=source.path)
    return read_each(blocks_of(source, role_of), read, nothing)


_Brackets = tuple[list[tuple[str, str]], list[str]]
"""What opens in a cell, each with its label, and what closes: brackets with the same word belong together."""


def _find_enclosed(
    column: Sequence[tuple[str, Place]], name: str, brackets_of: Callable[[str, Place], _Brackets]
) -> Iterator[tuple[int, int, str]]:
    """Start, end (exclusive) and label of what brackets enclose; a closing one ends what began last with its word."""
    waiting: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    problem = "found, but its bracket has no partner"
    for index, (cell, place) in enumerate(column):
        opened, closed = brackets_of(cell, place)
        for word, label in opened:
            waiting[word].append((index, label))
        for word in closed:
            if not waiting[word]:
                raise place.error(f"{quoted(cell)} {problem}", field=name)
            start, label = waiting[word].pop()
            yield start, index + 1, label
    for left in filter(None, waiting.values()):
        cell, place = column[left[-1][0]]
        raise place.error(f"{quoted(cell)} {problem}", field=name)


def _name_brackets(cell: str, _: Place) -> _Brackets:
    """``(LABEL*`` to ``*)``, or ``(LABEL)``."""
    return [("", label) for label in _OPENING_NAME.findall(cell)], [""] * cell.count(")")


def _cluster_brackets(cell: str, place: Place) -> _Brackets:
    """``(1`` to ``1)``, or ``(1)``, joined by ``|``; ``-`` for none."""
    parts = [] if cell in ("-", "_", "*") else cell.split("|")
    found = filter(None, map(_COREFERENCE.fullmatch, parts))
    marks = [mark for mark in found if mark[0] != mark[2]]
    if len(marks) < len(parts):
        problem = f"{quoted(cell)} found; expected '-', '(1', '1)' and '(1)', joined by '|'"
        raise place.error(problem, field="coreference")
    numbers = [(str(int(mark[2])), bool(mark[1]), bool(mark[3])) for mark in marks]
    return [(n, n) for n, opens, _ in numbers if opens], [n for n, _, closes in numbers if closes]


class Conll2012Writer(LineWriter):
    """Writes names and coreference; counts in ``losses`` what brackets in columns cannot hold.

    Of names that overlap, the longest is written.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        super().__init__(destination)
        self._labels = LabelNames(_REFUSED_IN_LABELS)

    def write(self, document: AnnotatedDocument) -> None:
        given = document.annotations
        without = Annotations(given.entities, (), given.clusters)
        layers = token_layers(replace(document, annotations=without), keep_given=True)
        self.losses.update(layers.losses)
        self.lose("relation", sum(relation.state in NOT_REJECTED for relation in given.relations))
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
                closing = ")" if index + 1 == sentence.token_end else ""
                parse = f"*{closing}" if number else f"(TOP*{closing}"
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
            given = [tokens for tokens, _ in cluster]
            for mention in sorted(given, key=lambda r: (r.token_start, -r.token_end)):
                sentence = table.sentences[table.sentence_of(mention.token_start)]
                if not sentence.contains(mention):
                    self.lose("mention across sentences")
                elif any(
                    m.token_start < mention.token_start < m.token_end < mention.token_end
                    for m in mentions
                ):
                    self.lose("mention that crosses another of its cluster")
                else:
                    mentions.append(mention)
            number += bool(mentions)
            for mention in mentions:
                start, end = mention.token_start, mention.token_end - 1
                if start == end:
                    cells[start].append((1, 0, number, f"({number})"))
                else:
                    cells[start].append((0, -end, number, f"({number}"))
                    cells[end].append((2, -start, number, f"{number})"))
        return ["|".join([mark for *_, mark in sorted(cell)]) or "-" for cell in cells]


def _cell(text: str) -> str:
    """Text without white space and lone surrogates, and not the start of a comment."""
    cell = without_surrogates(_SPACE.sub("_", text))[0]
    return f"_{cell[1:]}" if cell.startswith("#") else cell
