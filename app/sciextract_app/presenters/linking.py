"""Keys that make relations and clusters."""

from __future__ import annotations

from functools import partial

from sciextract.store.actions.api import EntityRef, ItemRef, LinkRef, RelationRef
from sciextract.store.rows import EntityRow
from sciextract_app.presenters import document_view
from sciextract_app.presenters.actions import Action
from sciextract_app.presenters.document_view import Scene
from sciextract_app.presenters.state import Hints, Situation, give_hints
from sciextract_app.presenters.view_models import Feedback, Mode, named, problem


def relate(desk: Situation, action: Action) -> Feedback:
    """Letters over the mentions that the focus may be related to."""
    scene, head = desk.here, desk.here.mention_of(desk.focus)
    if head is None:
        return problem("r relates the focused mention: put the focus on one")
    far = action.id == "relate-anywhere"
    found = targets(scene, scene.by_id[head], far=far)
    if not found:
        where = "this abstract" if far else "this sentence"
        more = "" if far else "; R looks in the whole abstract"
        name = named(scene.surface(head))
        return problem(f"No mention in {where} can be related to {name}{more}")
    desk.leave_mode()
    desk.mode, desk.pending.head, desk.pending.far = Mode.RELATE, head, far
    desk.pending.hints = give_hints((row.id, row.char_start) for row in found)
    return Feedback("over sentence borders: many models leave such relations out" if far else "")


def targets(scene: Scene, head: EntityRow, *, far: bool) -> list[EntityRow]:
    """Mentions to which the schema allows a relation from the head, or from them to it; nearest first."""
    sentence = _sentence(scene, head)
    found = [
        row
        for row in scene.entities
        if row.id != head.id
        and (far or _sentence(scene, row) == sentence)
        and (
            document_view.legal(scene.schema, head, row)
            or document_view.legal(scene.schema, row, head)
        )
    ]
    return sorted(found, key=lambda row: abs(row.char_start - head.char_start))


def _sentence(scene: Scene, row: EntityRow) -> int:
    return scene.tokens.sentence_of(scene.token_at(row.char_start))


def press_relate(desk: Situation, key: str) -> Feedback:
    """A letter over a mention."""
    found = desk.pending.hints.press(key) if desk.pending.hints else None
    if found is None:
        return problem(f"No mention has the letter {key}; Esc leaves")
    if isinstance(found, Hints):
        desk.pending.hints = found
        return Feedback()
    return ask_type(desk, desk.pending.head, str(found))


def ask_type(desk: Situation, head: str, tail: str) -> Feedback:
    """The next key is the relation's type; where only the other direction is legal, it is taken."""
    ends = [desk.here.by_id.get(each) for each in (head, tail)]
    if ends[0] is None or ends[1] is None:
        desk.leave_mode()
        return problem("The mention is gone: another window or person has changed it")
    if not document_view.legal(desk.here.schema, ends[0], ends[1]):
        head, tail = tail, head
    desk.pending.hints = None
    desk.mode, desk.pending.head, desk.pending.tail = Mode.RELATE_TYPE, head, tail
    return Feedback(relation_question(desk))


def relation_question(desk: Situation) -> str:
    """What is about to be made."""
    head, tail = desk.here.surface(desk.pending.head), desk.here.surface(desk.pending.tail)
    best = best_type(desk)
    more = f" Enter: {best}." if best else ""
    return f"{named(head, 28)} ─▶ {named(tail, 28)}: type?{more} Space turns it around"


def legal_types(desk: Situation) -> tuple[str, ...]:
    """Types that the relation to be may have."""
    by_id = desk.here.by_id
    head, tail = by_id.get(desk.pending.head), by_id.get(desk.pending.tail)
    return document_view.legal(desk.here.schema, head, tail) if head and tail else ()


def best_type(desk: Situation) -> str | None:
    """The type that Enter takes."""
    by_id = desk.here.by_id
    head, tail = by_id.get(desk.pending.head), by_id.get(desk.pending.tail)
    if head is None or tail is None:
        return None
    return document_view.best_relation(desk.candidates, head, tail, legal_types(desk))


