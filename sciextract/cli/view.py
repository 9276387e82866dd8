"""Annotated documents for the eyes: mentions bracketed and coloured in the text, then relations and clusters."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from sciextract.cli.console import colours_wanted
from sciextract.text.brackets import bracketed
from sciextract.text.characters import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from sciextract.documents.annotations import Relation
    from sciextract.documents.document import AnnotatedDocument
    from sciextract.documents.schema import LabelSchema

_INDENT = 2
_SCORE_COLUMNS = 6
_NARROWEST = 20


class ViewWriter:
    """Writes documents in a readable form; a mention reads ``[beam search|Method]``, coloured where possible.

    Args:
        stream: Where the lines go.
        schema: Colours of the labels and relations without direction; plain when ``None``.

    Attributes:
        losses: Stays empty.
    """

    def __init__(self, stream: TextIO, schema: LabelSchema | None) -> None:
        self.losses: Counter[str] = Counter()
        self._stream = stream
        self._console = _console()
        self._styles = _styles(schema)
        self._symmetric = schema.symmetric_labels if schema else frozenset()

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""
        page = io.StringIO()
        self._console.file = page
        for line in self._lines(document):
            self._console.print(line, soft_wrap=True)
        self._stream.write(page.getvalue())

    def close(self) -> None:
        """Nothing is left to do: every document is written at once."""

    def _lines(self, document: AnnotatedDocument) -> Iterator[Text]:
        from rich.text import Text

        yield Text(visible(document.document.doc_key), style="bold reverse")
        yield from self._wrapped(self._marked_text(document), " " * _INDENT)
        yield from self._section("Relations", self._relations(document))
        yield from self._section("Same thing", self._clusters(document))
        if not document.annotations.entities:
            yield Text("  nothing found", style="italic")
        yield Text()

    def _marked_text(self, document: AnnotatedDocument) -> Text:
        from rich.text import Text

        shown = visible(document.document.text, keep="\n")
        marked = Text()
        for piece, label in bracketed(shown, document.annotations.entities):
            marked.append(piece, self._styles.get(label, ""))
        return marked

    def _relations(self, document: AnnotatedDocument) -> Iterator[tuple[float | None, Text]]:
        from rich.text import Text

        for relation in document.annotations.relations:
            line = Text()
            line.append_text(self._mention(document, relation.head))
            line.append(f" {self._arrow(relation)} ", self._styles.get(relation.label, ""))
            line.append_text(self._mention(document, relation.tail))
            yield relation.score, line

    def _arrow(self, relation: Relation) -> str:
        start = "<-" if relation.label in self._symmetric else "-"
        return f"{start}{visible(relation.label)}->"

    def _clusters(self, document: AnnotatedDocument) -> Iterator[tuple[float | None, Text]]:
        from rich.text import Text

        for cluster in document.annotations.clusters:
            mentions = [self._mention(document, mention) for mention in cluster.mentions]
            yield cluster.score, Text(" = ").join(mentions)

    def _mention(self, document: AnnotatedDocument, entity_id: str) -> Text:
        from rich.text import Text

        entity = document.annotations.entity(entity_id)
        words = visible(entity.text_of(document.document.text))
        return Text(words, style=self._styles.get(entity.label, ""))

    def _section(self, title: str, rows: Iterable[tuple[float | None, Text]]) -> Iterator[Text]:
        from rich.text import Text

        for number, (score, row) in enumerate(rows):
            if number == 0:
                yield Text(f"  {title}", style="bold")
            shown = "" if score is None else f"{score:.2f}"
            first = shown.rjust(_INDENT + _SCORE_COLUMNS) + "  "
            yield from self._wrapped(row, first, " " * len(first))

    def _wrapped(self, text: Text, first: str, later: str | None = None) -> Iterator[Text]:
        from rich.text import Text

        width = max(_NARROWEST, self._console.width - len(first))
        start = first
        for line in text.wrap(self._console, width):
            line.rstrip()
            yield Text(start).append_text(line) if line else Text()
            start = first if later is None else later


def _console() -> Console:
    """A console that knows standard output but never writes there: Rich answers closed pipes its own way."""
    from rich.console import Console

    console = Console(
        file=sys.stdout, color_system="auto" if colours_wanted() else None, highlight=False
    )
    console.width, console.height = console.size
    return console


def _styles(schema: LabelSchema | None) -> dict[str, str]:
    if schema is None:
        return {}
    relations = {each.label: f"bold {each.colour}" for each in schema.relations}
    return relations | {each.label: f"bold {each.colour}" for each in schema.entities}
