"""The types of the schema at the desk: to read, add, rename, merge, split, remove, move, colour and describe them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from sciextract.documents.schema import AttributeType
from sciextract.errors import SciextractError, as_command
from sciextract.store import Outcome, Project, label_changes, open_project, type_changes
from sciextract.store.label_changes import Kind
from sciextract.store.project_settings import COLOURS
from sciextract.store.queries import queue_lengths
from sciextract.text.english import counted
from sciextract_app.shared.actions import undo_hint
from sciextract_app.shared.jobs import Job, error_line
from sciextract_app.shared.view_models import Feedback, problem
from sciextract_app.widgets.dialogs import ChoiceDialog, LineDialog, QuestionDialog, ask
from sciextract_app.widgets.help import GuidelineDialog

if TYPE_CHECKING:
    from sciextract_app.review.view.screen import ReviewScreen

_NEW: dict[str, Kind] = {"n": "entity", "N": "relation"}
_STEPS = {"J": 1, "K": -1}
_KEYS = "n N new  r rename  m merge  s split  x remove  J K move  c colour  d describe"

_RENAMED = (
    "It is renamed in all abstracts, in one step of undo. Decisions stay, and models that know the old name predict "
    "the new one."
)
_SPLIT = (
    "The new types, with commas between. They stand behind the others, and a queue opens of the abstracts with items "
    "of the old one, to give them theirs. It stays until you remove it."
)
_REMOVED = (
    "Its items go from all abstracts, with the relations and places in clusters of mentions, in one step of undo; the "
    "log keeps them."
)


class LabelsDialog(GuidelineDialog[tuple[str, int]]):
    """Gives the key of what shall be done, and the place of the type."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"wish('{key}')", show=False) for key in "nNrmsxJKcd"
    ]

    def action_wish(self, key: str) -> None:
        """Have it done to the type under the cursor; new types need none."""
        place = next((options.highlighted for options in self.query(OptionList)), None)
        if place is not None or key in _NEW:
            self.dismiss((key, place or 0))


