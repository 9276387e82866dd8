"""The passage of one side: its mentions, with cluster letters that both sides share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping

from sciextract.documents.annotations import Cluster, Entity, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span
from sciextract_app.presenter import labels
from sciextract_app.presenter.letters import ALL, NO_LETTER
from sciextract_app.presenter.passage import title_end_of
from sciextract_app.presenter.shown import Mark, Passage

Letters = Mapping[str, str]
"""The letter of each cluster."""
Place = tuple[Span, ...]


def passage_of(
    side: AnnotatedDocument,
    schema: LabelSchema,
    letters: Letters,
    *,
    focused: Collection[Place] = (),
    partners: Collection[Place] = (),
    at: Span | None = None,
    states: Mapping[str, State] | None = None,
) -> Passage:
    """The text as one side has it.

    Args:
        side: The document with this side's items.
        schema: The label schema that holds now.
        letters: Of its clusters.
        focused: Fragments of the mentions that keys speak of.
        partners: Fragments of further mentions to be marked.
        at: What is brought into sight where no mention is in focus.
        states: What to show as decided about each entity instead of its own state.
    """
    homes: defaultdict[str, str] = defaultdict(str)
    for cluster in side.annotations.clusters:
        for mention in cluster.mentions:
            homes[mention] += letters.get(cluster.id, NO_LETTER)
    marks = [
        mark
        for entity in sorted(side.annotations.entities, key=_in_text_order)
        for mark in _marks(entity, schema, homes[entity.id], focused, partners, states or {})
    ]
    edges = (at.char_start, at.char_end) if at else (0, 0)
    text = side.document.text
    return Passage(text, title_end_of(side.document), tuple(marks), edges)


def _marks(
    entity: Entity,
    schema: LabelSchema,
    cluster: str,
    focused: Collection[Place],
    partners: Collection[Place],
    states: Mapping[str, State],
) -> Iterator[Mark]:
    for fragment in entity.fragments:
        yield Mark(
            char_start=fragment.char_start,
            char_end=fragment.char_end,
            item_id=entity.id,
            key=labels.letter(schema, entity.label),
            label=entity.label,
            state=states.get(entity.id, entity.state),
            score=entity.score,
            cluster=cluster,
            focused=entity.fragments in focused,
            partner=entity.fragments in partners,
            last=fragment is entity.fragments[-1],
        )


def letters_of(mine: AnnotatedDocument, theirs: AnnotatedDocument) -> tuple[Letters, Letters]:
    """Letters of both sides' clusters; a cluster of the other side has the one with which it shares most."""
    own = dict(zip([each.id for each in mine.annotations.clusters], ALL, strict=False))
    homes: defaultdict[Place, list[str]] = defaultdict(list)
    for cluster in mine.annotations.clusters:
        for place in _places(cluster, mine):
            homes[place].append(own.get(cluster.id, NO_LETTER))
    free = iter(ALL[len(own) :])
    other: dict[str, str] = {}
    for cluster in theirs.annotations.clusters:
        shared = Counter(each for place in _places(cluster, theirs) for each in homes[place])
        fitting = [each for each, _ in shared.most_common() if each not in other.values()]
        other[cluster.id] = fitting[0] if fitting else next(free, NO_LETTER)
    return own, other


def _places(cluster: Cluster, side: AnnotatedDocument) -> list[Place]:
    return [side.annotations.entity(each).fragments for each in cluster.mentions]


def _in_text_order(entity: Entity) -> tuple[int, int, str]:
    return entity.span.char_start, -entity.span.char_end, entity.id
