"""Keys that make relations and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from sciextract.documents.annotations import State
from sciextract.errors import IllegalPairError
from sciextract.store import EntityRef, EntityRow, ItemRef, LinkRef, LinkRow, RelationRef
from sciextract.text.english import counted
from sciextract_app.review.keys.deciding import legally
from sciextract_app.review.model.hints import LETTERS, Hints
from sciextract_app.review.model.modes import (
    ChoosingType,
    Doing,
    Joining,
    Merging,
    Offering,
    Relating,
)
from sciextract_app.review.model.state import ReviewState
from sciextract_app.review.model.targets import best_type, legal_types, proposal
from sciextract_app.shared import document_view
from sciextract_app.shared.actions import (
    Action,
    Bound,
    focus_one,
    key_label,
    key_of,
    type_keys,
)
from sciextract_app.shared.candidates import Considered, find_considered
from sciextract_app.shared.document_view import DocumentView
from sciextract_app.shared.presenters import refusal
from sciextract_app.shared.view_models import NEW_TYPE, Feedback, named, problem

MOST_OFFERS = 9
"""Relations and links that are offered together: as many as a line or two of the legend have room for."""


def relate(state: ReviewState, action: Action) -> Feedback:
    """Letters over the mentions that the focus may be related to."""
    head = state.open_view.mention_of(state.focus)
    if head is None:
        return problem(f"A relation begins at a mention: {focus_one()}")
    far = action.id == "relate-anywhere"
    name = named(state.open_view.surface(head), 28)
    # Without types of relations the first one is asked for once the mentions are known.
    if _offer(state, head, far, any_type=not state.open_view.schema.relations):
        warning = ", across sentences: many models do not predict such relations" if far else ""
        return Feedback(f"relate {name} to the mention with which letter?{warning}")
    name, where = named(state.open_view.surface(head)), "abstract" if far else "sentence"
    more = "" if far else f"; {key_of('relate-anywhere')} looks in the whole abstract"
    if _offer(state, head, far, any_type=True):
        words = f"The schema allows no relation of {name} in this {where}"
        return Feedback(f"{words}: all mentions are offered{more}")
    state.leave_mode()
    return problem(f"There is no mention in this {where} to relate {name} to{more}")


def _offer(state: ReviewState, head: str, far: bool, *, any_type: bool) -> bool:
    """Put letters over the mentions that a relation may lead to; gives whether there are some."""
    view = state.open_view
    found = targets(view, view.by_id[head], far=far, any_type=any_type)
    state.enter(Relating(head, far, any_type, state.jumps.over(view, found)))
    return bool(found)


def targets(
    view: DocumentView, head: EntityRow, *, far: bool, any_type: bool = False
) -> list[EntityRow]:
    """Mentions to which the schema allows a relation from the head, or from them to it."""
    sentence = view.sentence_of(head.id)
    return [
        row
        for row in view.entities
        if row.id != head.id
        and (far or view.sentence_of(row.id) == sentence)
        and (
            any_type
            or document_view.legal(view.schema, head, row)
            or document_view.legal(view.schema, row, head)
        )
    ]


def press_relate(state: ReviewState, doing: Relating, key: str, action: Bound) -> Feedback:
    """A letter over a mention, or the wish to see letters over all."""
    if key == "space":
        _offer(state, doing.head, doing.far, any_type=True)
        return Feedback("all mentions, regardless of the schema")
    found = state.press_hint(doing, key, "mention")
    return found if isinstance(found, Feedback) else ask_type(state, doing.head, str(found))


def ask_type(state: ReviewState, head: str, tail: str) -> Feedback:
    """The next key is the relation's type; where only the other direction is legal, it is taken."""
    schema = state.open_view.schema
    ends = [state.open_view.by_id.get(end) for end in (head, tail)]
    if ends[0] is None or ends[1] is None:
        state.leave_mode()
        return problem("The mention no longer exists: another window or person has changed it")
    # Who points at two mentions need not know which of them the schema wants as the head.
    if not document_view.legal(schema, ends[0], ends[1]) and document_view.legal(
        schema, ends[1], ends[0]
    ):
        head, tail = tail, head
    return _ask_type(state, head, tail)


