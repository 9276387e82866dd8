"""What adjudication shows: both sides of the present difference, and all of the abstract."""

from __future__ import annotations

from collections.abc import Iterator

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span
from sciextract.metrics.differences import Layer
from sciextract.metrics.sides import Said
from sciextract.store.state.draft import Draft
from sciextract.workflows.adjudicate import Verdict
from sciextract_app.presenter.adjudicating.abstract import Abstract, Waiting
from sciextract_app.presenter.passage import EMPTY
from sciextract_app.presenter.two_sides import wording
from sciextract_app.presenter.two_sides.marks import Letters, letters_of, passage_of
from sciextract_app.presenter.two_sides.shown import DifferenceLine, SideView
from sciextract_app.presenter.words import counted

HERE = "here: what holds in this project"


def sides_of(
    abstract: Abstract | None, now: Waiting | None, on: Verdict, schema: LabelSchema
) -> tuple[SideView, SideView]:
    """What holds here, and what the other side has.

    Args:
        abstract: The open abstract, ``None`` for none.
        now: The present difference, ``None`` when nothing waits.
        on: The side that keys speak of.
        schema: The label schema that holds now.
    """
    both = now.both if now else next(iter(abstract.compared if abstract else ()), None)
    if abstract is None or both is None:
        return SideView(HERE, EMPTY), SideView("", EMPTY)
    letters = letters_of(both.mine, both.theirs)
    names = (HERE, wording.source_words(both.source))
    if now is None:
        mine = passage_of(both.mine, schema, letters[0])
        theirs = passage_of(both.theirs, schema, letters[1])
        return SideView(names[0], mine), SideView(names[1], theirs)
    drawn = _Drawn(abstract.draft, now, schema, letters)
    mine_shown = drawn.side(names[0], "mine", on == "mine")
    return mine_shown, drawn.side(names[1], "theirs", on == "theirs")


def lines_of(
    abstract: Abstract | None, now: Waiting | None, schema: LabelSchema
) -> tuple[DifferenceLine, ...]:
    """All differences of the abstract."""
    if abstract is None:
        return ()
    return tuple(_line(each, each is now, schema) for each in abstract.waiting)


def _line(waiting: Waiting, focused: bool, schema: LabelSchema) -> DifferenceLine:
    one, both = waiting.dispute.difference, waiting.both
    kind = f"{wording.layer_word(one)}: {wording.kind_words(one, both.mine, both.theirs)}"
    said = [
        wording.said_words(each, one.layer, both.mine.document.text, schema.symmetric_labels)
        for each in (one.first, one.second)
    ]
    return DifferenceLine(kind, said[0], said[1], focused)


class _Drawn:
    """The present difference, drawn on either side."""

    def __init__(
        self, draft: Draft, now: Waiting, schema: LabelSchema, letters: tuple[Letters, Letters]
    ) -> None:
        self._draft = draft
        self._now = now
        self._schema = schema
        self._letters = dict(zip(("mine", "theirs"), letters, strict=True))

    def side(self, name: str, whose: Verdict, focused: bool) -> SideView:
        """One side: its own mentions of the difference are marked, else those of the other side."""
        one, both = self._now.dispute.difference, self._now.both
        document = both.mine if whose == "mine" else both.theirs
        said, other = (one.first, one.second) if whose == "mine" else (one.second, one.first)
        places = said.fragments if said else ()
        elsewhere = other.fragments if other and not said else ()
        passage = passage_of(
            *(document, self._schema, self._letters[whose]),
            focused=places if focused else (),
            partners=elsewhere if focused else (*places, *elsewhere),
            at=_first(places or elsewhere),
        )
        return SideView(name, passage, tuple(self._said(whose, said, other, document)), focused)

    def _said(
        self, whose: Verdict, said: Said | None, other: Said | None, document: AnnotatedDocument
    ) -> Iterator[str]:
        one, text = self._now.dispute.difference, document.document.text
        words = wording.said_words(said, one.layer, text, self._schema.symmetric_labels)
        if said is None and other is not None and whose == "mine":
            words += self._why_nothing(other, one.layer)
        yield words
        known = said or other
        if known is not None:
            yield self._around(known, one.layer, whose, document)

    def _why_nothing(self, other: Said, layer: Layer) -> str:
        """Whether a person rejected here what the other side has, or nobody decided it."""
        if layer is not Layer.ENTITY:
            return ""
        rows = self._draft.on_fragments(other.fragments[0])
        states = [row.state for row in rows if row.label == other.label]
        if State.UNDECIDED in states:
            return ": nobody has decided it here"
        return ": rejected here" if State.REJECTED in states else ""

    def _around(
        self, known: Said, layer: Layer, whose: Verdict, document: AnnotatedDocument
    ) -> str:
        """What hangs on a mention; the cluster of a link."""
        cluster = wording.company(known, document)
        letters = self._letters[whose]
        found = (
            f"{wording.cluster_words(cluster, letters[cluster.id], document)}" if cluster else ""
        )
        if layer is Layer.LINK:
            return found or "in no cluster"
        if layer is Layer.RELATION:
            return ""
        here = {e.id for e in document.annotations.entities if e.fragments == known.fragments[0]}
        relations = [r for r in document.annotations.relations if here & {r.head, r.tail}]
        along = f"with {counted(len(relations), 'relation')}" if relations else ""
        return "; ".join(filter(None, (along, found)))


def _first(places: tuple[tuple[Span, ...], ...]) -> Span | None:
    """The first of the mentions in the text."""
    return min((place[0] for place in places), default=None)
