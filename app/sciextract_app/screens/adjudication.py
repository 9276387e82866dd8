"""Deciding where others differ, with both sides in sight."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from textual import on, work
from textual.worker import get_current_worker

from sciextract.store import Project
from sciextract.workflows.other_sides import OtherSide, other_sides
from sciextract_app.dialogs.keys_here import KeysDialog
from sciextract_app.dialogs.other_side import MERGED, OtherSideDialog
from sciextract_app.messages import Counted
from sciextract_app.presenter.actions import keymap, shown_key
from sciextract_app.presenter.adjudicating.adjudication import CHOOSE, Adjudication
from sciextract_app.presenter.adjudicating.footer import help_rows
from sciextract_app.presenter.two_sides.wording import source_words
from sciextract_app.screens.two_sides import TwoSidesScreen
from sciextract_app.widgets.differences_pane import DifferencesPane
from sciextract_app.workers.counting import CountingJob

LOOK_SECONDS = 0.5
Left = Callable[[Adjudication], object]


class AdjudicationScreen(TwoSidesScreen):
    """The differences between the project and others.

    Args:
        project: The open project.
        adjudication: Decides what is shown.
        keys: Keys of the person's own choice, by action.
        left: Told when the person goes back.
    """

    def __init__(
        self, project: Project, adjudication: Adjudication, keys: Mapping[str, str], left: Left
    ) -> None:
        super().__init__(project, adjudication)
        self.adjudication = adjudication
        self._keys = keys
        self._left = left

    def on_mount(self) -> None:
        """Count what waits elsewhere, and watch the file."""
        self.set_interval(LOOK_SECONDS, self.look_for_changes)
        self.call_after_refresh(self.count)

    def look_for_changes(self) -> None:
        """Show what another process wrote; the focus stays where it is."""
        if self.adjudication.is_stale():
            self.after(self.adjudication.refresh())

    def count(self) -> None:
        """Count in the background, from the open abstract on."""
        numbers, here = self.adjudication.backlog.numbers, self.adjudication.number
        ordered = [*(n for n in numbers if n > here), *(n for n in numbers if n <= here)]
        self._count(self.adjudication.sides, ordered)

    @work(thread=True, exclusive=True, group="count", exit_on_error=False)
    def _count(self, sides: tuple[OtherSide, ...], numbers: Sequence[int]) -> None:
        worker = get_current_worker()
        CountingJob(
            *(self.project.path, sides, numbers),
            stopped=lambda: worker.is_cancelled,
            post=self.post_message,
        ).run()

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        if event.sides == self.adjudication.sides:
            self.adjudication.learn(event.counts)
            self.draw()

    @on(DifferencesPane.RowClicked)
    def _row_clicked(self, event: DifferencesPane.RowClicked) -> None:
        self.after(self.adjudication.go_to(event.index))

    def answer(self, request: str) -> None:
        """Choose another side, show the keys, or go back to the desk."""
        if request == "leave":
            self.workers.cancel_node(self)
            self.dismiss()
            self._left(self.adjudication)
        elif request == CHOOSE:
            sides = other_sides(self.project, self.adjudication.decisions)
            self.app.push_screen(side_dialog(sides), partial(self._chosen, sides))
        elif request == "help":
            self.app.push_screen(KeysDialog(help_rows(self._written())))
        else:
            super().answer(request)

    def _chosen(self, sides: Sequence[OtherSide], name: str | None) -> None:
        if name is not None:
            self.after(self.adjudication.choose(chosen(sides, name)))
            self.count()

    def _written(self) -> dict[str, str]:
        """The keys of each action, for people."""
        found: dict[str, str] = {}
        for key, action in keymap(self._keys).items():
            found[action.id] = (
                f"{found[action.id]} {shown_key(key)}" if action.id in found else shown_key(key)
            )
        return found


def side_dialog(sides: Sequence[OtherSide]) -> OtherSideDialog:
    """Ask whom to hold the project against."""
    merged = [each for each in sides if each.merged]
    choices = [(each.name, _words(each)) for each in sides]
    if len(merged) > 1:
        choices.insert(0, (MERGED, f"all {len(merged)} merged projects"))
    return OtherSideDialog(choices)


def chosen(sides: Sequence[OtherSide], name: str) -> list[OtherSide]:
    """The side of that name, or all merged ones."""
    return [each for each in sides if (each.merged if name == MERGED else each.name == name)]


def _words(side: OtherSide) -> str:
    if side.merged:
        return f"{source_words(side.name)}   merged project"
    is_model = side.name.startswith("model:")
    return source_words(side.name) if is_model else f"{source_words(side.name)}   imported file"
