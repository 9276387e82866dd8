"""Keys that move: between items, tokens, sentences and abstracts, and through the history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sciextract.store import (
    EntityRef,
    ItemRef,
    LinkRef,
    Outcome,
    RelationRef,
    events,
    label_changes,
    quality_checks,
)
from sciextract.store.events import Change, Event
from sciextract.text.english import counted
from sciextract.workflows.adjudicate import follow
from sciextract.workflows.disagreements import KIND
from sciextract_app.review.model.document_order import CHECK
from sciextract_app.review.model.modes import Confirming, GoingTo
from sciextract_app.review.model.queue import Key
from sciextract_app.review.model.state import ReviewState
from sciextract_app.shared.actions import BY_ID, Action, Bound, key_of, nothing_left
from sciextract_app.shared.document_view import item_words
from sciextract_app.shared.view_models import Feedback, problem

LARGE = frozenset({"import", "predict", "merge project"})
"""What may concern the whole project and was not done at the desk: it is taken back only after a question."""
_COUNTED = frozenset({"done", "completeness", events.COVER})
"""What changes how many abstracts are done."""
# Nine digits are more than any project has abstracts.
_DIGITS, _LONGEST_PLACE = frozenset("0123456789"), 9
_FIRST = {"relation": 0, "link": 1, "entity": 2}


def next_undecided(state: ReviewState, action: Action) -> Feedback:
    """The next item that waits, without deciding this one."""
    return Feedback("" if state.advance(state.position()) else nothing_left())


def previous_undecided(state: ReviewState, action: Action) -> Feedback:
    """The previous item that waits."""
    found = state.open_queue.before(state.position())
    if found is not None:
        state.focus_on(found)
    return Feedback("" if found else nothing_left())


def step_item(state: ReviewState, action: Action) -> Feedback:
    """The next or previous item of the text, decided or not."""
    place: Key = (state.open_view.token_span(state.cursor).char_start, float("-inf"))
    if state.focus is not None and state.open_view.row(state.focus) is not None:
        place = state.open_queue.place(state.focus)
    found = state.open_queue.neighbour(place, int(action.argument))
    if found is not None:
        state.focus_on(found)
    return Feedback("" if found else "There is no other item in this direction")


def step_in_text(state: ReviewState, action: Action) -> Feedback:
    """The next or previous mention of the text, past relations and links; back from one of these to its mention."""
    view, step = state.open_view, int(action.argument)
    ids = [row.id for row in view.entities]
    anchor = view.anchor(state.focus) if state.focus else None
    if anchor in ids:
        # A relation or a link stands behind its mention.
        place = ids.index(anchor) + (step if isinstance(state.focus, EntityRef) else step > 0)
    else:
        char = view.token_span(state.cursor).char_start
        place = sum(row.char_start < char for row in view.entities) - (step < 0)
    if not 0 <= place < len(ids):
        return Feedback("There is no other mention in this direction")
    state.focus_on(EntityRef(ids[place]))
    return Feedback()


def step_token(state: ReviewState, action: Action) -> Feedback:
    """The cursor one token on or back."""
    state.move_cursor(state.cursor + int(action.argument))
    return Feedback()


def step_sentence(state: ReviewState, action: Action) -> Feedback:
    """The cursor to the beginning of a sentence."""
    state.move_cursor(sentence_start(state, int(action.argument)))
    return Feedback()


def sentence_start(state: ReviewState, step: int) -> int:
    """The first token of the next sentence, of this one, or of the previous one."""
    tokens = state.open_view.tokens
    if not len(tokens):
        return 0
    current = tokens.sentence_of(state.cursor)
    if step < 0 and tokens.sentences[current].token_start < state.cursor:
        return tokens.sentences[current].token_start
    wanted = max(0, min(current + step, len(tokens.sentences) - 1))
    return tokens.sentences[wanted].token_start


def step_abstract(state: ReviewState, action: Action) -> Feedback:
    """Open the next or the previous abstract."""
    found = state.documents.neighbour(state.number, int(action.argument))
    if found is None:
        end = "last" if action.argument == "1" else "first"
        is_search = state.documents.kind == "search"
        more = f"; {key_of('search')} with an empty line shows all" if is_search else ""
        if state.documents.numbers is not None and not state.documents.numbers:
            return Feedback(f"There is no abstract{state.documents.suffix}{more}")
        return Feedback(f"This is the {end} abstract{state.documents.suffix}{more}")
    return open_abstract(state, found)


def open_abstract(state: ReviewState, number: int) -> Feedback:
    """Open an abstract; along a check at the first place in it that was found."""
    state.load(number)
    if state.documents.kind == CHECK and state.findings is not None:
        places = enumerate(state.findings.found)
        here = [place for place, finding in places if finding.number == number]
        return replace(_go_to_finding(state, here), moved=True)
    return Feedback(moved=True)


def step_finding(state: ReviewState, action: Action) -> Feedback:
    """Go to the next or previous place that a check has found; items that are gone are passed over."""
    findings = state.findings
    if findings is None:
        return problem(f"No check was run yet; {key_of('checks')} lists the checks")
    step = int(action.argument)
    end = len(findings.found) if step > 0 else -1
    return _go_to_finding(state, range(findings.place + step, end, step))


def keep_finding(state: ReviewState, action: Action) -> Feedback:
    """The place that is looked at is as it should be; go to the next one."""
    findings = state.findings
    if findings is None or findings.place < 0:
        return problem(f"No place that a check has found; {key_of('checks')} lists the checks")
    quality_checks.keep_finding(state.project, findings.check, findings.found[findings.place])
    feedback = step_finding(state, BY_ID["next-finding"])
    return replace(feedback, message=f"kept as it is. {feedback.message}", changed=True)


def _go_to_finding(state: ReviewState, places: Iterable[int]) -> Feedback:
    """Go to the first of some places that is still there."""
    findings, before = state.findings, state.number
    if findings is None:
        raise LookupError("no check is worked through")
    for place in places:
        found = findings.found[place]
        # What a check has found may be gone since: such places are passed over.
        if found.number != state.number and not state.load(found.number):
            continue
        if found.item is None or state.open_view.row(found.item) is not None:
            findings.place = place
            state.documents.finding = place + 1, len(findings.found)
            state.move_cursor(state.open_view.token_at(found.char_start))
            if found.item is not None:
                state.focus_on(found.item)
            return Feedback(
                f"{found.why}; {key_of('next-finding')} next, {key_of('previous-finding')} previous, "
                f"{key_of('intended')} intended, {key_of('app.queues')} leaves",
                moved=state.number != before,
            )
    if state.number != before:
        state.load(before)
    more = f"{key_of('checks')} checks again, {key_of('app.queues')} leaves"
    return Feedback(f"No further place: {findings.check}; {more}")


def open_end(state: ReviewState, action: Action) -> Feedback:
    """Open the first or the last abstract."""
    total = state.documents.place_of(state.number)[1]
    return _open_at(state, 1 if action.id == "first-abstract" else total)


def ask_place(state: ReviewState, action: Action) -> Feedback:
    """The next digits are the place of an abstract."""
    return _ask_further(state, "")


def _ask_further(state: ReviewState, typed: str) -> Feedback:
    state.enter(GoingTo(typed))
    total = state.documents.place_of(state.number)[1]
    return Feedback(f"Go to abstract 1 to {total:,}{state.documents.suffix}: {typed}_")


def press_place(state: ReviewState, doing: GoingTo, key: str, action: Bound) -> Feedback:
    """A digit of a place, or Enter to go there."""
    typed = doing.typed
    if key == "enter" and typed:
        return _open_at(state, int(typed))
    if key == "backspace":
        typed = typed[:-1]
    elif key in _DIGITS and len(typed) < _LONGEST_PLACE:
        typed += key
    return _ask_further(state, typed)


def _open_at(state: ReviewState, place: int) -> Feedback:
    found, before = state.documents.at(place), state.number
    state.leave_mode()
    if found is None:
        total = state.documents.place_of(before)[1]
        return problem(
            f"There is no abstract {place:,}; there are {total:,}{state.documents.suffix}"
        )
    if found != before:
        state.load(found)
    return Feedback(moved=found != before)


def flag(state: ReviewState, action: Action) -> Feedback:
    """Set or clear the flag."""
    flagged = not state.open_view.progress.flagged
    state.after_action(state.project.actions.flag(state.number, flagged))
    return Feedback("flagged" if flagged else "flag cleared", changed=True)


def undo(state: ReviewState, action: Action) -> Feedback:
    """Take back the last action; one that was not done at the desk only after a question."""
    latest = events.to_undo(state.project.connection, state.project.author_id)
    event = events.read_event(state.project.connection, latest) if latest else None
    if event is not None and event.kind in LARGE:
        what = f"{event.kind} of {counted(event.documents, 'abstract')}"
        question = f"Take back {what}? Enter confirms, Esc cancels"
        state.enter(Confirming(question, lambda: _take_back(state)))
        return Feedback(question)
    return _take_back(state)


def press_confirm(state: ReviewState, asked: Confirming, key: str, action: Bound) -> Feedback:
    """Enter does what was asked."""
    if key != "enter":
        return problem(asked.question)
    state.leave_mode()
    return asked.confirm()


def _take_back(state: ReviewState) -> Feedback:
    return _show_undone(state, "taken back", *state.project.undo())


def redo(state: ReviewState, action: Action) -> Feedback:
    """Do again what was taken back."""
    return _show_undone(state, "done again", *state.project.redo())


def _show_undone(state: ReviewState, verb: str, event: Event, outcome: Outcome) -> Feedback:
    """Go where an event was turned around and show what it changed."""
    # The lists show how many differences wait, and those come and go with such an event.
    if event.kind == KIND or event.kind in LARGE:
        follow(state.project, event)
    before, seen, recount = state.number, state.view, event.kind in LARGE | _COUNTED
    of_labels = event.kind in label_changes.KINDS  # it is about no item
    number, changed = (None, None) if of_labels else _changed_item(state, event)
    item = changed
    if number is not None and number != before:
        state.load(number)
    elif not state.read():
        return Feedback(f"{event.kind} {verb}", changed=True, moved=True, recount=recount)
    moved = state.number != before
    # What an undo removed is only in the view before.
    views = [view for view in (state.view, seen if not moved else None) if view is not None]
    known = next((view for view in views if view.row(item) is not None), None)
    if state.view is not None:
        # The item if it is there; else the mention that it had; else what is nearest.
        if state.view.row(item) is None and known is not None:
            item = EntityRef(known.mention_of(item) or "")
        if state.view.row(item) is not None:
            state.focus_on(item)
        elif state.view.row(state.focus) is None:
            state.focus_nearest()
    several = outcome.documents > 1
    where = f" in {counted(outcome.documents, 'abstract')}" if several else ""
    what = f": {item_words(known, changed)}" if known and changed and not several else ""
    done = f"{event.kind}{where}" if not of_labels else event.params["what"]
    message = f"{done} {verb}{what}"
    return Feedback(message, changed=True, moved=moved, recount=recount)


def _changed_item(state: ReviewState, event: Event) -> tuple[int | None, ItemRef | None]:
    """The abstract and the item that an event changed, in the open abstract if it did there."""
    found: dict[int, list[Change]] = {}
    for number, changes in events.changes_of_event(state.project.connection, event.id):
        found.setdefault(number, []).extend(changes)
    if not found:
        return None, None
    number = state.number if state.number in found else next(iter(found))
    match event.params:
        case {"cluster": str(cluster_id), "entity": str(entity_id)}:
            return number, LinkRef(cluster_id, entity_id)
        case {"entity": str(entity_id)}:
            return number, EntityRef(entity_id)
        case {"relation": str(relation_id)}:
            return number, RelationRef(relation_id)
    # Without one in the parameters a relation says more about what was done than its mentions, which it changed, too.
    ordered = sorted(found[number], key=lambda change: _FIRST.get(change.table, len(_FIRST)))
    for change in ordered:
        match change.table, change.key:
            case "relation", (relation_id,):
                return number, RelationRef(relation_id)
            case "link", (cluster_id, entity_id):
                return number, LinkRef(cluster_id, entity_id)
            case "entity", (entity_id,):
                return number, EntityRef(entity_id)
    return number, None
