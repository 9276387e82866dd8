"""The panes of the desk as values: the passage with its marks, and the inspector."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import Document
from sciextract.documents.spans import Span
from sciextract.errors import ProjectError
from sciextract.store.actions.api import ItemRef, LinkRef, RelationRef
from sciextract.store.events import Event, read_event
from sciextract.store.rows import EntityRow, LinkRow, RelationRow
from sciextract.store.sqlite import translated
from sciextract_app.presenters import document_view
from sciextract_app.presenters.document_view import Item, Letters, Scene
from sciextract_app.presenters.selecting import selected
from sciextract_app.presenters.state import Situation
from sciextract_app.presenters.view_models import (
    ClusterLine,
    Inspector,
    Mark,
    Passage,
    RelationLine,
    named,
)

EMPTY = Passage("", 0, (), (0, 0))


def passage(desk: Situation) -> Passage:
    """The open abstract as it is drawn."""
    if desk.scene is None:
        return EMPTY
    scene, hints = desk.scene, desk.pending.hints
    candidate = desk.pending.span
    chosen = None if candidate else selected(desk)
    return Passage(
        text=scene.text,
        title_end=title_end(scene),
        marks=_marks(desk, scene),
        cursor=_edges(scene.token_span(desk.cursor)),
        selection=_edges(chosen) if chosen else None,
        hints=hints.shown() if hints else {},
        candidate=_edges(candidate) if candidate else None,
    )


def title_end(scene: Scene) -> int:
    """Where the title ends, if the text begins with it."""
    return title_end_of(scene.draft.stored.document)


def title_end_of(document: Document) -> int:
    """Where a document's title ends, if its text begins with it."""
    title = bibliography_of(document.fields).title
    return len(title) if title and document.text.startswith(title) else 0


def _edges(span: Span) -> tuple[int, int]:
    return span.char_start, span.char_end


def _marks(desk: Situation, scene: Scene) -> tuple[Mark, ...]:
    focused = None if isinstance(desk.focus, RelationRef) else scene.mention_of(desk.focus)
    return desk.marks.of(scene, desk.letters, focused, _partners(scene, desk.focus))


def _partners(scene: Scene, focus: ItemRef | None) -> set[str]:
    """Mentions that a relation or a cluster joins to the focus."""
    if isinstance(focus, RelationRef):
        row = scene.relation_by_id.get(focus.id)
        return {row.head, row.tail} if row else set()
    mention = scene.mention_of(focus)
    if mention is None:
        return set()
    related = scene.relations_of.get(mention, [])
    found = {end for row in related for end in (row.head, row.tail)}
    for home in scene.homes.get(mention, ()):
        found |= {link.entity_id for link in scene.members[home.cluster_id]}
    return found - {mention}


def relation_lines(desk: Situation, *, everything: bool) -> tuple[RelationLine, ...]:
    """The relations of the focused mention, or of the whole abstract, in text order."""
    scene = desk.scene
    if scene is None:
        return ()
    mention = None if everything else scene.mention_of(desk.focus)
    rows = scene.relations if mention is None else scene.relations_of.get(mention, [])
    ordered = sorted(rows, key=lambda row: (scene.place(row.head), scene.place(row.tail), row.id))
    return tuple(_relation_line(desk, scene, row) for row in ordered)


def _relation_line(desk: Situation, scene: Scene, row: RelationRow) -> RelationLine:
    return RelationLine(
        *(row.id, scene.surface(row.head), scene.surface(row.tail), row.label),
        *(row.label in scene.schema.symmetric_labels, row.state, row.score),
        desk.focus == RelationRef(row.id),
    )


def cluster_lines(desk: Situation) -> tuple[ClusterLine, ...]:
    """All clusters of the abstract."""
    scene = desk.scene
    if scene is None:
        return ()
    return tuple(_cluster_line(scene, desk.letters, each, desk.focus) for each in scene.members)


def _cluster_line(
    scene: Scene, letters: Letters, cluster_id: str, focus: ItemRef | None
) -> ClusterLine:
    links = scene.members[cluster_id]
    here = isinstance(focus, LinkRef) and focus.cluster_id == cluster_id
    ids = [link.entity_id for link in links]
    wanted = focus.entity_id if isinstance(focus, LinkRef) else ""
    return ClusterLine(
        *(cluster_id, letters.of(cluster_id), tuple(scene.surface(each) for each in ids)),
        tuple(link.state for link in links),
        ids.index(wanted) if here and wanted in ids else None,
    )


