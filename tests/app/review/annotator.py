"""A person of a script: looks at what the desk shows, knows what is right, presses keys and counts them."""

from __future__ import annotations

from sciextract.documents.annotations import State
from sciextract.store import EntityRef, EntityRow, LinkRef, RelationRef, RelationRow
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.modes import ChoosingType
from sciextract_app.shared.document_view import DocumentView
from tests.app.review.abstracts import SCIERC, SYMMETRIC, Said

_ENTITY_DIGIT = {label: str(place) for place, label in enumerate(SCIERC.entity_labels, start=1)}
_RELATION_DIGIT = {label: str(place) for place, label in enumerate(SCIERC.relation_labels, start=1)}


class Annotator:
    """Corrects the open abstract to what is right, through keys alone.

    Args:
        desk: The desk.
        right: What is right.

    Attributes:
        keys: What was pressed.
        travel: How many of them neither decided nor pointed: jumps to mentions, and relations to turn around.
    """

    def __init__(self, desk: Desk, right: Said) -> None:
        self.desk = desk
        self.right = right
        self.keys: list[str] = []
        self.travel = 0

    def press(self, *keys: str) -> None:
        for key in keys:
            feedback = self.desk.press(key)
            assert not feedback.problem, f"{key}: {feedback.message}"
            self.keys.append(key)

    @property
    def view(self) -> DocumentView:
        return self.desk.state.open_view

    def work(self) -> int:
        """All of it; returns the number of keys."""
        while self.desk.waiting:
            self._decide()
        for name in self.right.entities:
            self._add_missing(name)
        for name in self.right.entities:
            self._join(name)
        for name in self.right.entities:
            self._relate(name, there=False)
        self.press("D")
        return len(self.keys)

    def _decide(self) -> None:
        focus = self.desk.focus
        if isinstance(focus, EntityRef):
            self._decide_entity(self.view.by_id[focus.id])
        elif isinstance(focus, RelationRef):
            self._decide_relation(self.view.relation_by_id[focus.id])
        else:
            assert isinstance(focus, LinkRef)
            self._decide_link(focus)

    def _decide_entity(self, row: EntityRow) -> None:
        name = self._meant(row)
        if name is None:
            self.press("x")
            return
        self._fix_edges(name, row.id)
        row = self.view.by_id[row.id]
        if row.label != self.right.entities[name].label:
            self.press(_ENTITY_DIGIT[self.right.entities[name].label])
            if self.desk.focus != EntityRef(row.id):
                return
        self._join(name)
        self._relate(name, there=True)
        self.press("enter")

    def _fix_edges(self, name: str, entity_id: str) -> None:
        for _ in range(9):
            row, wanted = self.view.by_id[entity_id], self.right.entities[name].span
            if row.char_start != wanted.char_start:
                self.press("s" if row.char_start > wanted.char_start else "S")
            elif row.char_end != wanted.char_end:
                self.press("e" if row.char_end < wanted.char_end else "E")

    def _decide_relation(self, row: RelationRow) -> None:
        head, tail = (self._name(end) for end in (row.head, row.tail))
        wanted = self._label(head, tail)
        turned = self._label(tail, head)
        if wanted is None and turned is None:
            self.press("x")
        elif wanted is None:
            self.press("i", *(() if turned == row.label else (_RELATION_DIGIT[turned or ""],)))
        elif wanted != row.label:
            self.press(_RELATION_DIGIT[wanted])
        else:
            self.press("enter")

    def _decide_link(self, link: LinkRef) -> None:
        names = [self._name(member.entity_id) for member in self.view.members[link.cluster_id]]
        mine, first = self._name(link.entity_id), names[0]
        together = any({mine, first} <= set(cluster.mentions) for cluster in self.right.clusters)
        self.press("enter" if together else "x")

    def _label(self, head: str | None, tail: str | None) -> str | None:
        for relation in self.right.relations:
            ends = (relation.head, relation.tail)
            if ends == (head, tail) or (relation.label in SYMMETRIC and ends == (tail, head)):
                return relation.label
        return None

    def _meant(self, row: EntityRow) -> str | None:
        """The mention that a prediction is or nearly is."""
        for name, entity in self.right.entities.items():
            if any(entity.span.overlaps(fragment) for fragment in row.fragments):
                return None if self._found(name) not in (None, row.id) else name
        return None

    def _name(self, entity_id: str) -> str | None:
        row = self.view.by_id.get(entity_id)
        return self._meant(row) if row else None

    def _found(self, name: str) -> str | None:
        """The mention that is exactly right."""
        entity = self.right.entities[name]
        same = self.view.document.on_fragments(entity.fragments)
        live = [row for row in same if row.label == entity.label and row.state != State.REJECTED]
        return live[0].id if live else None

    def _add_missing(self, name: str) -> None:
        if self._found(name) is not None:
            return
        wanted = self.right.entities[name]
        self._jump(wanted.span.char_start)
        self.press(_ENTITY_DIGIT[wanted.label])
        focus = self.desk.focus
        assert isinstance(focus, EntityRef)
        self._fix_edges(name, focus.id)
        self._join(name)
        self._relate(name, there=True)

    def _jump(self, char: int) -> None:
        if self.desk.passage().cursor[0] != char:
            self.press("f")
            self._hint(char)

    def _hint(self, char: int) -> None:
        self.press(*self.desk.passage().hints[char])

    def _focus(self, name: str) -> None:
        wanted = self._found(name)
        if self.desk.focus != EntityRef(wanted or ""):
            before = len(self.keys)
            self._jump(self.right.entities[name].span.char_start)
            self.travel += len(self.keys) - before
        assert self.desk.focus == EntityRef(wanted or "")

    def _join(self, name: str) -> None:
        """Into the cluster of its mates, or into a new one with one of them."""
        mates = next((c.mentions for c in self.right.clusters if name in c.mentions), ())
        mine = self._found(name)
        others = [found for mate in mates if mate != name and (found := self._found(mate))]
        if mine is None or mine in self.view.homes or not others:
            return
        homes = [home[0] for other in others if (home := self.view.homes.get(other))]
        self._focus(name)
        if homes:
            self.press("c", self.desk.state.letters.of(homes[0].cluster_id))
        else:
            self.press("c", "enter")
            if self.desk.state.doing.hints is None:
                return  # Enter has taken the mention with the same string
            self._hint(self.view.by_id[others[0]].char_start)

    def _relate(self, name: str, *, there: bool) -> None:
        """Relations that are missing and that have both their mentions by now."""
        for relation in self.right.relations:
            ends = (self._found(relation.head), self._found(relation.tail))
            if (
                name not in ((relation.head, relation.tail) if there else (relation.head,))
                or None in ends
            ):
                continue
            if not self._has(ends[0] or "", ends[1] or ""):
                self._add_relation(relation.head, relation.tail, relation.label, name)

    def _has(self, head: str, tail: str) -> bool:
        rows = self.view.relations_of.get(head, [])
        return any({row.head, row.tail} == {head, tail} for row in rows)

    def _add_relation(self, head: str, tail: str, label: str, at: str) -> None:
        self._focus(at)
        other = tail if at == head else head
        self.press("r")
        self._hint(self.right.entities[other].span.char_start)
        relation = self.desk.state.doing
        assert isinstance(relation, ChoosingType)
        if relation.head != self._found(head) and label not in SYMMETRIC:
            self.press("space")
            self.travel += 1
        best = self.desk.footer()[0]
        self.press("enter" if best.words == label else _RELATION_DIGIT[label])
