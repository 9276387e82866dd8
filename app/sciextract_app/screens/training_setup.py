"""Keys that say where and how the next training shall run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.screen import Screen

from sciextract.retraining.remote.jobs import known_hosts
from sciextract_app.dialogs.base import LineDialog, ask
from sciextract_app.dialogs.prompts import PathDialog
from sciextract_app.presenters.retraining_plan import (
    PYTHON,
    TrainingOptions,
    problem_of_epochs,
    problem_of_machine,
    read_epochs,
)
from sciextract_app.presenters.view_models import Hint

if TYPE_CHECKING:
    from sciextract_app.workers.training import RetrainingWork

_HOST = "HOST or USER@HOST as for ssh, ~/.ssh/config applies; empty for this computer. Needs a key, no password."


class TrainingSetup(Screen[None]):
    """A screen on which the next training is set up.

    Args:
        service: The trainings of the project; keeps what is chosen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "where", "this computer, or another machine", id="retrain.where"),
        Binding("d", "device", "another device", id="retrain.device"),
        Binding("p", "python", "the Python of the other machine", id="retrain.python"),
        Binding("b", "base", "a published data set, replayed in training", id="retrain.base"),
        Binding("e", "epochs", "epochs", id="retrain.epochs"),
    ]

    def __init__(self, service: RetrainingWork) -> None:
        super().__init__()
        self._service = service

    @property
    def can_set_up(self) -> bool:
        """Whether a training is planned now."""
        return self._service.watch.live is None

    def look(self) -> None:
        """Show what has changed."""

    def action_where(self) -> None:
        """Choose this computer, a machine that is known, or type one."""
        if self.can_set_up:
            self._find_hosts()

    def action_device(self) -> None:
        """Choose the next device."""
        self._set(device=self._setup.next_device)

    def action_python(self) -> None:
        """Name the Python of the other machine."""
        host = self._setup.host
        if self.can_set_up and host:
            dialog = LineDialog(
                f"Python on {host}",
                self._setup.python,
                f"a path there, such as ~/env/bin/python; empty for {PYTHON}",
                lambda typed: problem_of_machine(host, typed or PYTHON),
            )
            ask(self.app, dialog, lambda typed: self._set(python=typed or PYTHON))

    def action_base(self) -> None:
        """Choose the published set, or leave it out again."""
        if self._setup.base is not None:
            self._set(base=None)
        elif self.can_set_up:
            dialog = PathDialog("Your copy of a published data set", Path.cwd())
            ask(self.app, dialog, lambda path: self._set(base=path.resolve()))

    def action_epochs(self) -> None:
        """Type the number of epochs."""
        if self.can_set_up:
            now = self._setup.epochs
            explained = "empty for as many as the recipe says; the best one is kept"
            dialog = LineDialog("Epochs", str(now or ""), explained, problem_of_epochs)
            ask(self.app, dialog, lambda typed: self._set(epochs=read_epochs(typed)))

    @property
    def _setup(self) -> TrainingOptions:
        return self._service.setup

    def _set(self, **changes: Any) -> None:
        if self.can_set_up:
            self._service.setup = replace(self._setup, **changes)
            self.look()

    @work(thread=True, exclusive=True, group="hosts", exit_on_error=False)
    def _find_hosts(self) -> None:
        """Reads what may lie on a slow disk, then asks."""
        offered = [("", "this computer"), *((host, host) for host in known_hosts())]

        def open_dialog() -> None:
            dialog = LineDialog(
                "Where to train",
                self._setup.host,
                _HOST,
                lambda typed: problem_of_machine(typed) if typed else "",
                offered,
            )
            ask(self.app, dialog, lambda host: self._set(host=host))

        self.app.call_from_thread(open_dialog)

    def _setup_hints(self) -> tuple[Hint, ...]:
        python = (Hint("p", "Python"),) if self._setup.host else ()
        base = "base" if self._setup.base is None else "no base"
        return (
            Hint("w", "where"),
            Hint("d", "device"),
            Hint("b", base),
            Hint("e", "epochs"),
            *python,
        )
