"""Results in notebooks: HTML and pandas frames.

>>> from sciextract.documents.document import AnnotatedDocument
>>> from sciextract.text.analyse import make_document
>>> to_html(AnnotatedDocument(make_document("a<b", "No mention.")))
'<div><b>a&lt;b</b><p style="white-space: pre-wrap">No mention.</p></div>'
"""

from __future__ import annotations

import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import MissingExtraError
from sciextract.formats.table_rows import rows_of, written_items
from sciextract.text.characters import bracketed, visible

if TYPE_CHECKING:
    import pandas

_ITEM = ("doc_key", "id", "label")
_MENTION = (*_ITEM, "char_start", "char_end", "fragments", "mention_text")
_MADE = ("score", "state", "source")
_COLUMNS = {
    "entity": (*_MENTION, *_MADE),
    "relation": (
        *_ITEM,
        *(f"{end}_{what}" for end in ("head", "tail") for what in ("id", "label", "text")),
        *_MADE,
    ),
    "mention": ("doc_key", "cluster_id", *_MENTION[1:], *_MADE),
}


class Frames(NamedTuple):
    """Results as pandas frames, with a row an item; the columns are those of the CSV export.

    Attributes:
        entities: The entities.
        relations: The relations, with id, label and text of head and tail.
        mentions: The mentions of clusters; those of one cluster share ``cluster_id``.
    """

    entities: pandas.DataFrame
    relations: pandas.DataFrame
    mentions: pandas.DataFrame


def to_frames(results: AnnotatedDocument | Iterable[AnnotatedDocument]) -> Frames:
    """Entities, relations and cluster mentions of results as pandas frames; rejected items are left out.

    Args:
        results: One result or many.

    Raises:
        MissingExtraError: pandas is not installed.
        OutputError: An entity lies outside the text.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise MissingExtraError("results as data frames", "pandas") from error
    losses = Counter[str]()
    rows: dict[str, list[dict[str, str]]] = {kind: [] for kind in _COLUMNS}
    for result in [results] if isinstance(results, AnnotatedDocument) else results:
        for row in rows_of(result, losses):
            rows.get(row["kind"], []).append(row)
            losses += Counter(attribute=row["kind"] not in rows)
    for problem, count in losses.items():
        warnings.warn(f"left out: {problem} ({count})", stacklevel=2)
    frames = []
    for kind, columns in _COLUMNS.items():
        frame = pandas.DataFrame(rows[kind], columns=list(columns))
        numbers = {"score": "float64", "char_start": "int64", "char_end": "int64"}
        for column in numbers.keys() & set(columns):
            frame[column] = pandas.to_numeric(frame[column]).astype(numbers[column])
        frames.append(frame)
    return Frames(*frames)


def to_html(result: AnnotatedDocument) -> str:
    """A result as HTML: the text with its mentions, then relations and clusters; rejected items are left out.

    Everything is escape_cell, and control characters become visible symbols.
    """
    document = result.document
    entities, relations, clusters = written_items(result, Counter())
    text = visible(document.text, keep="\n")
    pieces = [
        _colour("".join(piece for piece, _ in group), label)
        for label, group in groupby(bracketed(text, entities.values()), itemgetter(1))
    ]

    def mention(entity_id: str) -> str:
        entity = entities[entity_id]
        return _colour(visible(entity.text_of(document.text)), entity.label)

    links = (
        f"{mention(relation.head)} <small>{escape(visible(relation.label))}</small> {mention(relation.tail)}{_score(relation.score)}"
        for relation in relations
    )
    groups = (
        " = ".join(mention(entity_id) for entity_id in cluster.mentions if entity_id in entities)
        + _score(cluster.score)
        for cluster in clusters
    )
    return "".join(
        [
            f"<div><b>{escape(visible(document.doc_key))}</b>",
            f'<p style="white-space: pre-wrap">{"".join(pieces)}</p>',
            *_list_lines("Relations", links),
            *_list_lines("Coreference", groups),
            "</div>",
        ]
    )


def _colour(piece: str, label: str) -> str:
    """A piece of text on the colour of a label, which depends on its name only; transparent for dark themes."""
    if not label or not piece:
        return escape(piece)
    hue = zlib.crc32(label.encode("utf-8", "surrogatepass")) % 360
    return f'<span style="background: hsl({hue} 80% 50% / 0.3)">{escape(piece)}</span>'


def _score(score: float | None) -> str:
    return "" if score is None else f" <small>{score:.2f}</small>"


def _list_lines(title: str, lines: Iterable[str]) -> Iterator[str]:
    items = "".join(f"<li>{line}</li>" for line in lines)
    if items:
        yield f"<b>{title}</b><ul>{items}</ul>"
