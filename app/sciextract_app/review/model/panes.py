"""The panes of the desk as values: the passage with its marks, and the inspector."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from sciextract.documents.annotations import Span
from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.schema import LINK
from sciextract.errors import ProjectError
from sciextract.store import (
    AttributeRow,
    EntityRow,
    ItemRef,
    LinkRef,
    LinkRow,
    RelationRef,
    RelationRow,
    review,
)
from sciextract.store.events import SUGGEST_ALIKE, local_time, read_event
from sciextract.vocabulary.links import linked_name
from sciextract_app.review.model.modes import Selecting
from sciextract_app.review.model.state import ReviewState
from sciextract_app.review.model.targets import selected, selection, sure_items, sure_score
from sciextract_app.shared import document_view
from sciextract_app.shared.document_view import DocumentView, Item, title_end_of
from sciextract_app.shared.marks import MarkCache
from sciextract_app.shared.view_models import (
    EMPTY,
    ILLEGAL,
    SIGNS,
    ClusterLine,
    Inspector,
    Passage,
    RelationLine,
    Role,
    named,
)


def passage(state: ReviewState, searched: str) -> Passage:
    """The open abstract as it is drawn."""
    if state.view is None:
        return EMPTY
    view, hints, focus = state.view, state.doing.hints, state.focus
    chooses = selection(state)
    candidate = chooses.candidate if isinstance(chooses, Selecting) else None
    # Of a relation the end that c, z and + speak of.
    focused = view.anchor(focus) if focus else None
    chosen = None if candidate else selected(state)
    return Passage(
        text=view.text,
        title_end=title_end_of(view.document.stored.document),
        marks=state.marks.of(view, state.letters, focused, _partners(view, focus)),
        hits=hits(view.text, searched),
        cursor=_edges(view.token_span(state.cursor)),
        selection=_edges(chosen) if chosen else None,
        hints=hints.remaining() if hints else {},
        candidate=_edges(candidate) if candidate else None,
        sure=sure_score(state, "entity"),
        other_edges=state.other_edges,
    )


def coming_passage(state: ReviewState) -> Passage | None:
    """The next abstract of the way as it will be laid out, ``None`` where there is none."""
    number = state.documents.neighbour(state.number, 1)
    view = state.peek(number) if number else None
    if number is None or view is None:
        return None
    marks = MarkCache().of(view, state.letters_of(number), None, {})
    return replace(EMPTY, text=view.text, marks=marks)


# Every key draws the passage, and the words stay the same for many keys.
@lru_cache(maxsize=16)
def hits(text: str, words: str) -> tuple[tuple[int, int], ...]:
    """Where words that were searched for stand in a text: phrases in quotation marks, ``*`` behind a beginning.

    >>> hits("Parsers parse; a parser is parsed", 'parser "is parsed" pars*')
    ((0, 7), (8, 13), (17, 23), (24, 33))
    """
    patterns = []
    for phrase, word in re.findall(r'"([^"]*)"|([^\s"]+)', words):
        parts = re.findall(r"\w+", phrase or word)
        if parts:
            end = r"\w*" if word.endswith("*") else r"\b"
            patterns.append(r"\b" + r"\W+".join(map(re.escape, parts)) + end)
    # Of alternatives a regular expression takes the first that fits, not the longest.
    patterns.sort(key=len, reverse=True)
    found = re.finditer("|".join(patterns), text, re.IGNORECASE) if patterns else ()
    return tuple(hit.span() for hit in found)


def bibliography(state: ReviewState) -> str:
    """What identifies the open abstract: authors, year, venue, DOI or PMID, as far as they are known, and its key."""
    if state.view is None:
        return ""
    document = state.view.document.stored.document
    known = bibliography_of(document.fields)
    more = " et al." if len(known.authors) > 1 else ""
    authors = known.authors[0].partition(",")[0] + more if known.authors else ""
    identifier = f"doi:{known.doi}" if known.doi else f"pmid:{known.pmid}" if known.pmid else ""
    year = str(known.year) if known.year else ""
    said = [" ".join(filter(None, line)) for line in attribute_lines(state.view, "")]
    return " · ".join(
        filter(None, (*said, authors, year, known.venue, identifier, document.doc_key))
    )


def _edges(span: Span) -> tuple[int, int]:
    return span.char_start, span.char_end


def _partners(view: DocumentView, focus: ItemRef | None) -> dict[str, Role]:
    """Mentions that belong to the focus: ends of a relation, mates in a cluster, or both of a mention."""
    if isinstance(focus, RelationRef):
        row = view.relation_by_id.get(focus.id)
        if row is None:
            return {}
        if row.label in view.schema.symmetric_labels:
            return dict.fromkeys((row.head, row.tail), Role.END)
        return {row.head: Role.HEAD, row.tail: Role.TAIL}
    if isinstance(focus, LinkRef):
        links = view.members.get(focus.cluster_id, ())
        return {link.entity_id: Role.LINKED for link in links}
    mention = view.mention_of(focus)
    if mention is None:
        return {}
    related = view.relations_of.get(mention, [])
    found = {end for row in related for end in (row.head, row.tail)}
    for home in view.homes.get(mention, ()):
        found |= {link.entity_id for link in view.members[home.cluster_id]}
    return dict.fromkeys(found - {mention}, Role.NONE)


def relation_lines(state: ReviewState, *, everything: bool) -> tuple[RelationLine, ...]:
    """The relations of the focused mention, or of the whole abstract, in text order."""
    view = state.view
    if view is None:
        return ()
    mention = None if everything else view.mention_of(state.focus)
    rows = view.relations if mention is None else view.relations_of.get(mention, [])
    ordered = sorted(rows, key=lambda row: (view.place(row.head), view.place(row.tail), row.id))
    sure = {relation.id for relation in sure_items(state)[1]}
    return tuple(
        RelationLine(
            item_id=row.id,
            head=view.surface(row.head),
            tail=view.surface(row.tail),
            label=row.label,
            symmetric=row.label in view.schema.symmetric_labels,
            state=row.state,
            score=row.score,
            focused=state.focus == RelationRef(row.id),
            illegal=document_view.is_illegal(view, row),
            sure=row.id in sure,
        )
        for row in ordered
    )


def cluster_lines(state: ReviewState) -> tuple[ClusterLine, ...]:
    """All clusters of the abstract."""
    view, focus, lines = state.view, state.focus, list[ClusterLine]()
    if view is None:
        return ()
    for cluster_id, links in view.members.items():
        items = [LinkRef(cluster_id, link.entity_id) for link in links]
        lines.append(
            ClusterLine(
                cluster_id=cluster_id,
                letter=state.letters.of(cluster_id),
                mentions=view.cluster_surfaces[cluster_id],
                states=tuple([link.state for link in links]),
                focused=items.index(focus) if focus in items else None,
            )
        )
    return tuple(lines)


Lines = Iterator[tuple[str, str]]
_MOST_LABELS = 3


def inspector(state: ReviewState) -> Inspector:
    """The focused item; without one the token under the cursor."""
    view = state.view
    if view is None:
        return Inspector("", ())
    row = view.row(state.focus)
    if isinstance(state.doing, Selecting) and (chosen := selected(state)):
        return Inspector(f"selected: {named(chosen.of(view.text))}", ())
    if row is None:
        token = view.token_span(state.cursor).of(view.text)
        note = "no mention here; a type key adds one" if token else "this abstract has no text"
        if not view.schema.entities:
            note = "no types yet: 1 asks for the name of the first, g lists them"
        return Inspector(named(token) if token else "", (("", note), *_note(view)))
    if isinstance(row, EntityRow):
        title = f"{named(row.surface(view.text))} · {row.label or 'no type'}"
    elif isinstance(row, RelationRow):
        title = document_view.relation_words(view, row.head, row.label, row.tail, 40)
    elif isinstance(row, AttributeRow):
        title = document_view.attribute_words(view, row.target, row.label, row.value)
    else:
        letter = state.letters.of(row.cluster_id)
        title = f"{named(view.surface(row.entity_id))} in cluster {letter}"
    return Inspector(title, tuple(_lines(state, view, row)))


def _lines(state: ReviewState, view: DocumentView, row: Item) -> Lines:
    if isinstance(row, RelationRow) and document_view.is_illegal(view, row):
        head, tail = view.by_id[row.head].label, view.by_id[row.tail].label
        yield ILLEGAL, f"the schema allows no {row.label} from {head} to {tail}"
    sure = "" if row.score is None else f"{row.score:.2f}, "
    yield "score" if sure else "state", f"{sure}{row.state}"
    mention = row.entity_id if isinstance(row, LinkRow) else row.id
    for home in view.homes.get(mention, ()):
        partners = [link for link in view.members[home.cluster_id] if link.entity_id != mention]
        names = ", ".join(named(view.surface(link.entity_id), 24) for link in partners)
        yield "same as", f"{state.letters.of(home.cluster_id)}: {names}"
    yield "from", _source(view.sources.get(row.source_id, "?"))
    if not isinstance(row, LinkRow | AttributeRow):
        yield from attribute_lines(view, row.id)
    if not isinstance(row, LinkRow):
        others = [choice for choice in row.alternatives if choice.label != row.label][:_MOST_LABELS]
        if others:
            yield "next", "  ".join(f"{choice.label} {choice.score:.2f}" for choice in others)
    if isinstance(row, EntityRow):
        yield from _label_history(state, view, row)
    if isinstance(row, AttributeRow):
        kinds = {kind.label: kind.definition for kind in view.schema.attributes}
        yield "means", kinds.get(row.label) or "the schema has no such attribute (any more)"
    elif not isinstance(row, LinkRow):
        find = (
            document_view.entity_type if isinstance(row, EntityRow) else document_view.relation_type
        )
        known = find(view.schema, row.label)
        gone = f"the schema has no type {row.label!r} (any more): give it another one"
        definition = known.definition if known else gone if row.label else ""
        if definition:
            yield "means", definition
    yield from _note(view)
    yield from _history(state, view, row)


def attribute_lines(view: DocumentView, target: str) -> Lines:
    """What is said of an item or the abstract, each with the sign of its state."""
    for row in view.attributes_of(target):
        name = linked_name(row.value, view.schema) if row.label == LINK else ""
        yield row.label, " ".join(filter(None, (row.value, name, SIGNS[row.state])))


def _label_history(state: ReviewState, view: DocumentView, row: EntityRow) -> Lines:
    """How the same string was labelled elsewhere."""
    try:
        found = review.label_history(
            state.project.connection, row.surface(view.text), state.number, row.id
        )
    except ProjectError:
        return
    # The count ends early for a string that stands everywhere: the pane is drawn at every key.
    more = "" if found.is_complete else f", of the first {review.MOST_COUNTED:,}"
    counts = ", ".join(f"{label} {count} {SIGNS[how]}" for label, how, count in found.counts)
    yield "others", (counts or "not labelled anywhere else") + more
    for latest in found.latest:
        here = "here" if latest.number == state.number else named(latest.title, 48)
        yield "", f"{latest.label} {SIGNS[latest.state]} {here}"


def _history(state: ReviewState, view: DocumentView, row: Item) -> Lines:
    try:
        event = read_event(state.project.connection, row.event_id)
    except ProjectError:
        event = None  # the file cannot be read: the next key says why
    if event is not None:
        by_itself = event.kind in ("predict", SUGGEST_ALIKE)
        author = "" if by_itself else f" by {_source(event.author)}"
        yield "last", f"{event.kind}{author}, {local_time(event.at)[:16].replace('T', ' ')}"
    if row.was:
        yield "was", _was(view, json.loads(row.was))


def _source(name: str) -> str:
    """A source as people read it: of a run of a model the last letters are enough.

    >>> _source("model:sci@e2741165/01M81ZA7CQN67FTEB75S4HD3NY")
    'sci@e2741165, run 4HD3NY'
    """
    model, _, run = name.removeprefix("model:").rpartition("/")
    return (
        f"{model}, run {run[-6:]}"
        if name.startswith("model:") and model
        else name.removeprefix("import:")
    )


def _was(view: DocumentView, was: dict[str, object]) -> str:
    """An item before its first edit."""
    match was:
        case {"label": str(label), "fragments": list(fragments)}:
            words = " ".join(view.text[start:end] for start, end in fragments)
            return f"{named(words)} · {label}"
        case {"value": str(value)}:
            return value
        case {"label": str(label), "head": str(head), "tail": str(tail)}:
            return document_view.relation_words(view, head, label, tail, 40)
    return "in another cluster"


def _note(view: DocumentView) -> tuple[tuple[str, str], ...]:
    return (("note", view.progress.note),) if view.progress.note else ()
