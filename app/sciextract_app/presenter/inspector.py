"""Everything about the focused item, in lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sciextract.errors import ProjectError
from sciextract.store.file.failures import translated
from sciextract.store.log.events import Event, read_event
from sciextract.store.state.rows import EntityRow, LinkRow, RelationRow
from sciextract_app.presenter import labels
from sciextract_app.presenter.scene import Item, Scene
from sciextract_app.presenter.shown import Inspector
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import named

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
        found = labels.entity_type(scene.schema, row.label)
        definition = found.definition if found else _unknown(row.label)
    elif isinstance(row, RelationRow):
        known = labels.relation_type(scene.schema, row.label)
        definition = known.definition if known else _unknown(row.label)
    else:
        return
    if definition:
        yield "means", definition


def _unknown(label: str) -> str:
    return f"the schema has no type {label!r} (any more): give it another one" if label else ""


def _note(scene: Scene) -> tuple[tuple[str, str], ...]:
    return (("note", scene.progress.note),) if scene.progress.note else ()
