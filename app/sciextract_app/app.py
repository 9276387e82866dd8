"""The app: opens projects, ends cleanly whatever ends it, and feeds the palette."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import SystemCommand
from textual.command import CommandPalette
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme

from sciextract.errors import SciextractError
from sciextract.store import Project, open_project
from sciextract.store.review import Sort
from sciextract.workflows.model_choice import ModelChoice
from sciextract_app import opening, terminal
from sciextract_app.review.model.queue import Order
from sciextract_app.review.view.prompts import SURE_HELP, parse_sure
from sciextract_app.review.view.screen import ReviewOptions, ReviewScreen
from sciextract_app.settings import SHELL, SHELL_IDS, load_keymap, save_theme
from sciextract_app.shared.actions import ACTIONS, BY_ID, key_of, use_keys
from sciextract_app.shared.view_models import NEW_TYPE, Feedback
from sciextract_app.start import StartScreen
from sciextract_app.suggesting.learning import StartEngine
from sciextract_app.suggesting.learning_process import LearningProcess
from sciextract_app.terminal import TerminalApp
from sciextract_app.themes import Readable, label_variables
from sciextract_app.widgets.dialogs import ErrorDialog, LineDialog, ask

if TYPE_CHECKING:
    from sciextract.workflows.annotate import Predictor


class Palette(CommandPalette):
    """Textual's palette, which may be asked for a page of commands before it has laid them out."""

    def _action_command_list(self, action: str) -> None:
        with suppress(KeyError):
            super()._action_command_list(action)


def run_desk(
    words: Sequence[str],
    *,
    schema: str | None = None,
    model: str | None = None,
    author: str | None = None,
    predict: bool = True,
) -> int:
    """Run the desk until the person leaves it; gives the exit code.

    Args:
        words: A project, or files of abstracts; nothing for the only project here or the start screen.
        schema: Label schema of a project that has to be made; that of the model when ``None``.
        model: The model that predicts; the default one when ``None``.
        author: Who works.
        predict: Whether a model predicts at all.

    Raises:
        SciextractError: The words mean nothing that can be opened.
        Exception: Whatever ended the app; terminal and project are in order then.
    """
    wanted = opening.plan(words, schema, model)
    if warning := terminal.encoding_warning(getattr(sys.__stderr__, "encoding", None) or ""):
        wanted = replace(wanted, message="; ".join(filter(None, (warning, wanted.message))))
    choice = ModelChoice(model, candidates=True)

    # Called in a thread: the connection of the open project belongs to another one.
    def load() -> Predictor:
        """The model that was named, else what the open project or the person chose."""
        return choice.load_for(app.project.path) if app.project else choice.load()

    learn = LearningProcess if predict else None
    app = DeskApp(wanted, author, load if predict else None, model, learn)
    gc.freeze()  # what is imported stays
    try:
        app.run()
    finally:
        app.close_project()
        gc.unfreeze()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0


