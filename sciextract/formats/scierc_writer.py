"""Writer of the SciERC format: the five original fields, and ``dataset`` where the input had it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, TextIO

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.formats.json_lines import dump_line
from sciextract.formats.sink import LineSink
from sciextract.formats.token_layers import TokenLayers, token_layers


class SciercWriter:
    """Writes one object a line; counts in ``losses`` what token offsets cannot hold."""

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        self.losses: Counter[str] = Counter()
        self._sink = LineSink(destination)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""
        layers = token_layers(document, keep_given=True)
        self.losses.update(layers.losses)
        record: dict[str, Any] = {"doc_key": document.document.doc_key}
        if "dataset" in document.document.fields:
            record["dataset"] = document.document.fields["dataset"]
        record["sentences"] = sentence_strings(layers.table, document.document.text)
        self._sink.write_line(dump_line(record | layer_fields(layers)))

    def close(self) -> None:
        """Flush, and close the file that was opened here."""
        self._sink.close()


def sentence_strings(table: TokenTable, text: str) -> list[list[str]]:
    """Per sentence its token strings, in the forms they were given."""
    strings = table.strings(text)
    return [list(strings[each.token_start : each.token_end]) for each in table.sentences]


def layer_fields(layers: TokenLayers) -> dict[str, Any]:
    """``ner``, ``relations`` and ``clusters`` in inclusive document-level token offsets."""
    return {
        "ner": [
            [[*_inclusive(tokens), entity.label] for tokens, entity in sentence]
            for sentence in layers.ner
        ],
        "relations": [
            [
                [*_inclusive(head), *_inclusive(tail), relation.label]
                for head, tail, relation in sentence
            ]
            for sentence in layers.relations
        ],
        "clusters": [[_inclusive(tokens) for tokens, _ in cluster] for cluster in layers.clusters],
    }


def _inclusive(tokens: TokenRange) -> list[int]:
    return [tokens.token_start, tokens.token_end - 1]
