"""Writer of the SciERC format: the five original fields, and ``dataset`` where the input had it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.formats.json_lines import dump_line
from sciextract.formats.sink import LineSink
from sciextract.formats.token_layers import TokenLayers, token_layers, with_split_tokens


class SciercWriter:
    """Writes one object a line; counts in ``losses`` what token offsets cannot hold."""

    def __init__(
        self, destination: Path | str | TextIO, *, gold: Callable[[], Annotations] | None = None
    ) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream.

        Args:
            destination: Where the lines go.
            gold: Gives the gold of the document that is written next; the document's own annotations are
                then its predictions, in ``predicted_*`` fields.
        """
        self.losses: Counter[str] = Counter()
        self._gold = gold
        self._sink = LineSink(destination)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""
        record: dict[str, Any] = {"doc_key": document.document.doc_key}
        if "dataset" in document.document.fields:
            record["dataset"] = document.document.fields["dataset"]
        sides = {"": document.annotations}
        if self._gold is not None:
            sides = {"": self._gold(), "predicted_": document.annotations}
        split = with_split_tokens(document.document, sides.values())
        record["sentences"] = sentence_strings(split.tokens, split.text)
        for prefix, side in sides.items():
            layers = token_layers(AnnotatedDocument(split, side), split=False)
            self.losses.update(layers.losses)
            record |= {f"{prefix}{name}": value for name, value in layer_fields(layers).items()}
        self._sink.write_line(dump_line(record))

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