class DeskApp(TerminalApp):
    """The review desk.

    Args:
        wanted: What to open.
        author: Who works: see :func:`sciextract.store.opening.person`.
        load: Gives the model, in a worker; ``None`` where none shall predict.
        model: The model that was named, ``None`` for the one in use.
        learn: Starts what learns from finished abstracts; ``None`` where nothing shall learn.

    Attributes:
        project: The open project, ``None`` at the start screen.
    """

    project: Project | None = None

    def __init__(
        self,
        wanted: opening.Opening,
        author: str | None = None,
        load: Callable[[], Predictor] | None = None,
        model: str | None = None,
        learn: StartEngine | None = None,
    ) -> None:
        super().__init__()
        self._wanted = wanted
        self._author = author
        self._load = load
        self._model = model
        self._learn = learn
        self._review: ReviewScreen | None = None
        self._first_theme = self.theme
        self._readable = Readable(everything=self.no_color)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours of the project's labels, which a theme may set itself."""
        project = self.project
        return label_variables(project.schema, self.current_theme) if project else {}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Those of the toolkit, and one that leaves nothing too faint to be read."""
        return [*super().get_line_filters(), self._readable]

    def get_default_screen(self) -> Screen[Any]:
        """What lies below everything: the start screen."""
        return StartScreen(_choices(), self._wanted.message)

    def on_mount(self) -> None:
        """Open what is wanted."""
        terminal.install(self.leave, self._tell_how_to_leave)
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        self.open(self._wanted)

    def open(self, wanted: opening.Opening) -> None:
        """Open a project, or say why it cannot be opened."""
        if wanted.project is None:
            return
        try:
            opening.make_project(wanted, self._author)
            # Keys wait no longer than a second: then the person is told, and may press the key again.
            self.project = open_project(wanted.project, self._author, busy_seconds=1.0)
        except SciextractError as error:
            self.push_screen(ErrorDialog("This project cannot be opened", error))
            return
        keymap = load_keymap({*BY_ID, *SHELL_IDS})
        notice = "; ".join(filter(None, (self.project.notice, wanted.message, *keymap.problems)))
        self.set_keymap({id_: keys for id_, keys in keymap.keys.items() if id_ in SHELL_IDS})
        use_keys(keymap.keys)
        brought = wanted.files, wanted.pasted, notice
        options = ReviewOptions(self._author, self._load, self._model, *brought, self._learn)
        self._review = ReviewScreen(self.project, options)
        self.get_css_variables()  # with the labels of this project
        self.push_screen(self._review)

    @on(StartScreen.Chosen)
    def _open_chosen(self, event: StartScreen.Chosen) -> None:
        try:
            match event.what:
                case None:
                    wanted = opening.Opening(opening.sample_project(self._author))
                case Path() as path:
                    wanted = opening.plan([str(path)], model=self._model)
                case text:
                    wanted = opening.pasted_project(text, model=self._model)
        except SciextractError as error:
            self.push_screen(ErrorDialog("This cannot be opened", error))
        else:
            self.open(wanted)

    async def action_start(self) -> None:
        """Leave the project for the start screen."""
        if self._review is None:
            return
        left = self._review.project.path
        self._review.stop()
        # Dialogs and other screens may lie above the desk.
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        try:
            self.close_project()
        except SciextractError as error:
            self.push_screen(ErrorDialog("This project was not closed properly", error))
        if isinstance(self.screen, StartScreen):
            self.screen.offer(_choices(), left)

    @on(ReviewScreen.SaveBeside)
    async def _save_copy(self) -> None:
        if self.project is None:
            return
        try:
            saved = self.project.save_copy()
        except SciextractError as error:
            self.push_screen(ErrorDialog("This cannot be saved", error))
            return
        await self.action_start()
        notice = f"{saved.name} is open now: sciextract merge brings it into the other file"
        self.open(opening.Opening(saved, message=notice))

    async def action_quit(self) -> None:
        """Leave; nothing has to be saved."""
        self.leave(0)

    def leave(self, code: int) -> None:
        """Stop the workers and end the app; the project is closed after the last of them."""
        if self._review is not None:
            self._review.stop()
        self.exit(return_code=code)

    def close_project(self) -> None:
        """Note the place and close the file; safe to call at any time."""
        review, project = self._review, self.project
        # First: a second call, after a signal or an error, must find nothing to close.
        self._review = self.project = None
        try:
            if review is not None:
                review.close()
        finally:
            if project is not None:
                project.close()

    def action_command_palette(self) -> None:
        """Show everything by name."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette: everything that a key does, and the theme."""
        yield SystemCommand("theme", "light, dark, high contrast", self.action_change_theme)
        yield SystemCommand("leave", _leave_words(), self.action_quit)
        if not isinstance(screen, ReviewScreen):
            return
        dialogs = screen.dialogs
        for key in SHELL:
            run = partial(screen.run_action, key.action)
            yield SystemCommand(key.description, key_of(key.id or ""), run)
        yield SystemCommand("paste abstracts", "BibTeX, RIS, plain text…", dialogs.paste)
        for kind in NEW_TYPE:
            add = partial(dialogs.labels.add, kind)
            yield SystemCommand(NEW_TYPE[kind], f"{key_of('guideline')} lists the types", add)
        words = f"{key_of('accept-above')}: the share that shall be right, and the score where nothing is promised"
        yield SystemCommand("what is sure", words, partial(self._ask_sure, screen))
        words = "pause it, or go on; the setting is kept"
        yield SystemCommand("learning on or off", words, screen.learning.toggle)
        yield SystemCommand("leave queue", "continue with all abstracts", dialogs.leave_queue)
        yield SystemCommand("messages", "earlier messages", dialogs.messages)
        for sort in Sort:
            words = f"list: {sort}"
            yield SystemCommand(words, "the order of the list", partial(screen.list_by, sort))
        for order in Order:
            words = f"undecided items by {order}"
            yield SystemCommand(
                words,
                f"items that {key_of('next-undecided')} visits",
                partial(screen.review_by, order),
            )
        for action in ACTIONS:
            if action.request != "palette":
                words = f"{key_of(action.id)}: {action.help}"
                yield SystemCommand(action.words, words, partial(screen.do, action.id))

    def _ask_sure(self, screen: ReviewScreen) -> None:
        state = screen.desk.state
        before, title = f"{state.share * 100:.0f} % {state.threshold:.2f}", "What is sure"
        dialog = LineDialog(title, before, SURE_HELP, parse_sure, replaces=True)
        ask(self, dialog, lambda text: screen.accept_from(*parse_sure(text)))

    def _keep_theme(self, theme: Theme) -> None:
        # The theme of the start is announced as well, and is nobody's choice.
        if theme.name != self._first_theme:
            self._first_theme = ""
            save_theme(theme.name)

    def _tell_how_to_leave(self) -> None:
        if self._review is not None:
            self._review.show_reply(Feedback(_leave_words()))

    def action_help_quit(self) -> None:
        """Ctrl-C ends nothing."""
        self._tell_how_to_leave()


def _leave_words() -> str:
    return f"{key_of('app.quit')} leaves; everything is saved already"


def _choices() -> list[Path]:
    """Projects to offer: those here, then those of the last times."""
    found = [*opening.nearby_projects(), *(project.path for project in opening.recent_projects())]
    return list(dict.fromkeys(path.resolve() for path in found))
