"""Keys that point: jumping by letters, selecting tokens, and the model's other candidates."""

from __future__ import annotations

from collections.abc import Iterable

from sciextract.documents.spans import Span
from sciextract.store.actions.api import EntityRef, RelationRef
from sciextract_app.presenters import document_view
from sciextract_app.presenters.actions import Action
from sciextract_app.presenters.deciding import add_mention
from sciextract_app.presenters.document_view import offered
from sciextract_app.presenters.navigation import sentence_start
from sciextract_app.presenters.state import Hints, Situation, give_hints, nearest_first
from sciextract_app.presenters.view_models import Feedback, Mode, counted, named, problem

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
        label = document_view.by_digit(desk.here.schema.entity_labels, action.argument)
        return make(desk, label) if label else problem("The schema has no type of that number")
    if action.id == "letter":
        desk.mode = Mode.TYPE
        return Feedback()
    if action.id == "accept":
        return _make_best(desk)
    return problem(f"{key} does nothing on a selection: a type makes a mention of it, Esc leaves")


def press_type(desk: Situation, key: str) -> Feedback:
    """The letter of an entity type, for the selection."""
    label = document_view.by_letter(desk.here.schema.entities, key)
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
    return document_view.best_entity(desk.candidates, span, known) if span else None


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


_SENTENCES = ("next-sentence", "previous-sentence")


def ask_fragment(desk: Situation, action: Action | None = None) -> Feedback:
    """Begin to point at a part, at the token behind the focused mention."""
    mention = desk.here.mention_of(desk.focus)
    if mention is None or isinstance(desk.focus, RelationRef) or not len(desk.here.tokens):
        return problem("+ gives a mention a further part: put the focus on one")
    desk.leave_mode()
    desk.mode, desk.pending.part_of = Mode.FRAGMENT, mention
    behind = desk.here.by_id[mention].char_end
    desk.cursor = desk.here.token_at(behind)
    if desk.here.token_span(desk.cursor).char_end <= behind:
        _move(desk, desk.cursor + 1)
    return Feedback("Move to the part, v begins a longer one; + or Enter adds it or takes it out")


def press_fragment(desk: Situation, key: str, action: Action | None) -> Feedback:
    """Move, begin a part of several tokens, or take what is selected."""
    if action is None:
        return problem("+ or Enter adds the part or takes it out, Esc leaves")
    if action.id in _MOVES:
        return _move(desk, desk.cursor + _MOVES[action.id])
    if action.id in _SENTENCES:
        return _move(desk, sentence_start(desk, int(action.argument)))
    if action.id == "jump":
        return jump(desk)
    if action.id == "select":
        desk.pending.start = desk.cursor
        return Feedback()
    if action.id in ("fragment", "accept"):
        return _take(desk)
    return problem(f"{key} does nothing here: + or Enter adds or takes out, Esc leaves")


def takes_out(desk: Situation) -> bool:
    """Whether what is selected is part of the mention already."""
    row, part = desk.here.by_id.get(desk.pending.part_of), selected(desk)
    return row is not None and part is not None and _has_all(desk, row.fragments, part)


def _move(desk: Situation, token: int) -> Feedback:
    desk.cursor = max(0, min(token, len(desk.here.tokens) - 1))
    return Feedback()


def _take(desk: Situation) -> Feedback:
    """One store action: the mention with the part, or without it."""
    row, part = desk.here.by_id.get(desk.pending.part_of), selected(desk)
    if row is None or part is None:
        desk.leave_mode()
        return problem("The mention is not there any more")
    text, before = desk.here.text, row.fragments
    out = _has_all(desk, before, part)
    spans = without(text, before, part) if out else with_part(text, before, part)
    if not spans:
        return problem("That is the whole mention: Esc, then x rejects it")
    desk.leave_mode()
    outcome = desk.project.actions.set_fragments(desk.number, row.id, spans, desk.seconds())
    desk.after_action(outcome)
    desk.look_at(desk.focus)
    desk.alike = None
    told = f", {counted(len(spans), 'part')}" if len(spans) > 1 else ""
    said = f"{named(desk.here.surface(row.id))}{told}"
    return Feedback(said, changed=outcome.event_id is not None)


def _has_all(desk: Situation, fragments: Iterable[Span], part: Span) -> bool:
    """Whether every token of a part is one of the mention's."""
    covered = desk.here.tokens.covering(part)
    tokens = desk.here.tokens.spans[covered.token_start : covered.token_end] if covered else ()
    own = list(fragments)
    return all(any(token.overlaps(each) for each in own) for token in tokens)


def with_part(text: str, fragments: Iterable[Span], part: Span) -> tuple[Span, ...]:
    """Fragments with a further one, joined with those that it overlaps or that only blanks part from it.

    >>> with_part("left or right arm", (Span(0, 4),), Span(14, 17))
    (Span(char_start=0, char_end=4), Span(char_start=14, char_end=17))
    >>> with_part("left arm", (Span(0, 4),), Span(5, 8))
    (Span(char_start=0, char_end=8),)
    """
    found: list[Span] = []
    start, end = part.char_start, part.char_end
    for each in fragments:
        low, high = sorted((Span(start, end), each))
        if text[low.char_end : high.char_start].strip():
            found.append(each)
        else:
            start, end = low.char_start, max(low.char_end, high.char_end)
    return tuple(sorted([*found, Span(start, end)]))


def without(text: str, fragments: Iterable[Span], part: Span) -> tuple[Span, ...]:
    """What is left of fragments without some characters, without blanks at the edges that this makes.

    >>> without("left or right arm", (Span(0, 17),), Span(5, 13))
    (Span(char_start=0, char_end=4), Span(char_start=14, char_end=17))
    """
    found: list[Span] = []
    for each in fragments:
        if not each.overlaps(part):
            found.append(each)
            continue
        left = text[each.char_start : part.char_start].rstrip()
        right = text[part.char_end : each.char_end].lstrip()
        found += [Span(each.char_start, each.char_start + len(left))] if left else []
        found += [Span(each.char_end - len(right), each.char_end)] if right else []
    return tuple(found)
