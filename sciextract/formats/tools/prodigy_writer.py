"""Writer of Prodigy tasks, for ``db-in`` and for recipes such as ``rel.manual``, ``spans.manual`` and ``coref.manual``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from sciextract.documents.annotations import Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span
from sciextract.formats.json_lines import Record, dump_line
from sciextract.formats.sink import LineSink
from sciextract.formats.token_layers import token_layers
from sciextract.formats.tools.imported import bibliographic
from sciextract.formats.tools.span_layers import SpanLayers, span_layers

ANSWERS = ("accept", "reject", "ignore")
FIELD = "prodigy"
"""The field of a document that holds the answer of its task, and the lists of one that was passed by."""
TASK = ("tokens", "spans", "relations")


class ProdigyWriter:
    """Writes one task a line; counts in ``losses`` what spans and relations cannot hold.

    Prodigy itself adds the hashes. A document that nobody has decided on, or not in all, gets no ``answer``;
    a task that was rejected or ignored comes back as it was, unless somebody has worked on it since.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        self.losses: Counter[str] = Counter()
        self._sink = LineSink(destination)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one task.

        Raises:
            OutputError: An entity is not a range of the document's text.
        """
        layers = span_layers(document, repeated=False)
        self.losses.update(layers.losses)
        self._sink.write_line(dump_line(_task(document, layers)))

    def close(self) -> None:
        """Flush, and close the file that was opened here."""
        self._sink.close()


def _task(annotated: AnnotatedDocument, layers: SpanLayers) -> Record:
    document = annotated.document
    if annotated.done is not True and not layers.entities and (before := _passed(document)):
        return {"text": document.text, **before, "meta": _meta(document)}
    tokens = _token_spans(annotated, [entity.span for entity in layers.entities])
    starts = {span.char_start: index for index, span in enumerate(tokens)}
    ends = {span.char_end: index for index, span in enumerate(tokens)}
    spans = {each.id: _span(each, starts, ends) for each in layers.entities}
    task: Record = {
        "text": document.text,
        "tokens": list(_tokens(document.text, tokens)),
        "spans": list(spans.values()),
        "relations": [
            {
                "head": spans[head.id]["token_end"],
                "child": spans[tail.id]["token_end"],
                "head_span": spans[head.id],
                "child_span": spans[tail.id],
                "label": label,
            }
            for head, tail, label in layers.relations
        ],
        "meta": _meta(document),
    }
    answer = _answer(annotated)
    return task | {"answer": answer} if answer else task


def _given(document: Document) -> Mapping[str, Any]:
    """What the task that the document was read from held; nothing of other documents."""
    given = document.fields.get(FIELD)
    if isinstance(given, Mapping) and given.get("answer", "") in (None, *ANSWERS):
        return given
    return {}


def _passed(document: Document) -> Record:
    """The task's own tokens, spans, relations and answer if it was rejected or ignored."""
    given = _given(document)
    if given.get("answer") not in ("reject", "ignore"):
        return {}
    kept = {name: given[name] for name in TASK if isinstance(given.get(name), list)}
    return kept | {"answer": given["answer"]}


def _answer(annotated: AnnotatedDocument) -> str | None:
    """``accept`` if somebody has decided the whole document; only then may Prodigy take it for an answer."""
    found = annotated.annotations
    items: list[Entity | Relation | Cluster] = [*found.entities, *found.relations, *found.clusters]
    states = {item.state for item in items}
    if State.UNDECIDED in states or annotated.done is False:
        return None
    given = _given(annotated.document)
    as_read = states <= {State.IMPORTED} and (given or not states)
    if annotated.done or not as_read:
        return "accept"
    return "accept" if given.get("answer") == "accept" else None


def _span(entity: Entity, starts: dict[int, int], ends: dict[int, int]) -> Record:
    span = entity.span
    found: Record = {
        "start": span.char_start,
        "end": span.char_end,
        "token_start": starts[span.char_start],
        "token_end": ends[span.char_end],
    }
    if entity.label:
        found["label"] = entity.label
    return found if entity.score is None else found | {"score": entity.score}


def _tokens(text: str, tokens: list[Span]) -> Iterator[Record]:
    """Tokens as Prodigy has them: a single space belongs to the token before it (``ws``)."""
    nexts = [*(span.char_start for span in tokens[1:]), len(text)]
    for index, (span, following) in enumerate(zip(tokens, nexts, strict=True)):
        yield {
            "text": span.of(text),
            "start": span.char_start,
            "end": span.char_end,
            "id": index,
            "ws": following > span.char_end,
        }


def _token_spans(annotated: AnnotatedDocument, spans: list[Span]) -> list[Span]:
    """The document's tokens and, between them, white space tokens, cut so that each span is whole tokens."""
    text = annotated.document.text
    starts, ends = {span.char_start for span in spans}, {span.char_end for span in spans}
    found: list[Span] = []
    position = 0
    for token in (*token_layers(annotated).table.spans, Span(len(text), len(text))):
        start = position
        is_space = start > 0 and text[start : token.char_start].startswith(" ")
        if is_space and start not in starts and start + 1 not in ends:
            start += 1
        found += _pieces(Span(start, token.char_start), starts | ends)
        found.append(token)
        position = token.char_end
    return found[:-1]


def _pieces(gap: Span, edges: set[int]) -> list[Span]:
    cuts = sorted(edge for edge in edges if gap.char_start < edge < gap.char_end)
    bounds = pairwise([gap.char_start, *cuts, gap.char_end])
    return [Span(start, end) for start, end in bounds if start < end]


def _meta(document: Document) -> dict[str, Any]:
    """What Prodigy shows below the text: the key, bibliographic fields, and what it showed before."""
    given = document.fields.get("meta")
    before = given if isinstance(given, dict) else {}
    return {**before, **bibliographic(document.fields), "doc_key": document.doc_key}
