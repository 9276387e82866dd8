"""The key that gives a mention a further part, or takes a part away: discontinuous mentions."""

from __future__ import annotations

from collections.abc import Iterable

from sciextract.documents.spans import Span
from sciextract.store.actions.api import RelationRef
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.going import sentence_start
from sciextract_app.presenter.selecting import jump, selected
from sciextract_app.presenter.shown import Feedback, Mode
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import counted, named, problem

_MOVES = {"next-token": 1, "previous-token": -1}
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