def press_relation_type(desk: Situation, key: str, action: Action | None) -> Feedback:
    """The type of the relation: its digit, its letter, or Enter for the best one."""
    if key == "space":
        return ask_type(desk, desk.pending.tail, desk.pending.head)
    if key == "enter":
        label = best_type(desk)
    elif action is not None and action.id.startswith("type-"):
        label = document_view.by_digit(desk.here.schema.relation_labels, action.argument)
    else:
        label = document_view.by_letter(desk.here.schema.relations, key)
    allowed = legal_types(desk)
    if label is None or label not in allowed:
        return problem(f"Not allowed between these types; allowed: {', '.join(allowed) or 'none'}")
    return _add(desk, label)


def _add(desk: Situation, label: str) -> Feedback:
    head, tail = desk.pending.head, desk.pending.tail
    desk.leave_mode()
    made = desk.project.actions.add_relation(desk.number, head, tail, label, desk.seconds())
    desk.after_action(made)
    surfaces = named(desk.here.surface(head), 28), named(desk.here.surface(tail), 28)
    return Feedback(f"{surfaces[0]} {label} ─▶ {surfaces[1]}", changed=True)


def ask_cluster(desk: Situation, action: Action) -> Feedback:
    """The next key is the cluster that the focused mention joins."""
    if not desk.here.schema.coreference:
        return problem("This project's schema has no coreference")
    mention = _mention(desk)
    if mention is None:
        return problem("c puts a mention into a cluster: put the focus on one")
    desk.leave_mode()
    desk.mode, desk.pending.head = Mode.CLUSTER, mention
    return Feedback()


def press_cluster(desk: Situation, key: str) -> Feedback:
    """A cluster's letter; ``c`` for the last one; Enter and then a mention for a new one."""
    if desk.pending.hints is not None:
        return _press_companion(desk, key)
    if key == "enter":
        return _ask_companion(desk)
    wanted = desk.last_cluster if key == "c" else desk.letters.cluster(key, desk.here)
    if not wanted or wanted not in desk.here.members:
        which = "No cluster was used last" if key == "c" else f"No cluster has the letter {key}"
        return problem(f"{which}; Enter makes a new one, Esc leaves")
    mention = desk.pending.head
    desk.leave_mode()
    return join(desk, wanted, mention)


def join(desk: Situation, cluster: str, mention: str = "") -> Feedback:
    """Put a mention, else the focused one, into a cluster."""
    chosen = mention or _mention(desk)
    if chosen is None:
        return problem("Put the focus on a mention")
    desk.after_action(desk.project.actions.join(desk.number, chosen, cluster, desk.seconds()))
    desk.repeat, desk.last_cluster = partial(join, cluster=cluster), cluster
    _keep_focus(desk, EntityRef(chosen))
    return Feedback(
        f"{named(desk.here.surface(chosen))} is in cluster {desk.letters.of(cluster)}", changed=True
    )


def _ask_companion(desk: Situation) -> Feedback:
    scene, here = desk.here, desk.here.place(desk.pending.head)[0]
    others = [row for row in scene.entities if row.id != desk.pending.head]
    if not others:
        return problem("A cluster needs a second mention, and there is none")
    others.sort(key=lambda row: abs(row.char_start - here))
    desk.pending.hints = give_hints((row.id, row.char_start) for row in others)
    return Feedback("together with which mention?")


def _press_companion(desk: Situation, key: str) -> Feedback:
    found = desk.pending.hints.press(key) if desk.pending.hints else None
    if found is None:
        return problem(f"No mention has the letter {key}; Esc leaves")
    if isinstance(found, Hints):
        desk.pending.hints = found
        return Feedback()
    mention, companion = desk.pending.head, str(found)
    desk.leave_mode()
    home = desk.here.homes.get(companion)
    if home and not any(
        link.entity_id == mention for link in desk.here.members[home[0].cluster_id]
    ):
        return join(desk, home[0].cluster_id, mention)
    return _make_cluster(desk, mention, companion)


