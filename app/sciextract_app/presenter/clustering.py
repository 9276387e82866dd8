"""Keys that say which mentions mean the same thing."""

from __future__ import annotations

from functools import partial

from sciextract.store.actions.api import EntityRef, ItemRef, LinkRef, RelationRef
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.hints import Hints, give_hints
from sciextract_app.presenter.shown import Feedback, Mode
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import named, problem


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
