"""A decision about a mention for all identical strings: of its document, and of the whole project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sciextract.documents.annotations import State
from sciextract.documents.schema import LINK
from sciextract.errors import ActionRefusedError
from sciextract.store import events
from sciextract.store.actions.editing import Edit, EntityRef
from sciextract.store.actions.places import find_occurrences
from sciextract.store.document_state import Context, DocumentState, NothingChanged, Outcome
from sciextract.store.rows import Completeness
from sciextract.store.sqlite import first_value

if TYPE_CHECKING:
    from sciextract.store.project import Project

KIND = "all identical in the project"
AT_A_TIME = 4
"""Documents a transaction: a key that decides something waits for it, so it is short."""


@dataclass(frozen=True, slots=True)
class MentionDecision:
    """What was decided about a mention.

    Attributes:
        text: Its string.
        label: Its type.
        rejected: Whether it is none.
        link: What it is linked to, empty for nothing.
    """

    text: str
    label: str
    rejected: bool
    link: str = ""

    def apply(self, doc: DocumentState, context: Context) -> None:
        """Decide the same for all identical strings of a document; where its entities are done, only what they are linked to."""
        if doc.progress is None:
            return
        edit, is_done = Edit(doc, context), doc.progress.entities is Completeness.DONE
        if not self.rejected and not is_done:
            self._label(edit)
        if self.link:
            self._link(edit)
        if not self.rejected or is_done:
            return
        for row in doc.entities:
            same = row.label == self.label and row.surface(doc.text) == self.text
            if same and row.state is State.UNDECIDED:
                edit.decide(EntityRef(row.id), accept=False)

    def _label(self, edit: Edit) -> None:
        """Every occurrence of a string is an entity of this type.

        Undecided entities on it are accepted with the type; where there is none, one is added. What a person
        or an import has decided stays, rejections too, and so do occurrences inside of other entities.
        """
        for span in find_occurrences(edit.doc, self.text):
            on_span = edit.doc.on_fragments((span,))
            undecided = [row for row in on_span if row.state is State.UNDECIDED]
            rejected = any(
                row.state is State.REJECTED and row.label == self.label for row in on_span
            )
            if rejected or any(row.in_view for row in on_span):
                continue
            # An entity that was just added stands in the way of the next occurrence, so rows are read each time.
            taken = (
                span.overlaps(fragment)
                for row in edit.doc.all_entities
                if row.state is not State.REJECTED
                for fragment in row.fragments
            )
            if undecided:
                # One that has the label already is accepted instead of edited: it counts as right.
                best = min(undecided, key=lambda row: row.label != self.label)
                edit.set_entity_label(best.id, self.label)
            elif not any(taken):
                edit.add_entity((span,), self.label)

    def _link(self, edit: Edit) -> None:
        """Every mention of this string and type means the same concept, unless a link of it is decided already."""
        for row in edit.doc.entities:
            if row.in_view and row.label == self.label and row.surface(edit.doc.text) == self.text:
                said = [one for one in edit.doc.attributes_of(row.id) if one.label == LINK]
                if all(one.state is State.UNDECIDED for one in said):
                    edit.set_attribute(row.id, LINK, self.link)


@dataclass(frozen=True, slots=True)
class Count:
    """What spreading a decision would change, as far as it has been looked at.

    Attributes:
        decided: The decision.
        looked: Documents that were looked at.
        total: Documents that have the string.
        numbers: Those of them that would change.
        items: Items that would change.
    """

    decided: MentionDecision
    looked: int
    total: int
    numbers: tuple[int, ...] = ()
    items: int = 0


def decision_about(project: Project, number: int, entity_id: str) -> MentionDecision:
    """What holds for a mention now.

    Raises:
        ActionRefusedError: It is not there (any more).
    """
    edit = Edit(project.document_state(number), project.context(0))
    row = edit.entity(entity_id)
    said = [one for one in edit.doc.attributes_of(entity_id) if one.label == LINK and one.in_view]
    link = said[0].value if said else ""
    rejected = row.state is State.REJECTED
    return MentionDecision(row.surface(edit.doc.text), row.label, rejected, link)


def counting(project: Project, number: int, entity_id: str) -> Iterator[Count]:
    """Look at one document after the other; nothing is written. The last count is the whole one.

    Raises:
        ActionRefusedError: The mention is not there (any more).
        KeyError: The document is not.
    """
    decided = decision_about(project, number, entity_id)
    wanted = project.documents_with(decided.text)
    context = Context(0, project.author_id, project.schema, lambda name: 0)
    counts: list[int] = []
    yield Count(decided, 0, len(wanted))
    for looked, candidate in enumerate(wanted, start=1):
        doc = project.document_state(candidate)
        decided.apply(doc, context)
        if doc.changes():
            counts.append(candidate)
        last = looked == len(wanted)
        yield Count(decided, looked, len(wanted), tuple(counts) if last else (), context.items)


def spreading(project: Project, number: int, entity_id: str, count: Count) -> Iterator[Outcome]:
    """Do what was counted; gives what is done so far after every few documents.

    A dated backup comes first.

    Raises:
        ActionRefusedError: Something else has been decided about the mention since it was counted, or what was
            done already has been taken back; then the rest is not done.
        ProjectError: The project cannot be written; what was done before is in it.
    """
    if decision_about(project, number, entity_id) != count.decided:
        raise ActionRefusedError(
            f"{count.decided.text!r} has changed since this was counted", "count it again"
        )
    project.backup(KIND)
    done = Outcome(None, 0, 0)
    for start in range(0, len(count.numbers), AT_A_TIME):
        done = _spread(project, count.decided, count.numbers[start : start + AT_A_TIME], done)
        yield done


def _spread(
    project: Project, decided: MentionDecision, numbers: tuple[int, ...], done: Outcome
) -> Outcome:
    """Some more documents in one transaction, under the event of the first ones."""
    try:
        with project.writing() as connection:
            event_id = done.event_id or events.append(
                connection, project.author_id, KIND, asdict(decided)
            )
            if first_value(connection, "SELECT 1 FROM event WHERE target = ? LIMIT 1", event_id):
                raise ActionRefusedError("it was undone in the meantime, so the rest is skipped")
            context = project.context(event_id)
            changed = sum(project.work_on(document, decided.apply, context) for document in numbers)
            if not changed and done.event_id is None:
                raise NothingChanged
    except NothingChanged:
        return done
    return Outcome(event_id, done.documents + changed, done.items + context.items)