def _make_cluster(desk: Situation, mention: str, companion: str) -> Feedback:
    mentions = (companion, mention)
    desk.after_action(desk.project.actions.new_cluster(desk.number, mentions, desk.seconds()))
    home = desk.here.homes.get(mention)
    desk.last_cluster = home[0].cluster_id if home else ""
    _keep_focus(desk, EntityRef(mention))
    return Feedback(f"new cluster {desk.letters.of(desk.last_cluster)}", changed=True)


def leave(desk: Situation, action: Action | None = None) -> Feedback:
    """Take the focused mention out of its cluster."""
    mention = _mention(desk)
    if mention is None:
        return problem("C takes a mention out of its cluster: put the focus on one")
    desk.after_action(desk.project.actions.leave(desk.number, mention, desk.seconds()))
    desk.repeat = leave
    _keep_focus(desk, EntityRef(mention))
    return Feedback(f"{named(desk.here.surface(mention))} is in no cluster", changed=True)


def ask_merge(desk: Situation, action: Action) -> Feedback:
    """The next key is the cluster that joins the focused mention's one."""
    cluster = _cluster(desk)
    if cluster is None:
        return problem("m merges the cluster of the focused mention: it is in none")
    desk.leave_mode()
    desk.mode, desk.pending.head = Mode.MERGE, cluster
    return Feedback()


def press_merge(desk: Situation, key: str) -> Feedback:
    """The other cluster's letter."""
    other, cluster = desk.letters.cluster(key, desk.here), desk.pending.head
    if other is None:
        return problem(f"No cluster has the letter {key}; Esc leaves")
    desk.leave_mode()
    desk.after_action(desk.project.actions.merge(desk.number, cluster, other, desk.seconds()))
    desk.last_cluster = cluster
    mention = desk.here.mention_of(desk.focus) or _mention(desk)
    _keep_focus(desk, EntityRef(mention) if mention else None)
    return Feedback(f"cluster {key} is part of {desk.letters.of(cluster)} now", changed=True)


def split(desk: Situation, action: Action) -> Feedback:
    """This and the later mentions of the cluster become one of their own."""
    mention, cluster = _mention(desk), _cluster(desk)
    if mention is None or cluster is None:
        return problem("X splits the cluster of the focused mention: it is in none")
    desk.after_action(desk.project.actions.split(desk.number, cluster, mention, desk.seconds()))
    _keep_focus(desk, EntityRef(mention))
    home = desk.here.homes.get(mention)
    where = f"in cluster {desk.letters.of(home[0].cluster_id)}" if home else "in no cluster"
    return Feedback(f"{named(desk.here.surface(mention))} is {where} now", changed=True)


def step_mention(desk: Situation, action: Action) -> Feedback:
    """The next or previous mention of the same cluster, around its ends."""
    cluster, mention = _cluster(desk), _mention(desk)
    if cluster is None or mention is None:
        return problem("o walks the cluster of the focused mention: it is in none")
    ids = [link.entity_id for link in desk.here.members[cluster]]
    step = 1 if action.id == "next-mention" else -1
    desk.look_at(EntityRef(ids[(ids.index(mention) + step) % len(ids)]))
    return Feedback()


def _mention(desk: Situation) -> str | None:
    """The focused mention, or that of the focused link."""
    return None if isinstance(desk.focus, RelationRef) else desk.here.mention_of(desk.focus)


def _cluster(desk: Situation) -> str | None:
    if isinstance(desk.focus, LinkRef) and desk.here.row(desk.focus):
        return desk.focus.cluster_id
    mention = _mention(desk)
    home = desk.here.homes.get(mention) if mention else None
    return home[0].cluster_id if home else None


def _keep_focus(desk: Situation, instead: ItemRef | None) -> None:
    """The focus stays where it is, or goes to the mention when the link is gone."""
    if desk.here.row(desk.focus) is None:
        desk.look_at(instead)
