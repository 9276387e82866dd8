"""Keys that finish an abstract, and open it again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sciextract.documents.annotations import Layer, State
from sciextract.store import (
    AttributeRow,
    Completeness,
    EntityRow,
    ItemRef,
    LinkRow,
    RelationRow,
    coverage,
)
from sciextract.store.finished import count_keys
from sciextract.store.review import count_done, count_done_of
from sciextract.text.english import counted
from sciextract_app.review.keys.navigation import open_abstract
from sciextract_app.review.model.state import ReviewState
from sciextract_app.shared.actions import Action, key_of
from sciextract_app.shared.view_models import Feedback, problem


def _layer_of(state: ReviewState, item: ItemRef) -> Layer:
    row = state.open_view.row(item)
    if isinstance(row, AttributeRow):
        return state.open_view.document.layer_of(row)
    if isinstance(row, LinkRow):
        return Layer.COREFERENCE
    return Layer.RELATIONS if isinstance(row, RelationRow) else Layer.ENTITIES


def done(state: ReviewState, action: Action) -> Feedback:
    """The abstract is done; where something is undecided, or nothing was ever decided, it says so the first time."""
    view, project = state.open_view, state.project
    layers = coverage.find_layers(project.connection, project.schema)
    labels = [label for _, label in view.sought if label]
    if view.sought:
        layers = (view.sought[0][0],)
    waiting = view.document.count_undecided(*layers, labels=labels)
    again = key_of(action.id)
    # Only a person who was told can mean that.
    if (waiting or view.progress.is_untouched) and not state.insists((action.id,)):
        if not waiting:
            return Feedback(f"Nothing was decided here: {again} again marks it as done as it is")
        items = (item for item in state.open_queue.undecided if _layer_of(state, item) in layers)
        state.focus_on(next(items, state.focus))
        told = (
            f"{counted(waiting, 'item')} undecided: {key_of('accept-above')} accepts the sure ones"
        )
        return Feedback(f"{told}, {again} again rejects all and marks as done")
    number, seconds = state.number, state.seconds()
    project.actions.mark_done(number, layers, undecided="reject", seconds=seconds, labels=labels)
    left = [layer for layer in Layer if layer in view.schema.layers and layer not in layers]
    said = [f"Done: {', '.join(labels or layers)}" if left or labels else "Done"]
    # The rest may be cut: what was rejected is known since the first D.
    said[0] += (", " if left or labels else ": ") + _sum_up(state, number)
    said[0] += f", {counted(waiting, 'item')} rejected" if waiting else ""
    if left and not (view.sought or view.schema.finish) and state.is_news(tuple(left)):
        verb = "has" if left == [Layer.COREFERENCE] else "have"
        missed = f"{' and '.join(left).capitalize()} {verb} not been looked at here"
        said.append(f"{missed}: {key_of('finish')} has {again} finish more")
    following = state.documents.not_done_after(number)
    if following is None:
        state.read()
        state.focus_nearest()
        opened = Feedback(f"All abstracts{state.documents.suffix} are done")
    else:
        opened = replace(open_abstract(state, following), moved=True)
    message = ". ".join(filter(None, (*said, opened.message)))
    return replace(opened, message=message, changed=True, recount=True)


def _sum_up(state: ReviewState, number: int) -> str:
    """What the abstract took, how much of what was suggested was right, and how many are left."""
    connection, found = state.project.connection, state.project.document_state(number)
    rows: list[EntityRow | RelationRow | LinkRow] = [*found.all_entities, *found.relations]
    suggested = Counter(row.state for row in (*rows, *found.links))
    right, wrong = suggested[State.ACCEPTED], suggested[State.EDITED] + suggested[State.REJECTED]
    mentions = sum(row.state not in (State.UNDECIDED, State.REJECTED) for row in found.all_entities)
    parts = [counted(count_keys(connection, number), "key"), counted(mentions, "mention")]
    if right + wrong:
        parts.append(f"{100 * right / (right + wrong):.0f} % were right")
    numbers, sought = state.documents.numbers, state.documents.sought
    documents, done = count_done(connection)
    if numbers is not None:
        documents, done = len(numbers), count_done_of(connection, numbers, sought)
    return f"{', '.join(parts)}, {documents - done:,} to go"


def reopen(state: ReviewState, action: Action) -> Feedback:
    """The abstract is not done any more in any layer that was; its items stay as they are."""
    finished = state.open_view.progress.done
    if not finished:
        return problem("This abstract is not finished: there is nothing to open again")
    actions, unfinished = state.project.actions, Completeness.IN_PROGRESS
    state.after_action(actions.set_completeness(state.number, unfinished, finished))
    words = f"Open again: {', '.join(finished)}; {key_of('done')} finishes it"
    return Feedback(words, changed=True, recount=True)
