"""Keys that point: jumping by letters, selecting tokens, and the model's other candidates."""

from __future__ import annotations

from sciextract.documents.spans import Span
from sciextract.store.actions.api import EntityRef
from sciextract_app.presenter import labels
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.candidates import offered
from sciextract_app.presenter.deciding import add_mention
from sciextract_app.presenter.going import sentence_start
from sciextract_app.presenter.hints import Hints, give_hints, nearest_first
from sciextract_app.presenter.shown import Feedback, Mode
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import named, problem

_MOVES = {"next-token": 1, "previous-token": -1}


def jump(desk: Situation, action: Action | None = None) -> Feedback:
    """Letters over all tokens; the ones near the cursor get the shortest."""
    scene = desk.here
    tokens = scene.tokens.slices(scene.text)
    places = [(t, scene.tokens.spans[t].char_start) for t in nearest_first(tokens, desk.cursor)]
    if not places:
        return problem("There is no other token to jump to")
    desk.pending.hints = give_hints(places)
    desk.mode = Mode.JUMP
    return Feedback()


def press_jump(desk: Situation, key: str) -> Feedback:
    """A letter of a hint."""
    found = desk.pending.hints.press(key) if desk.pending.hints else None
    if found is None:
        return problem(f"No token has the letter {key}; Esc leaves")
    if isinstance(found, Hints):
        desk.pending.hints = found
        return Feedback()
    leave_jump(desk)
    _go(desk, int(found))
    return Feedback()


def leave_jump(desk: Situation) -> None:
    """Back to where the jump began: a part of a mention, selecting, or review."""
    desk.pending.hints = None
    if desk.pending.part_of:
        desk.mode = Mode.FRAGMENT
    else:
        desk.mode = Mode.REVIEW if selected(desk) is None else Mode.SELECT


def _go(desk: Situation, token: int) -> None:
    if desk.mode in (Mode.SELECT, Mode.FRAGMENT):
        desk.cursor = max(0, min(token, len(desk.here.tokens) - 1))
    else:
        desk.move_cursor(token)


def select(desk: Situation, action: Action | None = None) -> Feedback:
    """Begin a selection at the cursor."""
    if not len(desk.here.tokens):
        return problem("There is no text to select")
    desk.leave_mode()
    desk.mode, desk.pending.start = Mode.SELECT, desk.cursor
    return Feedback()


def selected(desk: Situation) -> Span | None:
    """The selected characters, the candidate on offer, or the part of a mention that is pointed at."""
    if desk.pending.span is not None:
        return desk.pending.span
    start = desk.pending.start
    if start is None and not desk.pending.part_of:
        return None
    first, last = sorted((desk.cursor if start is None else start, desk.cursor))
    spans = desk.here.tokens.spans
    return Span(spans[first].char_start, spans[last].char_end)


def press_select(desk: Situation, key: str, action: Action | None) -> Feedback:
    """Extend the selection, or make a mention of it."""
    if action is None:
        return problem("Esc leaves the selection; a type makes a mention of it")
    if action.id in ("next-token", "previous-token"):
        return _extend(desk, desk.cursor + _MOVES[action.id])
    if action.id in ("next-sentence", "previous-sentence"):
        return _extend(desk, sentence_start(desk, int(action.argument)))
    if action.id == "jump":
        _extend(desk, desk.cursor)
        return jump(desk)
    return _use(desk, key, action)


def _use(desk: Situation, key: str, action: Action) -> Feedback:
    if action.id == "candidate":
        return candidate(desk)
    if action.id.startswith("type-"):
        label = labels.by_digit(desk.here.schema.entity_labels, action.argument)
        return make(desk, label) if label else problem("The schema has no type of that number")
    if action.id == "letter":
        desk.mode = Mode.TYPE
        return Feedback()
    if action.id == "accept":
        return _make_best(desk)
    return problem(f"{key} does nothing on a selection: a type makes a mention of it, Esc leaves")


def press_type(desk: Situation, key: str) -> Feedback:
    """The letter of an entity type, for the selection."""
    label = labels.by_letter(desk.here.schema.entities, key)
    if label is None:
        letters = " ".join(each.key for each in desk.here.schema.entities)
        return problem(f"No entity type has the letter {key}; there are {letters}")
    return make(desk, label)


def make(desk: Situation, label: str) -> Feedback:
    """A mention of the selection."""
    span = selected(desk)
    desk.leave_mode()
    if span is None:
        return problem("Nothing is selected")
    return add_mention(desk, (span.char_start, span.char_end), label)


def suggestion(desk: Situation) -> str | None:
    """The type that the model thinks best for the selection."""
    span, known = selected(desk), desk.here.schema.entity_labels
    return labels.best_entity(desk.candidates, span, known) if span else None


def _make_best(desk: Situation) -> Feedback:
    label = suggestion(desk)
    if label is None:
        return problem("The model proposes no type for this: press one")
    return make(desk, label)


def _extend(desk: Situation, token: int) -> Feedback:
    """Move the selection's end; a candidate becomes a selection that begins where it does."""
    span = desk.pending.span
    if span is not None:
        step = token - desk.cursor
        desk.pending.span, desk.pending.offers = None, []
        desk.pending.start = desk.here.token_at(span.char_start)
        token = desk.here.token_at(span.char_end - 1) + step
    _go(desk, token)
    return Feedback()


def candidate(desk: Situation, action: Action | None = None) -> Feedback:
    """Offer the model's next candidate; the cursor stays, so that the order does."""
    if not desk.pending.offers:
        char = desk.here.token_span(desk.cursor).char_start
        offers = offered(desk.here, desk.candidates, char)
        if not offers:
            return problem("The model considered nothing else in this abstract")
        desk.leave_mode()
        desk.mode, desk.pending.offers = Mode.SELECT, offers
    else:
        desk.pending.offer = (desk.pending.offer + 1) % len(desk.pending.offers)
    found = desk.pending.offers[desk.pending.offer]
    desk.pending.span = found.span
    best = max(found.labels, key=lambda each: each.score)
    name = named(found.span.of(desk.here.text))
    return Feedback(f"{name}: {suggestion(desk)} {best.score:.2f}? Enter or a type adds it")


def focus_token(desk: Situation, char: int) -> None:
    """Put cursor and focus on what is at a character."""
    under = desk.here.covering(char)
    desk.move_cursor(desk.here.token_at(char))
    if under:
        desk.look_at(EntityRef(under[0].id), cursor=False)