Lines = Iterator[tuple[str, str]]
_MOST_LABELS = 3


def inspector(desk: Situation) -> Inspector:
    """The focused item; without one the token under the cursor."""
    scene = desk.scene
    if scene is None:
        return Inspector("", ())
    row = scene.row(desk.focus)
    if row is None:
        token = scene.token_span(desk.cursor).of(scene.text)
        said = "no mention here: a type makes one" if token else "this abstract has no text"
        return Inspector(named(token) if token else "", (("", said), *_note(scene)))
    return Inspector(_title(desk, scene, row), tuple(_lines(desk, scene, row)))


def _title(desk: Situation, scene: Scene, row: Item) -> str:
    if isinstance(row, EntityRow):
        return f"{named(row.surface(scene.text))} · {row.label or 'no type'}"
    if isinstance(row, RelationRow):
        return f"{named(scene.surface(row.head))} {row.label} ─▶ {named(scene.surface(row.tail))}"
    letter = desk.letters.of(row.cluster_id)
    return f"{named(scene.surface(row.entity_id))} in cluster {letter}"


def _lines(desk: Situation, scene: Scene, row: Item) -> Lines:
    if row.score is not None:
        yield "score", f"{row.score:.2f}"
    if not isinstance(row, LinkRow):
        others = [each for each in row.alternatives if each.label != row.label][:_MOST_LABELS]
        if others:
            yield "next", "  ".join(f"{each.label} {each.score:.2f}" for each in others)
    yield "state", str(row.state)
    yield from _cluster(desk, scene, row)
    yield from _history(desk, scene, row)
    yield from _definition(scene, row)
    yield from _note(scene)


def _cluster(desk: Situation, scene: Scene, row: Item) -> Lines:
    """What a mention means the same as."""
    mention = row.entity_id if isinstance(row, LinkRow) else row.id
    for home in scene.homes.get(mention, ()):
        others = [link for link in scene.members[home.cluster_id] if link.entity_id != mention]
        names = ", ".join(named(scene.surface(link.entity_id), 24) for link in others)
        yield "same as", f"{desk.letters.of(home.cluster_id)}: {names}"


def _history(desk: Situation, scene: Scene, row: Item) -> Lines:
    yield "from", scene.sources.get(row.source_id, "?")
    event = _event(desk, row.event_id)
    if event is not None:
        yield "last", f"{event.kind} by {event.author}, {event.at[:16].replace('T', ' ')}"
    if row.was:
        yield "was", _was(scene, json.loads(row.was))


def _event(desk: Situation, event_id: int) -> Event | None:
    """The event, ``None`` while the file cannot be read: the next key says why."""
    try:
        with translated(desk.project.path):
            return read_event(desk.project.connection, event_id)
    except ProjectError:
        return None


def _was(scene: Scene, was: dict[str, object]) -> str:
    """An item before its first edit."""
    match was:
        case {"label": str(label), "fragments": list(fragments)}:
            words = " ".join(scene.text[start:end] for start, end in fragments)
            return f"{named(words)} · {label}"
        case {"label": str(label), "head": str(head), "tail": str(tail)}:
            ends = [named(scene.surface(each)) for each in (head, tail)]
            return f"{ends[0]} {label} ─▶ {ends[1]}"
    return "in another cluster"


def _definition(scene: Scene, row: Item) -> Lines:
    if isinstance(row, EntityRow):
        found = document_view.entity_type(scene.schema, row.label)
        definition = found.definition if found else _unknown(row.label)
    elif isinstance(row, RelationRow):
        known = document_view.relation_type(scene.schema, row.label)
        definition = known.definition if known else _unknown(row.label)
    else:
        return
    if definition:
        yield "means", definition


def _unknown(label: str) -> str:
    return f"the schema has no type {label!r} (any more): give it another one" if label else ""


def _note(scene: Scene) -> tuple[tuple[str, str], ...]:
    return (("note", scene.progress.note),) if scene.progress.note else ()
