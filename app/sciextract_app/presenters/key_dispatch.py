"""What a key means: the state machine over modes and key names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sciextract.store import ItemRef, LinkRef, LinkRow, RelationRef
from sciextract_app.presenters import bulk, deciding, document_view, linking, navigation, selecting
from sciextract_app.presenters.actions import Action, action_hint
from sciextract_app.presenters.bulk import alike_target
from sciextract_app.presenters.document_order import DocumentOrder
from sciextract_app.presenters.linking import best_type
from sciextract_app.presenters.selecting import suggestion, takes_out
from sciextract_app.presenters.state import ReviewState
from sciextract_app.presenters.view_models import (
    Feedback,
    Guard,
    Hint,
    Mode,
    guarded,
    named,
    problem,
)

Handler = Callable[[ReviewState, Action], Feedback]
_SPREADING = frozenset({"alike", "alike-everywhere"})
_WAITING = frozenset({"enter", "escape"})
HANDLERS: Mapping[str, Handler] = {
    "next-undecided": navigation.next_undecided,
    "previous-undecided": navigation.previous_undecided,
    "next-item": navigation.step_item,
    "previous-item": navigation.step_item,
    "next-token": navigation.step_token,
    "previous-token": navigation.step_token,
    "next-sentence": navigation.step_sentence,
    "previous-sentence": navigation.step_sentence,
    "jump": selecting.jump,
    "accept": deciding.accept,
    "reject": deciding.reject,
    "letter": deciding.ask_letter,
    "repeat": deciding.repeat,
    "alike": bulk.alike,
    "alike-everywhere": bulk.alike_in_project,
    "accept-above": bulk.accept_above,
    "undo": navigation.undo,
    "redo": navigation.redo,
    "flag": navigation.flag,
    "grow-start": deciding.move_edge,
    "shrink-start": deciding.move_edge,
    "grow-end": deciding.move_edge,
    "shrink-end": deciding.move_edge,
    "characters": deciding.ask_characters,
    "select": selecting.select,
    "fragment": selecting.ask_fragment,
    "candidate": selecting.candidate,
    "relate": linking.relate,
    "relate-anywhere": linking.relate,
    "invert": deciding.invert,
    "join": linking.ask_cluster,
    "leave": linking.leave,
    "merge": linking.ask_merge,
    "split": linking.split,
    "next-mention": linking.step_mention,
    "previous-mention": linking.step_mention,
    **{f"type-{digit}": deciding.set_type for digit in range(1, 10)},
}

ALONG: Mapping[str, Callable[[ReviewState, DocumentOrder, Action], Feedback]] = {
    "next-abstract": navigation.step_abstract,
    "previous-abstract": navigation.step_abstract,
    "first-abstract": navigation.open_end,
    "last-abstract": navigation.open_end,
    "go-to": navigation.ask_place,
    "next-finding": navigation.step_finding,
    "previous-finding": navigation.step_finding,
    "done": navigation.done,
}
"""Those that follow the order of the abstracts."""
_WITHOUT_ABSTRACT = frozenset({"undo", "redo", *ALONG} - {"done"})


def press(
    state: ReviewState, documents: DocumentOrder, key: str, action: Action | None
) -> Feedback:
    """Do what a key means in the present mode; only the very next key can insist on what was refused.

    Args:
        state: The state of the desk.
        documents: The order of the abstracts.
        key: The key's name.
        action: What the key is bound to, for the modes in which bindings hold.
    """
    refused = state.refused
    feedback = _press(state, documents, key, action)
    if state.refused is refused:
        state.refused = None
    return feedback


def _press(
    state: ReviewState, documents: DocumentOrder, key: str, action: Action | None
) -> Feedback:
    spreads = action is not None and action.id in _SPREADING
    if state.mode is Mode.REVIEW and not spreads:
        state.alike = None
    if state.mode is Mode.COUNTING and key not in _WAITING:
        state.leave_mode()  # the person does not wait: the count runs alongside
    if state.mode is not Mode.REVIEW:
        return _in_mode(state, documents, key, action)
    asked, state.asked_done = state.asked_done, False
    if action is None:
        return (
            bulk.stop(state)
            if key == "escape"
            else problem(f"{key} does nothing; ? shows the keys")
        )
    if action.request:
        return Feedback(request=action.request)
    if state.view is None and action.id not in _WITHOUT_ABSTRACT:
        return problem("No abstract is open")
    state.asked_done = asked and action.id == "done"
    return _review(state, documents, action)


def _review(state: ReviewState, documents: DocumentOrder, action: Action) -> Feedback:
    if action.id in ALONG:
        return ALONG[action.id](state, documents, action)
    return HANDLERS[action.id](state, action)


def _in_mode(
    state: ReviewState, documents: DocumentOrder, key: str, action: Action | None
) -> Feedback:
    if key == "escape":
        return _escape(state)
    match state.mode:
        case Mode.JUMP:
            return selecting.press_jump(state, key)
        case Mode.SELECT:
            return selecting.press_select(state, key, action)
        case Mode.FRAGMENT:
            return selecting.press_fragment(state, key, action)
        case Mode.CHARACTERS:
            return deciding.press_characters(state, key, action)
        case Mode.RELATE:
            return linking.press_relate(state, key)
        case Mode.RELATE_TYPE:
            return linking.press_relation_type(state, key, action)
        case Mode.CLUSTER:
            return linking.press_cluster(state, key)
        case Mode.MERGE:
            return linking.press_merge(state, key)
        case Mode.GO_TO:
            return navigation.press_place(state, documents, key)
        case Mode.COUNTING:
            return bulk.press_counting(state)
        case Mode.TYPE if selecting.selected(state):
            return selecting.press_type(state, key)
        case Mode.TYPE:
            return deciding.press_letter(state, key)
    return _confirm(state, key)


def _escape(state: ReviewState) -> Feedback:
    """Out of the mode; a jump during a selection goes back to the selection."""
    if state.mode is Mode.JUMP:
        selecting.leave_jump(state)
        return Feedback()
    pointed, left = state.mode is Mode.FRAGMENT, state.pending.on_leave
    state.leave_mode()
    if pointed:
        state.focus_on(state.focus)  # the cursor goes back to the mention
    return left() if left else Feedback()


def _confirm(state: ReviewState, key: str) -> Feedback:
    pending = state.pending
    if key != "enter" or pending.on_confirm is None:
        return problem(pending.question)
    state.leave_mode()
    return pending.on_confirm()


class MouseInput:
    """Clicks and drags.

    Args:
        state: The desk's state.
        guard: Runs work so that refusals come back as problems.
    """

    def __init__(self, situation: ReviewState, guard: Guard) -> None:
        self._state = situation
        self._guard = guard

    @guarded
    def click(self, char: int) -> Feedback:
        """Put cursor and focus on what is at a character; while relating, choose that mention.

        While a mention gets a further part, only the cursor moves.
        """
        state = self._state
        if state.view is None:
            return Feedback()
        if state.mode in (Mode.RELATE, Mode.RELATE_TYPE):
            return self._ask_type(state.pending.head, char)
        if state.mode is Mode.FRAGMENT:
            state.pending.start, state.cursor = None, state.view.token_at(char)
            return Feedback()
        state.leave_mode()
        state.alike = None  # a and & speak of what was clicked
        selecting.focus_token(state, char)
        return Feedback()

    @guarded
    def focus(self, item: ItemRef) -> Feedback:
        """Make an item the focus: a row of a pane."""
        state = self._state
        if state.view is None or state.view.row(item) is None:
            return problem("The item no longer exists")
        state.leave_mode()
        state.alike = None
        state.focus_on(item)
        return Feedback()

    @guarded
    def drag(self, char_start: int, char_end: int) -> Feedback:
        """Select the tokens under some characters."""
        state = self._state
        if state.view is None or not len(state.view.tokens):
            return Feedback()
        low, high = sorted((char_start, char_end))
        if state.mode is not Mode.FRAGMENT:
            state.leave_mode()
            state.mode = Mode.SELECT
        state.pending.start = state.view.token_at(low)
        state.cursor = state.view.token_at(max(low, high - 1))
        return Feedback()

    @guarded
    def relate(self, head_char: int, tail_char: int) -> Feedback:
        """A relation between the mentions at two characters; its type is asked for."""
        state = self._state
        heads = state.view.covering(head_char) if state.view else []
        if not heads:
            return problem("There is no mention")
        state.leave_mode()
        return self._ask_type(heads[0].id, tail_char)

    def _ask_type(self, head: str, char: int) -> Feedback:
        tails = [row for row in self._state.open_view.covering(char) if row.id != head]
        if not tails:
            return problem("There is no other mention; Esc leaves")
        return linking.ask_type(self._state, head, tails[0].id)


_BACK = Hint("Esc", "back")
LIST_HINTS = (
    Hint("Enter", "open"),
    Hint("Esc", "back to the text"),
    Hint("↑ ↓ j k", "row"),
    Hint("PgUp PgDn Home End", "page"),
    action_hint("search"),
    Hint("F4", "save as a queue"),
    action_hint("help"),
)
"""The keys of the list of abstracts, while it has the focus."""


def footer(state: ReviewState) -> tuple[Hint, ...]:
    """The most important keys first; those that would be refused now are not live."""
    if state.view is None:
        return tuple(action_hint(each) for each in ("search", "help", "palette", "quit"))
    match state.mode:
        case Mode.RELATE:
            more = Hint("Space", "all mentions", not state.pending.any_type)
            return (Hint("a-z", "the letters over the text"), more, _BACK)
        case Mode.JUMP:
            return (Hint("a-z", "the letters over the text"), _BACK)
        case Mode.SELECT:
            return tuple(_selecting(state))
        case Mode.FRAGMENT:
            return tuple(_parting(state))
        case Mode.CHARACTERS:
            return Hint("s S", "start"), Hint("e E", "end"), Hint("Enter", "leave")
        case Mode.RELATE_TYPE:
            return tuple(_typing(state))
        case Mode.TYPE:
            return (Hint("a-z", "the type's letter"), _BACK)
        case Mode.CLUSTER | Mode.MERGE:
            return tuple(_clusters(state))
        case Mode.CONFIRM:
            return (Hint("Enter", "do it"), Hint("Esc", "do not"))
        case Mode.GO_TO:
            return (
                Hint("0-9", "number"),
                Hint("Enter", "open it", bool(state.pending.typed)),
                _BACK,
            )
    return tuple(_reviewing(state))


def _reviewing(state: ReviewState) -> Iterator[Hint]:
    view, item = state.open_view, state.view.row(state.focus) if state.view else None
    relation, link = isinstance(state.focus, RelationRef), isinstance(state.focus, LinkRef)
    mention = not relation and item is not None
    if spread := bulk.hint(state):
        yield spread
    enter, reject = _same(state, item) if isinstance(item, LinkRow) else ("accept", "reject")
    can_accept = bool(item or state.undecided_count())
    yield action_hint("accept", can_accept, enter if item else "next", pinned=True)
    yield action_hint("reject", item is not None, reject, pinned=True)
    if item is None:  # elsewhere the legend shows the digits
        yield Hint(document_view.type_keys(view.schema.entity_labels), "make a mention")
    if relation:
        yield action_hint("invert")
    if not link:
        yield action_hint("relate", item is not None and bool(view.schema.relations))
    yield action_hint("join", mention and view.schema.coreference)
    at_home = mention and (link or view.homes.get(view.mention_of(state.focus) or ""))
    if at_home:
        yield from (action_hint(each) for each in ("leave", "merge", "split"))
    if not relation:
        yield Hint("s e", "grow", mention)
        yield Hint("S E", "shrink", mention)
    yield action_hint("jump")
    yield Hint("arrows", "move")
    if at_home:
        yield action_hint("next-mention")
    yield from _many(state)
    yield action_hint("fragment", mention)
    yield from (action_hint(each) for each in ("relations", "note"))
    yield from (action_hint(each, pinned=True) for each in ("done", "undo", "select"))
    yield action_hint("next-abstract", words="next", pinned=True)
    yield action_hint("help", pinned=True)


def _same(state: ReviewState, link: LinkRow) -> tuple[str, str]:
    """What accepting and rejecting a cluster link says."""
    view = state.open_view
    others = [each.entity_id for each in view.members[link.cluster_id]]
    other = next((each for each in others if each != link.entity_id), link.entity_id)
    return f"same as {named(view.surface(other), 20)}", "not the same"


def _many(state: ReviewState) -> Iterator[Hint]:
    target = alike_target(state)
    words = f"all {named(state.open_view.surface(target), 16)}" if target else "all alike"
    yield action_hint("alike", target is not None, words)
    yield action_hint("candidate", bool(state.candidates and state.candidates.spans))
    yield action_hint(
        "accept-above", state.undecided_count() > 0, f"accept ≥ {state.threshold:.2f}"
    )


def _selecting(state: ReviewState) -> Iterator[Hint]:
    best = suggestion(state)
    yield Hint("Enter", f"add as {best}" if best else "add", best is not None)
    yield Hint(document_view.type_keys(state.open_view.schema.entity_labels), "add as type")
    if state.pending.offers:
        yield Hint("y", f"next of {len(state.pending.offers)}")
    yield Hint("arrows w b f", "move the end")
    yield _BACK


def _parting(state: ReviewState) -> Iterator[Hint]:
    yield Hint("+", "take this part out" if takes_out(state) else "add this part")
    yield Hint("v", "longer part", state.pending.start is None)
    yield Hint("arrows w b f", "move")
    yield _BACK


def _typing(state: ReviewState) -> Iterator[Hint]:
    best = best_type(state)
    if best:
        yield Hint("Enter", best)
    yield Hint(document_view.type_keys(state.open_view.schema.relation_labels), "type")
    yield Hint("Space", "turn around")
    yield _BACK


def _clusters(state: ReviewState) -> Iterator[Hint]:
    if state.pending.hints is not None:
        yield Hint("a-z", "the letters over the text")
    else:
        yield Hint("a-Z", "the cluster's letter", bool(state.open_view.members))
        if state.mode is Mode.CLUSTER:
            yield Hint("c", "the last one", state.last_cluster in state.open_view.members)
            if proposal := linking.proposal(state):
                yield Hint("Enter", proposal.words)
                yield Hint("Space", "new, with another mention")
            else:
                yield Hint("Enter", "new, with another mention")
    yield _BACK
