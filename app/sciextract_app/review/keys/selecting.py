"""Keys that point: jumping by letters, selecting tokens, and the model's other candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sciextract.documents.annotations import Span
from sciextract.store import EntityRef, RelationRef
from sciextract.text.english import counted
from sciextract_app.review.keys.deciding import add_mention, apply_label, follow_edit
from sciextract_app.review.keys.navigation import sentence_start
from sciextract_app.review.model.modes import Jumping, Pointing, Selecting, TypeLetter
from sciextract_app.review.model.state import ReviewState
from sciextract_app.review.model.targets import SETTLED, selected, suggestion, takes_out
from sciextract_app.shared import document_view
from sciextract_app.shared.actions import Action, Bound, focus_one, key_of
from sciextract_app.shared.candidates import find_offers
from sciextract_app.shared.view_models import NEW_TYPE, Feedback, Mode, named, problem


def jump(state: ReviewState, action: Bound = None) -> Feedback:
    """One letter over each mention, two over each other token."""
    view, most = state.open_view, state.jumps.most_tokens
    first = max(0, min(state.cursor - most // 2, len(view.tokens) - most))
    tokens = range(first, min(len(view.tokens), first + most))
    if len(tokens) < 2:
        return problem("There is no other token to jump to")
    state.enter(Jumping(state.doing, state.jumps.over(view, view.entities, tokens)))
    return Feedback("jump to the mention with which letter, or the word with which two?")


def press_jump(state: ReviewState, doing: Jumping, key: str, action: Bound) -> Feedback:
    """A letter of a hint."""
    found = state.press_hint(doing, key, "word")
    if isinstance(found, Feedback):
        return found
    state.enter(doing.back)
    if isinstance(found, int):
        _go(state, found)
    elif state.mode is Mode.REVIEW:
        state.focus_on(EntityRef(found))
    else:
        _go(state, state.open_view.token_at(state.open_view.place(found)[0]))
    return Feedback()


def _go(state: ReviewState, token: int) -> None:
    if state.mode in (Mode.SELECT, Mode.FRAGMENT):
        state.point_at(token)
    else:
        state.move_cursor(token)


def _move_of(state: ReviewState, action: Action) -> int | None:
    """The token that a key moves to, ``None`` for a key that does not move."""
    if action.id in ("next-token", "previous-token"):
        return state.cursor + int(action.argument)
    if action.id in ("next-sentence", "previous-sentence"):
        return sentence_start(state, int(action.argument))
    return None


def select(state: ReviewState, action: Bound = None) -> Feedback:
    """Begin a selection at the cursor."""
    if not len(state.open_view.tokens):
        return problem("There is no text to select")
    state.enter(Selecting(state.cursor))
    if state.focus is None:
        return Feedback()
    word = named(state.open_view.token_span(state.cursor).of(state.open_view.text))
    elsewhere = f"Esc, move to the word, {key_of('select')}"
    return Feedback(f"selects from {word} on; to begin elsewhere: {elsewhere}")


def press_select(state: ReviewState, doing: Selecting, key: str, action: Bound) -> Feedback:
    """Extend the selection, or make a mention of it."""
    if action is None:
        return problem("Esc leaves the selection; a type makes a mention of it")
    token = _move_of(state, action)
    if token is not None:
        return _extend(state, doing, token)
    if action.id == "jump":
        _extend(state, doing, state.cursor)
        return jump(state)
    if action.id == "candidate":
        return candidate(state)
    if action.id.startswith("type-"):
        known = state.open_view.schema.entity_labels
        label = document_view.by_digit(known, action.argument)
        if not known:
            return Feedback(request=NEW_TYPE["entity"])
        return make(state, label) if label else problem("The schema has no type of that number")
    if action.id == "letter":
        state.enter(TypeLetter(doing))
        return Feedback()
    if action.id == "accept":
        best = suggestion(state)
        none = "The model suggests no type for this: press a type key"
        return make(state, best) if best else problem(none)
    return problem(f"{key} does nothing on a selection: a type makes a mention of it, Esc leaves")


def press_type(state: ReviewState, doing: TypeLetter, key: str, action: Bound) -> Feedback:
    """The letter of a type, for the selection or, without one, for the focus."""
    schema, chosen = state.open_view.schema, selected(state)
    of_relations = chosen is None and isinstance(state.focus, RelationRef)
    known = schema.relations if of_relations else schema.entities
    label = document_view.by_letter(known, key)
    if label is None:
        letters = " ".join(type_.key for type_ in known)
        return problem(f"No type has the letter {key}; there are {letters}")
    if chosen is not None:
        return make(state, label)
    state.leave_mode()
    return apply_label(state, label)


def make(state: ReviewState, label: str) -> Feedback:
    """A mention of the selection."""
    span = selected(state)
    state.leave_mode()
    if span is None:
        return problem("Nothing is selected")
    return add_mention(state, (span.char_start, span.char_end), label)


def _extend(state: ReviewState, doing: Selecting, token: int) -> Feedback:
    """Move the selection's end; a candidate becomes a selection that begins where it does."""
    span = doing.candidate
    if span is not None:
        # A candidate need not begin or end where a token does: the selection goes to the tokens around it.
        step = token - state.cursor
        state.enter(Selecting(state.open_view.token_at(span.char_start)))
        token = state.open_view.token_at(span.char_end - 1) + step
    _go(state, token)
    return Feedback()


