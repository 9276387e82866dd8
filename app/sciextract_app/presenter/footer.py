"""The keys that mean something now."""

from __future__ import annotations

from collections.abc import Iterator

from sciextract.store.actions.api import LinkRef, RelationRef
from sciextract_app.presenter import everywhere, labels
from sciextract_app.presenter.actions import BY_ID
from sciextract_app.presenter.bulk import alike_target
from sciextract_app.presenter.fragments import takes_out
from sciextract_app.presenter.relating import best_type, legal_types
from sciextract_app.presenter.selecting import suggestion
from sciextract_app.presenter.shown import Hint, Mode
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import named

_BACK = Hint("Esc", "back")


def footer(desk: Situation) -> tuple[Hint, ...]:
    """The most important keys first; those that would be refused now are not live."""
    if desk.scene is None:
        return tuple(_of(each) for each in ("search", "help", "palette", "quit"))
    match desk.mode:
        case Mode.JUMP | Mode.RELATE:
            return (Hint("a-z", "the letters over the text"), _BACK)
        case Mode.SELECT:
            return tuple(_selecting(desk))
        case Mode.FRAGMENT:
            return tuple(_parting(desk))
        case Mode.RELATE_TYPE:
            return tuple(_typing(desk))
        case Mode.TYPE:
            return (Hint(_type_letters(desk), "type"), _BACK)
        case Mode.CLUSTER | Mode.MERGE:
            return tuple(_clusters(desk))
        case Mode.CONFIRM:
            return (Hint("Enter", "do it"), Hint("Esc", "do not"))
    return tuple(_reviewing(desk))


def _of(action_id: str, live: bool = True, words: str = "") -> Hint:
    action = BY_ID[action_id]
    return Hint(action.key, words or action.words, live)


def _reviewing(desk: Situation) -> Iterator[Hint]:
    scene, item = desk.here, desk.scene.row(desk.focus) if desk.scene else None
    relation, link = isinstance(desk.focus, RelationRef), isinstance(desk.focus, LinkRef)
    mention = not relation and item is not None
    known = scene.schema.relation_labels if relation else scene.schema.entity_labels
    if spread := everywhere.hint(desk):
        yield spread
    yield _of("accept", bool(item or desk.waiting()), "accept" if item else "next")
    yield _of("reject", item is not None)
    yield Hint(labels.type_keys(known), "type" if item else "make a mention", bool(known))
    if relation:
        yield _of("invert")
    else:
        yield Hint("s S e E", "edges", mention)
    yield _of("relate", item is not None and bool(scene.schema.relations))
    yield from _cluster_keys(desk, mention, link)
    yield from _many(desk)
    yield from (_of(each) for each in ("jump", "select"))
    yield _of("fragment", mention)
    yield from (_of(each) for each in ("undo", "done", "help"))


def _cluster_keys(desk: Situation, mention: bool, link: bool) -> Iterator[Hint]:
    scene = desk.here
    at_home = link or bool(scene.homes.get(scene.mention_of(desk.focus) or ""))
    yield _of("join", mention and scene.schema.coreference)
    if mention and at_home:
        yield from (_of(each) for each in ("leave", "merge", "split", "next-mention"))


def _many(desk: Situation) -> Iterator[Hint]:
    target = alike_target(desk)
    words = f"all {named(desk.here.surface(target), 16)}" if target else "all alike"
    yield _of("alike", target is not None, words)
    yield _of("candidate", bool(desk.candidates and desk.candidates.spans))
    yield _of("accept-above", desk.waiting() > 0, f"accept ≥ {desk.threshold:.2f}")


def _selecting(desk: Situation) -> Iterator[Hint]:
    best = suggestion(desk)
    yield Hint("Enter", f"add as {best}" if best else "add", best is not None)
    yield Hint(labels.type_keys(desk.here.schema.entity_labels), "add as type")
    if desk.pending.offers:
        yield Hint("y", f"next of {len(desk.pending.offers)}")
    yield Hint("h l w b f", "move the end")
    yield _BACK


def _parting(desk: Situation) -> Iterator[Hint]:
    yield Hint("+", "take this part out" if takes_out(desk) else "add this part")
    yield Hint("v", "longer part", desk.pending.start is None)
    yield Hint("h l w b f", "move")
    yield _BACK


def _typing(desk: Situation) -> Iterator[Hint]:
    known, allowed = desk.here.schema.relations, legal_types(desk)
    best = best_type(desk)
    if best:
        yield Hint("Enter", best)
    for place, each in enumerate(known, start=1):
        digit = f"{place} {each.key}" if place < 10 else each.key
        yield Hint(digit, each.label, each.label in allowed)
    yield Hint("Space", "turn around")
    yield _BACK


def _type_letters(desk: Situation) -> str:
    schema = desk.here.schema
    known = schema.relations if isinstance(desk.focus, RelationRef) else schema.entities
    return " ".join(each.key for each in known)


def _clusters(desk: Situation) -> Iterator[Hint]:
    if desk.pending.hints is not None:
        yield Hint("a-z", "the letters over the text")
    else:
        letters = " ".join(desk.letters.of(each) for each in desk.here.members)
        yield Hint(letters or "a", "cluster", bool(letters))
        if desk.mode is Mode.CLUSTER:
            yield Hint("c", "the last one", desk.last_cluster in desk.here.members)
            yield Hint("Enter", "new, with another mention")
    yield _BACK