def _ask_type(state: ReviewState, *ends: str) -> Feedback:
    state.enter(ChoosingType(*ends))
    head, tail = (named(state.open_view.surface(end), 28) for end in ends)
    return Feedback(f"{head} ─▶ {tail}: which type?")


def press_relation_type(
    state: ReviewState, relation: ChoosingType, key: str, action: Bound
) -> Feedback:
    """The type of the relation: its digit, its letter, or Enter for the best one."""
    if key == "space":
        return _ask_type(state, relation.tail, relation.head)
    if key == "enter":
        label = best_type(state, relation)
    elif action is not None and action.id.startswith("type-"):
        label = document_view.by_digit(state.open_view.schema.relation_labels, action.argument)
    else:
        label = document_view.by_letter(state.open_view.schema.relations, key)
    if label is None and not state.open_view.schema.relations:
        return Feedback(request=NEW_TYPE["relation"])
    if label is None:
        allowed = (
            ", ".join(legal_types(state, relation)) or "none; press a type twice to keep it anyway"
        )
        return problem(f"{key_label(key)} is not a relation type; allowed between these: {allowed}")
    head, tail = relation.head, relation.tail
    add = partial(state.project.actions.add_relation, state.number, head, tail, label)
    try:
        made = legally(state, ("add", head, tail, label), add)
    except IllegalPairError as error:
        return refusal(error)  # the mode stays, for the second time
    state.leave_mode()
    state.after_action(made)
    words = document_view.relation_words(state.open_view, head, label, tail)
    return Feedback(f"{words} added", changed=True)


def ask_offer(state: ReviewState, action: Action) -> Feedback:
    """Letters over the mentions to which the model considered a relation or a link, the likeliest first."""
    view, mention = state.open_view, state.take_mention()
    if mention is None:
        return problem(f"Relations of a mention are offered: {focus_one()}")
    found = find_considered(view, state.candidates, mention)[:MOST_OFFERS]
    name = named(view.surface(mention), 28)
    if not found:
        by_hand = f"{key_of('relate')} relates, {key_of('join')} links it"
        return problem(f"The model considered nothing else for {name}; {by_hand}")
    _offer_pairs(state, mention, dict(zip(LETTERS, found, strict=False)))
    return Feedback(f"add which relations or links of {name}?")


def _offer_pairs(
    state: ReviewState, mention: str, pairs: Mapping[str, Considered], added: str = ""
) -> None:
    """Put each letter over the other mention of its pair."""
    view, places = state.open_view, dict[str, int]()
    for letter, pair in pairs.items():
        place = view.by_id[pair.tail if pair.head == mention else pair.head].char_start
        while place in places.values():
            place += 1
        places[letter] = place
    hints = Hints({letter: letter for letter in places}, places)
    state.enter(Offering(mention, pairs, hints, added))


def press_offer(state: ReviewState, doing: Offering, key: str, action: Bound) -> Feedback:
    """The letter of a relation or a link, which is added, or another type for the relation that was added last."""
    if action is not None and action.id.startswith("type-"):
        return _retype(state, doing, action)
    found = state.press_hint(doing, key, "mention")
    if isinstance(found, Feedback):
        return found
    chosen, relations = doing.considered[str(found)], set(state.open_view.relation_by_id)
    state.leave_mode()
    added = _add_considered(state, chosen)
    known = find_considered(state.open_view, state.candidates, doing.mention)
    left = {letter: pair for letter, pair in doing.considered.items() if pair in known}
    made = next(iter(state.open_view.relation_by_id.keys() - relations), "")
    if left or made:
        _offer_pairs(state, doing.mention, left, made)
    more = f"; {type_keys(state.open_view.schema.relation_labels)}: another type" if made else ""
    return replace(added, message=added.message + more)


def _retype(state: ReviewState, doing: Offering, action: Action) -> Feedback:
    view, labels = state.open_view, state.open_view.schema.relation_labels
    label = document_view.by_digit(labels, action.argument)
    if label is None or doing.added not in view.relation_by_id:
        return problem(f"Letters add what is offered; then {type_keys(labels)} give another type")
    change = partial(state.project.actions.set_label, state.number, RelationRef(doing.added), label)
    try:
        state.after_action(legally(state, ("label", doing.added, label), change))
    except IllegalPairError as error:
        return refusal(error)  # the mode stays, for the second time
    words = document_view.item_words(state.open_view, RelationRef(doing.added))
    return Feedback(words, changed=True)


