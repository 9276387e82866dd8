"""Keys that make relations."""

from __future__ import annotations

from sciextract.store.state.rows import EntityRow
from sciextract_app.presenter import labels
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.hints import Hints, give_hints
from sciextract_app.presenter.scene import Scene
from sciextract_app.presenter.shown import Feedback, Mode
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import named, problem


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
        and (labels.legal(scene.schema, head, row) or labels.legal(scene.schema, row, head))
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
    if not labels.legal(desk.here.schema, ends[0], ends[1]):
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
    return labels.legal(desk.here.schema, head, tail) if head and tail else ()


def best_type(desk: Situation) -> str | None:
    """The type that Enter takes."""
    by_id = desk.here.by_id
    head, tail = by_id.get(desk.pending.head), by_id.get(desk.pending.tail)
    if head is None or tail is None:
        return None
    return labels.best_relation(desk.candidates, head, tail, legal_types(desk))


def press_relation_type(desk: Situation, key: str, action: Action | None) -> Feedback:
    """The type of the relation: its digit, its letter, or Enter for the best one."""
    if key == "space":
        return ask_type(desk, desk.pending.tail, desk.pending.head)
    if key == "enter":
        label = best_type(desk)
    elif action is not None and action.id.startswith("type-"):
        label = labels.by_digit(desk.here.schema.relation_labels, action.argument)
    else:
        label = labels.by_letter(desk.here.schema.relations, key)
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
