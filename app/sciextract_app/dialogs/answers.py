"""What the app does when the desk asks for it: which dialog, and what becomes of its result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciextract.store.looking.search import Query
from sciextract_app.dialogs.guideline import GuidelineDialog
from sciextract_app.dialogs.help import HelpDialog
from sciextract_app.dialogs.note import NoteDialog
from sciextract_app.dialogs.path import PathDialog
from sciextract_app.dialogs.search import SearchDialog
from sciextract_app.presenter.shown import Feedback

if TYPE_CHECKING:
    from textual.app import App

    from sciextract_app.screens.working import WorkingDesk


def answer(screen: WorkingDesk, request: str) -> None:
    """Do what the desk asks for; a wish that nothing fulfils is told."""
    found = _ANSWERS.get(request)
    if found is None:
        screen.tell(Feedback(f"{request} is not available here", problem=True))
    else:
        found(screen)


def ask_files(app: App[Any], then: Callable[[Path], object]) -> None:
    """Ask for a file or folder to import."""

    def chosen(path: Path | None) -> None:
        if path is not None:
            then(path)

    app.push_screen(PathDialog("Import abstracts", Path.cwd()), chosen)


def _help(screen: WorkingDesk) -> None:
    screen.app.push_screen(HelpDialog(screen.keys))


def _palette(screen: WorkingDesk) -> None:
    screen.app.action_command_palette()


def _quit(screen: WorkingDesk) -> None:
    screen.app.call_later(screen.app.action_quit)


def _guideline(screen: WorkingDesk) -> None:
    schema = screen.project.schema
    screen.app.push_screen(GuidelineDialog((*schema.entities, *schema.relations)))


def _note(screen: WorkingDesk) -> None:
    number = screen.desk.number
    progress = screen.project.draft(number).progress if number else None
    if progress is None:
        return

    def keep(text: str | None) -> None:
        if text is not None:
            screen.after(screen.desk.set_note(text))

    screen.app.push_screen(NoteDialog(progress.note), keep)


def _search(screen: WorkingDesk) -> None:
    schema = screen.project.schema
    labels = (*schema.entity_labels, *schema.relation_labels)

    def look(found: tuple[str, Query] | None) -> None:
        if found is not None:
            screen.search(*found)

    screen.app.push_screen(SearchDialog(screen.searched, labels), look)


_ANSWERS: dict[str, Callable[[WorkingDesk], None]] = {
    "help": _help,
    "palette": _palette,
    "quit": _quit,
    "guideline": _guideline,
    "note": _note,
    "search": _search,
}