def candidate(state: ReviewState, action: Bound = None) -> Feedback:
    """Offer the model's next candidate; the cursor stays, so that the order does."""
    doing = state.doing
    if not isinstance(doing, Selecting) or not doing.offers:
        mention = state.open_view.by_id.get(state.open_view.mention_of(state.focus) or "")
        at = mention.fragments[0] if mention else state.open_view.token_span(state.cursor)
        if mention and mention.state in SETTLED:  # its edges are no question any more
            at = Span(mention.char_end, mention.char_end)
        offers = find_offers(state.open_view, state.candidates, at)
        if not offers:
            return problem("The model considered nothing else in this abstract")
        doing = Selecting(offers=offers)
    else:
        doing = replace(doing, offer=(doing.offer + 1) % len(doing.offers))
    state.enter(doing)
    found = doing.offers[doing.offer]
    best = max(found.labels, key=lambda label: label.score)
    name = named(found.span.of(state.open_view.text))
    question = f"{name}: {suggestion(state)} {best.score:.2f}?"
    return Feedback(f"{question} {key_of('accept')} or a type adds it")


def focus_token(state: ReviewState, char: int) -> None:
    """Put cursor and focus on what is at a character."""
    under = state.open_view.covering(char)
    state.move_cursor(state.open_view.token_at(char))
    if under:
        state.focus_on(EntityRef(under[0].id), cursor=False)


def ask_fragment(state: ReviewState, action: Bound = None) -> Feedback:
    """Begin to point at a part, at the token behind the focused mention."""
    mention = state.take_mention()
    if mention is None or not len(state.open_view.tokens):
        return problem(f"A part is added to a mention: {focus_one()}")
    state.enter(Pointing(mention))
    # Most parts that are missing stand behind the mention: "left or right arm".
    behind = state.open_view.by_id[mention].char_end
    state.point_at(state.open_view.token_at(behind))
    if state.open_view.token_span(state.cursor).char_end <= behind:
        _go(state, state.cursor + 1)
    longer = f"{key_of('select')} begins a longer one"
    return Feedback(f"Move to the part, {longer}; {_take_keys()} adds it or takes it out")


def _take_keys() -> str:
    return f"{key_of('fragment')} or {key_of('accept')}"


def press_fragment(state: ReviewState, doing: Pointing, key: str, action: Bound) -> Feedback:
    """Move, begin a part of several tokens, or take what is selected."""
    if action is None:
        return problem(f"{_take_keys()} adds the part or takes it out, Esc leaves")
    token = _move_of(state, action)
    if token is not None:
        _go(state, token)
        return Feedback()
    if action.id == "jump":
        return jump(state)
    if action.id == "select":
        state.enter(replace(doing, start=state.cursor))
        return Feedback()
    if action.id in ("fragment", "accept"):
        return _take(state, doing.mention)
    return problem(f"{key} does nothing here: {_take_keys()} adds or takes out, Esc leaves")


def _take(state: ReviewState, mention: str) -> Feedback:
    """One store action: the mention with the part, or without it."""
    row, part = state.open_view.by_id.get(mention), selected(state)
    if row is None or part is None:
        state.leave_mode()
        return problem("The mention no longer exists")
    text, before = state.open_view.text, row.fragments
    out = takes_out(state, mention)
    spans = without(text, before, part) if out else with_part(text, before, part)
    if not spans:
        return problem(f"This is the whole mention: Esc, then {key_of('reject')} rejects it")
    state.leave_mode()
    outcome = state.project.actions.set_fragments(state.number, row.id, spans, state.seconds())
    kept = follow_edit(state, outcome, EntityRef(row.id))
    state.focus_on(state.focus)
    parts = f", {counted(len(spans), 'part')}" if len(spans) > 1 else ""
    message = f"{named(state.open_view.surface(kept.id))}{parts}"
    return Feedback(message, changed=outcome.event_id is not None)


def with_part(text: str, fragments: Iterable[Span], part: Span) -> tuple[Span, ...]:
    """Fragments with a further one, joined with those that it overlaps or that only blanks part from it.

    >>> with_part("left or right arm", (Span(0, 4),), Span(14, 17))
    (Span(char_start=0, char_end=4), Span(char_start=14, char_end=17))
    >>> with_part("left arm", (Span(0, 4),), Span(5, 8))
    (Span(char_start=0, char_end=8),)
    """
    found: list[Span] = []
    start, end = part.char_start, part.char_end
    for fragment in fragments:
        # Blanks between two fragments belong to neither: then they are one.
        low, high = sorted((Span(start, end), fragment))
        if text[low.char_end : high.char_start].strip():
            found.append(fragment)
        else:
            start, end = low.char_start, max(low.char_end, high.char_end)
    return tuple(sorted([*found, Span(start, end)]))


def without(text: str, fragments: Iterable[Span], part: Span) -> tuple[Span, ...]:
    """What is left of fragments without some characters, without blanks at the edges that this makes.

    >>> without("left or right arm", (Span(0, 17),), Span(5, 13))
    (Span(char_start=0, char_end=4), Span(char_start=14, char_end=17))
    """
    found: list[Span] = []
    for fragment in fragments:
        if not fragment.overlaps(part):
            found.append(fragment)
            continue
        left = text[fragment.char_start : part.char_start].rstrip()
        right = text[part.char_end : fragment.char_end].lstrip()
        found += [Span(fragment.char_start, fragment.char_start + len(left))] if left else []
        found += [Span(fragment.char_end - len(right), fragment.char_end)] if right else []
    return tuple(found)
