"""The legend: which key means which label for the focus, or in the present mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sciextract.documents.schema import EntityType, RelationType
from sciextract.store import RelationRow
from sciextract_app.presenters import document_view
from sciextract_app.presenters.linking import best_type, legal_types
from sciextract_app.presenters.selecting import selected
from sciextract_app.presenters.state import ReviewState
from sciextract_app.presenters.view_models import Hint, Mode, named

DIGITS = 9
_SHOWN_MENTIONS, _SHOWN_CLUSTERS = 2, 12  # more than a line has room for


def legend(state: ReviewState) -> tuple[Hint, ...]:
    """The labels of the focus with the keys that set them; in modes of letters what the letters mean."""
    if state.view is None:
        return ()
    schema, row = state.view.schema, state.view.row(state.focus)
    match state.mode:
        case Mode.RELATE_TYPE:
            allowed = legal_types(state)
            return tuple(_types(schema.relations, best_type(state), allowed, letters=True))
        case Mode.CLUSTER | Mode.MERGE if state.pending.hints is None:
            return tuple(_clusters(state))
        case Mode.TYPE if selected(state) or not isinstance(row, RelationRow):
            return tuple(_letters(schema.entities))
        case Mode.TYPE:
            return tuple(_letters(schema.relations))
        case Mode.REVIEW if isinstance(row, RelationRow):
            by_id = state.view.by_id
            allowed = document_view.legal(schema, by_id[row.head], by_id[row.tail])
            return tuple(_types(schema.relations, row.label, allowed))
        case Mode.REVIEW:
            mention = state.view.by_id.get(state.view.mention_of(state.focus) or "")
            return tuple(_types(schema.entities, mention.label if mention else None))
        case Mode.SELECT:
            return tuple(_types(schema.entities, None))
    return ()  # digits mean no label


def _types(
    types: Sequence[EntityType | RelationType],
    current: str | None,
    allowed: Sequence[str] | None = None,
    *,
    letters: bool = False,
) -> Iterator[Hint]:
    """Types with their digits, and with ``;`` and their letters where digits have run out."""
    for place, each in enumerate(types, start=1):
        key = str(place) if place <= DIGITS else ("" if letters else ";") + each.key
        yield Hint(
            f"{key} {each.key}" if letters and place <= DIGITS else key,
            each.label,
            live=allowed is None or each.label in allowed,
            label=each.label,
            current=each.label == current,
        )


def _letters(types: Sequence[EntityType | RelationType]) -> Iterator[Hint]:
    for each in types:
        yield Hint(each.key, each.label, label=each.label)


def _clusters(state: ReviewState) -> Iterator[Hint]:
    """The letters of the first clusters, each with its first mentions."""
    view = state.open_view
    for cluster_id, links in islice(view.members.items(), _SHOWN_CLUSTERS):
        names = [view.surface(link.entity_id) for link in links]
        more = f" +{len(names) - _SHOWN_MENTIONS}" if len(names) > _SHOWN_MENTIONS else ""
        words = ", ".join(named(name, 16) for name in names[:_SHOWN_MENTIONS]) + more
        yield Hint(state.letters.of(cluster_id), words)