def goes_on(doing: Doing, key: str, action: Bound) -> bool:
    """Whether a key means at the desk what it always does, although something is offered."""
    if not isinstance(doing, Offering) or action is None or action.id.startswith("type-"):
        return False
    return key not in LETTERS[:MOST_OFFERS]


def _add_considered(state: ReviewState, chosen: Considered) -> Feedback:
    if not chosen.label:
        return _join_with(state, chosen.head, chosen.tail)
    ends = chosen.head, chosen.tail
    add = state.project.actions.add_relation
    state.after_action(add(state.number, *ends, chosen.label, seconds=state.seconds()))
    words = document_view.relation_words(state.open_view, chosen.head, chosen.label, chosen.tail)
    return Feedback(f"{words} added", changed=True)


def ask_cluster(state: ReviewState, action: Action) -> Feedback:
    """The next key is the cluster that the focused mention joins."""
    if not state.open_view.schema.coreference:
        return problem("This project's schema has no coreference")
    mention = state.take_mention()
    if mention is None:
        return problem(f"A mention joins a cluster: {focus_one()}")
    state.enter(Joining(mention))
    proposed = proposal(state, mention)
    name = named(state.open_view.surface(mention), 28)
    enter = f"Enter: {proposed.words}" if proposed else "Enter: a new one"
    return Feedback(f"{name} into which cluster? {enter}")


def press_cluster(state: ReviewState, doing: Joining, key: str, action: Bound) -> Feedback:
    """A cluster's letter; ``c`` for the last one; Enter and then a mention for a new one."""
    mention = doing.mention
    if doing.hints is not None:
        return _press_companion(state, doing, key)
    if key in ("enter", "space"):
        proposed = proposal(state, mention) if key == "enter" else None
        if proposed is None:
            return _ask_companion(state, mention)
        state.leave_mode()
        if proposed.cluster_id:
            return join(state, proposed.cluster_id, mention)
        return _make_cluster(state, mention, proposed.companion)
    wanted = state.last_cluster if key == "c" else state.letters.cluster(key, state.open_view)
    if not wanted or wanted not in state.open_view.members:
        which = "No cluster was used last" if key == "c" else f"No cluster has the letter {key}"
        return problem(f"{which}; Enter makes a new one, Esc leaves")
    state.leave_mode()
    return join(state, wanted, mention)


def join(state: ReviewState, cluster: str, mention: str = "") -> Feedback:
    """Put a mention, else the focused one, into a cluster."""
    chosen = mention or _mention(state)
    if chosen is None:
        return problem("Focus a mention first")
    state.after_action(state.project.actions.join(state.number, chosen, cluster, state.seconds()))
    state.decided(partial(join, cluster=cluster))
    state.use_cluster(cluster)
    _keep_focus(state, EntityRef(chosen))
    name, letter = named(state.open_view.surface(chosen)), state.letters.of(cluster)
    return Feedback(f"{name} is in cluster {letter}", changed=True)


def _ask_companion(state: ReviewState, mention: str) -> Feedback:
    view = state.open_view
    others = [row for row in view.entities if row.id != mention]
    if not others:
        return problem("A cluster needs a second mention, and there is none")
    state.enter(Joining(mention, state.jumps.over(view, others)))
    return Feedback("together with which mention?")


def _press_companion(state: ReviewState, doing: Joining, key: str) -> Feedback:
    found = state.press_hint(doing, key, "mention")
    if isinstance(found, Feedback):
        return found
    state.leave_mode()
    return _join_with(state, doing.mention, str(found))


def _join_with(state: ReviewState, mention: str, companion: str) -> Feedback:
    """Into the cluster of another mention, or into a new one with it."""
    home = state.open_view.homes.get(companion)
    if home and not any(
        link.entity_id == mention for link in state.open_view.members[home[0].cluster_id]
    ):
        return join(state, home[0].cluster_id, mention)
    return _make_cluster(state, mention, companion)