class LabelEditor:
    """Asks what to change about the types, and changes it.

    Args:
        screen: The review screen, which shows what becomes of it.
    """

    def __init__(self, screen: ReviewScreen) -> None:
        self._screen = screen

    def open(self, at: int = 0) -> None:
        """Show the types, one of them first."""
        dialog = LabelsDialog(self._screen.project.schema, at, _KEYS)
        ask(self._screen.app, dialog, lambda wish: self._ask(*wish))

    def add(self, kind: Kind, then: Callable[[], object] | None = None) -> None:
        """Ask for the name of a new type, and add it.

        Args:
            kind: Whether it is for mentions or for relations.
            then: What to do afterwards; ``None`` to show the types.
        """
        schema = self._screen.project.schema
        at = len(schema.entities) + (len(schema.relations) if kind == "relation" else 0)

        def add(name: str) -> None:
            self._change(partial(label_changes.add_type, kind=kind, label=name), at, then)
            if done := self._screen.desk.totals.done:
                command = as_command("sciextract", "queue", "make", "--missing", name)
                words = f"{counted(done, 'abstract')} finished before {name}: {command}"
                self._screen.show_notice(Feedback(words))

        self._ask_name(f"New {kind} type", "", "Its name in files and models", kind, add)

    def _ask(self, key: str, place: int) -> None:
        if key in _NEW:
            self.add(_NEW[key])
            return
        schema = self._screen.project.schema
        kind: Kind = "entity" if place < len(schema.entities) else "relation"
        if place >= len(schema.types):
            kind = "attribute"
        changed = (*schema.types, *schema.attributes)[place]
        if isinstance(changed, AttributeType) and key in "sc":
            words = f"{changed.label} is an attribute: it has no colour, and its values come from a schema file"
            self._screen.show_notice(problem(words))
            return

        def change(name: str, value: str) -> None:
            self._change(
                lambda project: label_changes.change_type(
                    project, kind, changed.label, name, value
                ),
                place,
            )

        old, work, app = changed.label, self._work, self._screen.app
        match key:
            case "J" | "K":
                step = _STEPS[key]
                move = partial(label_changes.move_type, kind=kind, label=old, steps=step)
                first = {"entity": 0, "relation": len(schema.entities)}.get(kind, len(schema.types))
                last = first + len(label_changes.types_of(schema, kind)) - 1
                self._change(move, max(first, min(place + step, last)))
            case "r":
                rename = partial(label_changes.rename_type, kind=kind, old=old)
                renamed = lambda new: work(f"{old} is {new} now", partial(rename, new=new))
                self._ask_name(f"Rename {old}", old, _RENAMED, kind, renamed)
            case "m":
                labels = [known.label for known in label_changes.types_of(schema, kind)]
                others = [(label, label) for label in labels if label != old]
                merge = partial(type_changes.merge_types, kind=kind, old=old)
                merged = lambda new: work(f"{old} is part of {new} now", partial(merge, new=new))
                hint = "its items get this type, in one step of undo; Esc back"
                ask(app, ChoiceDialog(f"Merge {old} into", hint, others), merged)
            case "s":
                ask(app, LineDialog(f"Split {old}", "", _SPLIT), partial(self._split, kind, old))
            case "x":
                remove = partial(type_changes.remove_type, kind=kind, label=old)
                removed = lambda _: work(f"{old} is removed", remove)
                ask(app, QuestionDialog(f"Remove {old}?", _REMOVED, "removes it"), removed)
            case "c" if not isinstance(changed, AttributeType):
                offered = [(colour, Text(f"■ {colour}", colour)) for colour in COLOURS]
                dialog = LineDialog("Colour", changed.colour, "#rrggbb", offered=offered)
                ask(app, dialog, partial(change, "colour"))
            case "d":
                dialog = LineDialog(old, changed.definition, "What counts as one")
                ask(app, dialog, partial(change, "definition"))

    def _ask_name(
        self, title: str, name: str, explained: str, kind: Kind, then: Callable[[str], object]
    ) -> None:
        check = partial(label_changes.check_name, self._screen.project.schema, kind)
        ask(self._screen.app, LineDialog(title, name, explained, check), then)

    def _change(
        self,
        change: Callable[[Project], Outcome],
        at: int,
        then: Callable[[], object] | None = None,
    ) -> None:
        feedback = self._screen.desk.change_labels(change)
        self._screen.show_result(feedback)
        if not feedback.problem:
            (then or partial(self.open, at))()

    def _split(self, kind: Kind, old: str, typed: str) -> None:
        parts = [part.strip() for part in typed.split(",")]

        def split(project: Project) -> Outcome:
            return type_changes.split_type(project, kind, old, parts)[0]

        def follow() -> None:
            if f"split {old}" in queue_lengths(self._screen.project):
                self._screen.dialogs.start_queue(f"split {old}")

        self._work(f"{old} can be {' or '.join(parts)}", split, follow)

    def _work(
        self, done: str, change: Callable[[Project], Outcome], then: Callable[[], object] = list
    ) -> None:
        """Change types with their items in the background: a large project has a hundred thousand mentions of a type."""
        screen, path = self._screen, self._screen.project.path
        author = screen.project.author.removeprefix("person:")

        def work(job: Job) -> None:
            with open_project(path, author) as project:
                job.call(tell_changed, change(project))

        def tell_changed(outcome: Outcome) -> None:
            screen.poll_changes()
            where = f"{counted(outcome.items, 'item')} of {counted(outcome.documents, 'abstract')}"
            screen.show_notice(Feedback(f"{done}, in {where}; {undo_hint()}"))
            then()

        def show_error(error: SciextractError) -> None:
            screen.show_notice(problem(f"types not changed: {error_line(error)}"))

        screen.show_notice(Feedback("changing types"), passing=True)
        screen.run_job("the change of labels", work, show_error)
