"""What a key means: the state machine over modes and key names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from sciextract.store.actions.api import ItemRef, LinkRef, RelationRef
from sciextract_app.presenters import bulk, deciding, document_view, linking, navigation, selecting
from sciextract_app.presenters.actions import BY_ID, Action
from sciextract_app.presenters.bulk import alike_target
from sciextract_app.presenters.document_order import Route
from sciextract_app.presenters.linking import best_type, legal_types
from sciextract_app.presenters.selecting import suggestion, takes_out
from sciextract_app.presenters.state import Situation
from sciextract_app.presenters.view_models import Feedback, Hint, Mode, named, problem

Handler = Callable[[Situation, Action], Feedback]
_WITHOUT_ABSTRACT = frozenset({"undo", "redo", "next-abstract", "previous-abstract"})
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
    "alike-everywhere": bulk.alike_everywhere,
    "accept-above": bulk.accept_above,
    "undo": navigation.undo,
    "redo": navigation.redo,
    "flag": navigation.flag,
    "grow-start": deciding.move_edge,
    "shrink-start": deciding.move_edge,
    "grow-end": deciding.move_edge,
    "shrink-end": deciding.move_edge,
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


def press(desk: Situation, route: Route, key: str, action: Action | None) -> Feedback:
    """Do what a key means in the present mode.

    Args:
        desk: The state.
        route: The way through the abstracts.
        key: The key's name.
        action: What the key is bound to, for the modes in which bindings hold.
    """
    spreads = action is not None and action.id in _SPREADING
    if desk.mode is Mode.REVIEW and not spreads:
        desk.alike = None
    if desk.mode is Mode.COUNTING and key not in _WAITING:
        desk.leave_mode()  # the person does not wait: the count goes on beside
    if desk.mode is not Mode.REVIEW:
        return _in_mode(desk, key, action)
    asked, desk.asked_done = desk.asked_done, False
    if action is None:
        return (
            bulk.stop(desk) if key == "escape" else problem(f"{key} does nothing; ? shows the keys")
        )
    if action.request:
        return Feedback(request=action.request)
    if desk.scene is None and action.id not in _WITHOUT_ABSTRACT:
        return problem("No abstract is open")
    desk.asked_done = asked and action.id == "done"
    return _review(desk, route, action)


def _review(desk: Situation, route: Route, action: Action) -> Feedback:
    if action.id in ("next-abstract", "previous-abstract"):
        return navigation.step_abstract(desk, route, action)
    if action.id == "done":
        return navigation.done(desk, route)
    return HANDLERS[action.id](desk, action)


def _in_mode(desk: Situation, key: str, action: Action | None) -> Feedback:
    if key == "escape":
        return _escape(desk)
    match desk.mode:
        case Mode.JUMP:
            return selecting.press_jump(desk, key)
        case Mode.SELECT:
            return selecting.press_select(desk, key, action)
        case Mode.FRAGMENT:
            return selecting.press_fragment(desk, key, action)
        case Mode.RELATE:
            return linking.press_relate(desk, key)
        case Mode.RELATE_TYPE:
            return linking.press_relation_type(desk, key, action)
        case Mode.CLUSTER:
            return linking.press_cluster(desk, key)
        case Mode.MERGE:
            return linking.press_merge(desk, key)
        case Mode.COUNTING:
            return bulk.press_counting(desk)
        case Mode.TYPE if selecting.selected(desk):
            return selecting.press_type(desk, key)
        case Mode.TYPE:
            return deciding.press_letter(desk, key)
    return _confirm(desk, key)


def _escape(desk: Situation) -> Feedback:
    """Out of the mode; a jump during a selection goes back to the selection."""
    if desk.mode is Mode.JUMP:
        selecting.leave_jump(desk)
        return Feedback()
    pointed, left = desk.mode is Mode.FRAGMENT, desk.pending.left
    desk.leave_mode()
    if pointed:
        desk.look_at(desk.focus)  # the cursor goes back to the mention
    return left() if left else Feedback()


def _confirm(desk: Situation, key: str) -> Feedback:
    pending = desk.pending
    if key != "enter" or pending.confirmed is None:
        return problem(pending.question)
    desk.leave_mode()
    return pending.confirmed()


Guard = Callable[[Callable[[], Feedback]], Feedback]


class Pointing:
    """Clicks and drags.

    Args:
        situation: The desk's state.
        guard: Runs work so that refusals come back as problems.
    """

    def __init__(self, situation: Situation, guard: Guard) -> None:
        self._now = situation
        self._guard = guard

    def click(self, char: int) -> Feedback:
        """Put cursor and focus on what is at a character; while relating, choose that mention.

        While a mention gets a further part, only the cursor moves.
        """
        return self._guard(partial(self._click, char))

    def focus(self, item: ItemRef) -> Feedback:
        """Make an item the focus: a row of a pane."""
        return self._guard(partial(self._focus, item))

    def drag(self, char_start: int, char_end: int) -> Feedback:
        """Select the tokens under some characters."""
        return self._guard(partial(self._drag, char_start, char_end))

    def relate(self, head_char: int, tail_char: int) -> Feedback:
        """A relation between the mentions at two characters; its type is asked for."""
        return self._guard(partial(self._relate, head_char, tail_char))

    def _click(self, char: int) -> Feedback:
        now = self._now
        if now.scene is None:
            return Feedback()
        if now.mode in (Mode.RELATE, Mode.RELATE_TYPE):
            return self._ask(now.pending.head, char)
        if now.mode is Mode.FRAGMENT:
            now.pending.start, now.cursor = None, now.scene.token_at(char)
            return Feedback()
        now.leave_mode()
        now.alike = None  # a and & speak of what was clicked
        selecting.focus_token(now, char)
        return Feedback()

    def _ask(self, head: str, char: int) -> Feedback:
        under = [row for row in self._now.here.covering(char) if row.id != head]
        if not under:
            return problem("There is no other mention; Esc leaves")
        return linking.ask_type(self._now, head, under[0].id)

    def _focus(self, item: ItemRef) -> Feedback:
        if self._now.scene is None or self._now.scene.row(item) is None:
            return problem("The item is not there any more")
        self._now.leave_mode()
        self._now.alike = None
        self._now.look_at(item)
        return Feedback()

    def _drag(self, char_start: int, char_end: int) -> Feedback:
        now = self._now
        if now.scene is None or not len(now.scene.tokens):
            return Feedback()
        low, high = sorted((char_start, char_end))
        if now.mode is not Mode.FRAGMENT:
            now.leave_mode()
            now.mode = Mode.SELECT
        now.pending.start = now.scene.token_at(low)
        now.cursor = now.scene.token_at(max(low, high - 1))
        return Feedback()

    def _relate(self, head_char: int, tail_char: int) -> Feedback:
        under = self._now.scene.covering(head_char) if self._now.scene else []
        if not under:
            return problem("There is no mention")
        self._now.leave_mode()
        return self._ask(under[0].id, tail_char)


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
    if spread := bulk.hint(desk):
        yield spread
    yield _of("accept", bool(item or desk.waiting()), "accept" if item else "next")
    yield _of("reject", item is not None)
    yield Hint(document_view.type_keys(known), "type" if item else "make a mention", bool(known))
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
    yield Hint(document_view.type_keys(desk.here.schema.entity_labels), "add as type")
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