def _make_cluster(state: ReviewState, mention: str, companion: str) -> Feedback:
    mentions = (companion, mention)
    state.after_action(state.project.actions.new_cluster(state.number, mentions, state.seconds()))
    home = state.open_view.homes.get(mention)
    state.use_cluster(home[0].cluster_id if home else "")
    _keep_focus(state, EntityRef(mention))
    return Feedback(f"new cluster {state.letters.of(state.last_cluster)}", changed=True)


def leave(state: ReviewState, action: Bound = None) -> Feedback:
    """Take the focused mention out of its cluster."""
    mention = _mention(state)
    if mention is None:
        return problem(f"A mention leaves a cluster: {focus_one()}")
    state.after_action(state.project.actions.leave(state.number, mention, state.seconds()))
    state.decided(leave)
    _keep_focus(state, EntityRef(mention))
    return Feedback(f"{named(state.open_view.surface(mention))} is in no cluster", changed=True)


def ask_merge(state: ReviewState, action: Action) -> Feedback:
    """The next key is the cluster that joins the focused mention's one."""
    cluster = _cluster(state)
    if cluster is None:
        return problem("The focused mention is in no cluster that could be merged")
    state.enter(Merging(cluster))
    return Feedback()


def press_merge(state: ReviewState, doing: Merging, key: str, action: Bound) -> Feedback:
    """The other cluster's letter."""
    other, cluster = state.letters.cluster(key, state.open_view), doing.cluster
    if other is None:
        return problem(f"No cluster has the letter {key}; Esc leaves")
    state.leave_mode()
    state.after_action(state.project.actions.merge(state.number, cluster, other, state.seconds()))
    state.use_cluster(cluster)
    mention = state.open_view.mention_of(state.focus) or _mention(state)
    _keep_focus(state, EntityRef(mention) if mention else None)
    left = _undecided_in(state, state.open_view.members.get(cluster))
    return Feedback(f"cluster {key} is part of {state.letters.of(cluster)} now{left}", changed=True)


def _undecided_in(state: ReviewState, links: Sequence[LinkRow] | None) -> str:
    """How many mentions of the cluster of some links nobody has decided, for a message."""
    members = state.open_view.members[links[0].cluster_id] if links else []
    count = sum(link.state is State.UNDECIDED for link in members)
    return (
        f"; {counted(count, 'mention')} of it undecided: {key_of('next-undecided')}"
        if count
        else ""
    )


def split(state: ReviewState, action: Action) -> Feedback:
    """This and the later mentions of the cluster become one of their own."""
    mention, cluster = _mention(state), _cluster(state)
    if mention is None or cluster is None:
        return problem("The focused mention is in no cluster that could be split")
    state.after_action(state.project.actions.split(state.number, cluster, mention, state.seconds()))
    _keep_focus(state, EntityRef(mention))
    home = state.open_view.homes.get(mention)
    where = f"in cluster {state.letters.of(home[0].cluster_id)}" if home else "in no cluster"
    name, left = named(state.open_view.surface(mention)), _undecided_in(state, home)
    return Feedback(f"{name} is {where} now{left}", changed=True)


def step_mention(state: ReviewState, action: Action) -> Feedback:
    """The next or previous mention of the same cluster, around its ends."""
    cluster, mention = _cluster(state), _mention(state)
    if cluster is None or mention is None:
        return problem("The focused mention is in no cluster")
    ids = [link.entity_id for link in state.open_view.members[cluster]]
    step = 1 if action.id == "next-mention" else -1
    state.focus_on(EntityRef(ids[(ids.index(mention) + step) % len(ids)]))
    return Feedback()


def _mention(state: ReviewState) -> str | None:
    """The focused mention, or that of the focused link."""
    return None if isinstance(state.focus, RelationRef) else state.open_view.mention_of(state.focus)


def _cluster(state: ReviewState) -> str | None:
    if isinstance(state.focus, LinkRef) and state.open_view.row(state.focus):
        return state.focus.cluster_id
    mention = _mention(state)
    home = state.open_view.homes.get(mention) if mention else None
    return home[0].cluster_id if home else None


def _keep_focus(state: ReviewState, instead: ItemRef | None) -> None:
    """The focus stays where it is, or goes to the mention when the link is gone."""
    if state.open_view.row(state.focus) is None:
        state.focus_on(instead)
