"""What is said of the focused item, or of the abstract: a leader key, the letter of an attribute, and its value."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sciextract.documents.annotations import State
from sciextract.documents.schema import AttributeKind, AttributeType
from sciextract.store import AttributeRef
from sciextract.vocabulary.file import VocabularyError
from sciextract.vocabulary.links import find_candidates, is_link
from sciextract_app.review.model.modes import AttributeLetter, AttributeValue
from sciextract_app.review.model.state import ReviewState
from sciextract_app.review.model.targets import offered_attributes
from sciextract_app.shared import document_view
from sciextract_app.shared.actions import Action, Bound, action_of, key_of, undo_hint
from sciextract_app.shared.view_models import (
    ASK_VALUE,
    DIGITS,
    VALUE_KEYS,
    Feedback,
    named,
    problem,
)


def ask_attribute(state: ReviewState, action: Action) -> Feedback:
    """The next key is the letter of an attribute."""
    schema = state.open_view.schema
    if not schema.attributes:
        return problem(
            "The schema has no attributes: a table [[attributes]] in its file describes one"
        )
    if not offered_attributes(state):
        targets = ", ".join(sorted({target for kind in schema.attributes for target in kind.on}))
        return problem(f"No attribute may stand here: focus one of {targets}")
    state.enter(AttributeLetter())
    return Feedback()


def press_letter(state: ReviewState, doing: AttributeLetter, key: str, action: Bound) -> Feedback:
    """Set or clear a flag; ask for the value of anything else."""
    offered = offered_attributes(state)
    if key not in offered:
        known = ", ".join(f"{letter} {kind.label}" for letter, (kind, _) in offered.items())
        return problem(f"No attribute has the letter {key}: {known}; Esc leaves")
    kind, target = offered[key]
    if kind.kind is AttributeKind.LINK:
        return offer_links(state, kind, target)
    if kind.values:
        state.enter(AttributeValue(kind, target))
        return Feedback()
    if kind.kind is not AttributeKind.FLAG:
        state.leave_mode()
        state.ask_value(AttributeValue(kind, target))
        return Feedback(request=ASK_VALUE)
    row = state.open_view.attribute_of(target, kind.label)
    if row is not None and row.state is not State.UNDECIDED:
        return clear(state, kind, target)
    return say(state, kind, target, "")


def press_value(state: ReviewState, doing: AttributeValue, key: str, action: Bound) -> Feedback:
    """Take the value of a key; the key that rejects takes it back."""
    choice = action_of(key)
    if choice is not None and choice.id == "reject":
        return clear(state, doing.kind, doing.target)
    links = doing.kind.kind is AttributeKind.LINK
    if links and choice is not None and choice.id == "search":
        state.leave_mode()
        state.ask_value(doing)
        return Feedback(request=ASK_VALUE)
    takes_first = links and choice is not None and choice.id in ("accept", "link")
    place = 0 if takes_first else VALUE_KEYS.find(key)
    if not 0 <= place < len(doing.kind.values):
        last = VALUE_KEYS[len(doing.kind.values) - 1]
        keys = f"1 to {last} choose a value, {key_of('reject')} takes it back"
        return problem(f"{key} is no value of {doing.kind.label}: {keys}, Esc leaves")
    return say(state, doing.kind, doing.target, doing.kind.values[place])


def ask_link(state: ReviewState, action: Action) -> Feedback:
    """List what the focused mention may mean in the vocabularies."""
    for kind, target in offered_attributes(state).values():
        if kind.kind is AttributeKind.LINK:
            return offer_links(state, kind, target)
    return problem("No link may stand here: the schema says which mentions are linked, and to what")


def offer_links(state: ReviewState, kind: AttributeType, target: str, words: str = "") -> Feedback:
    """The next key chooses a concept that a mention, or other words, may mean."""
    view = state.open_view
    mention = words or view.surface(target)
    try:
        found = find_candidates(state.project, mention, view.text, DIGITS)
    except VocabularyError as error:
        return problem(f"{error.message}; {error.hint}")
    state.leave_mode()
    if not found:
        state.ask_value(AttributeValue(kind, target))
        return Feedback(f"No vocabulary has anything like {named(mention)}", request=ASK_VALUE)
    links = replace(kind, values=tuple([candidate.link for candidate in found]))
    names = tuple([f"{candidate.name[:32]} {candidate.link}" for candidate in found])
    state.enter(AttributeValue(links, target, names))
    return Feedback()


def asked_value(state: ReviewState) -> tuple[str, str]:
    """The value that is to be typed, as it is or, of a mention, its own words; and what it is."""
    asked = state.asked
    if asked is None:
        raise LookupError("no value is asked for")
    view, label = state.open_view, asked.kind.label
    row = view.attribute_of(asked.target, label)
    own = view.surface(asked.target) if asked.target in view.by_id else ""
    words = own if asked.kind.kind in (AttributeKind.VALUE, AttributeKind.LINK) else ""
    title = document_view.attribute_words(view, asked.target, label, "")
    return row.value if row else words, title


def say_typed(state: ReviewState, text: str) -> Feedback:
    """Take what was typed; without words what was said is taken back."""
    asked, words = state.asked, " ".join(text.split())
    state.ask_value(None)
    if asked is None:
        return Feedback()
    if not words:
        return clear(state, asked.kind, asked.target)
    if asked.kind.kind is AttributeKind.LINK and not is_link(words, asked.kind.vocabularies):
        return offer_links(state, asked.kind, asked.target, words)
    return say(state, asked.kind, asked.target, words)


def say(state: ReviewState, kind: AttributeType, target: str, value: str) -> Feedback:
    """This is said of an item or the abstract; the focus stays, an undecided item is accepted with it."""
    actions = state.project.actions
    state.leave_mode()
    outcome = actions.set_attribute(state.number, target, kind.label, value, state.seconds())
    state.after_action(outcome)
    alike = target if kind.kind is AttributeKind.LINK else None
    state.decided(partial(_say_again, kind=kind, value=value), alike)
    words = document_view.attribute_words(state.open_view, target, kind.label, value)
    return Feedback(words, changed=outcome.event_id is not None)


def clear(state: ReviewState, kind: AttributeType, target: str) -> Feedback:
    """What was said of an item or the abstract does not hold."""
    row = state.open_view.attribute_of(target, kind.label)
    state.leave_mode()
    if row is None:
        return problem(f"{kind.label} has no value here")
    words = document_view.attribute_words(state.open_view, target, kind.label, row.value)
    outcome = state.project.actions.reject(state.number, AttributeRef(row.id), state.seconds())
    state.after_action(outcome)
    if state.open_view.row(state.focus) is None:
        state.focus_nearest()
    return Feedback(f"{words} taken back; {undo_hint()}", changed=True)


def _say_again(state: ReviewState, kind: AttributeType, value: str) -> Feedback:
    """The same about the focus that there is now."""
    offered = offered_attributes(state).get(kind.key)
    if offered is None:
        return problem(f"{kind.label} may not stand here")
    return say(state, *offered, value)
