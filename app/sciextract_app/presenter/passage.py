"""The text with everything that is drawn into it."""

from __future__ import annotations

from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import Document
from sciextract.documents.spans import Span
from sciextract.store.actions.api import ItemRef, LinkRef, RelationRef
from sciextract.store.state.rows import RelationRow
from sciextract_app.presenter.letters import Letters
from sciextract_app.presenter.scene import Scene
from sciextract_app.presenter.selecting import selected
from sciextract_app.presenter.shown import ClusterLine, Mark, Passage, RelationLine
from sciextract_app.presenter.situation import Situation

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
