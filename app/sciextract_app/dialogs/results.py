"""What the app does when the desk asks for it: which dialog, and what becomes of its result.

Dialogs are imported when they are asked for: the first abstract is on the screen before any of them is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciextract_app.presenters import bulk
from sciextract_app.presenters.view_models import Feedback

if TYPE_CHECKING:
    from textual.app import App

    from sciextract.store.search import Query
    from sciextract.workflows.disagreements import OtherSide
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
    from sciextract_app.dialogs.prompts import PathDialog

    def chosen(path: Path | None) -> None:
        if path is not None:
            then(path)

    app.push_screen(PathDialog("Import abstracts", Path.cwd()), chosen)


def _help(screen: WorkingDesk) -> None:
    from sciextract_app.dialogs.pages import HelpDialog

    screen.app.push_screen(HelpDialog(screen.keys))


def _palette(screen: WorkingDesk) -> None:
    screen.app.action_command_palette()


def _quit(screen: WorkingDesk) -> None:
    screen.app.call_later(screen.app.action_quit)


def _guideline(screen: WorkingDesk) -> None:
    from sciextract_app.dialogs.pages import GuidelineDialog

    schema = screen.project.schema
    screen.app.push_screen(GuidelineDialog((*schema.entities, *schema.relations)))


def _note(screen: WorkingDesk) -> None:
    from sciextract_app.dialogs.prompts import NoteDialog

    number = screen.desk.number
    progress = screen.project.draft(number).progress if number else None
    if progress is None:
        return

    def keep(text: str | None) -> None:
        if text is not None:
            screen.after(screen.desk.set_note(text))

    screen.app.push_screen(NoteDialog(progress.note), keep)


def _search(screen: WorkingDesk) -> None:
    from sciextract_app.dialogs.prompts import SearchDialog

    schema = screen.project.schema
    labels = (*schema.entity_labels, *schema.relation_labels)

    def look(found: tuple[str, Query] | None) -> None:
        if found is not None:
            screen.search(*found)

    screen.app.push_screen(SearchDialog(screen.searched, labels), look)


def _compare(screen: WorkingDesk) -> None:
    from sciextract_app.presenters.comparison import compare
    from sciextract_app.screens.two_sides import ComparisonScreen

    found = compare(screen.project, screen.desk.number, screen.own_keys)
    if found is None:
        screen.tell(Feedback("No model has predicted this abstract: F6 lets it", problem=True))
    else:
        screen.app.push_screen(ComparisonScreen(screen.project, found))


def _adjudicate(screen: WorkingDesk) -> None:
    """With merged projects at once, else after the choice of somebody."""
    from sciextract.workflows.disagreements import Decisions, other_sides
    from sciextract_app.dialogs.prompts import MERGED
    from sciextract_app.screens.two_sides import chosen, side_dialog

    sides = other_sides(screen.project, Decisions(screen.project))
    if any(each.merged for each in sides):
        _hold_against(screen, chosen(sides, MERGED))
    elif sides:

        def begin(name: str | None) -> None:
            if name is not None:
                _hold_against(screen, chosen(sides, name))

        screen.app.push_screen(side_dialog(sides), begin)
    else:
        alone = (
            "Nobody else has said anything here: sciextract merge brings in a colleague's project"
        )
        screen.tell(Feedback(alone, problem=True))


def _hold_against(screen: WorkingDesk, sides: list[OtherSide]) -> None:
    from sciextract_app.presenters.adjudication import Adjudication
    from sciextract_app.screens.two_sides import AdjudicationScreen

    keys = screen.own_keys
    adjudication = Adjudication(screen.project, sides, screen.desk.number, keys=keys)
    screen.app.push_screen(
        AdjudicationScreen(screen.project, adjudication, keys, screen.adjudicated)
    )


_ANSWERS: dict[str, Callable[[WorkingDesk], None]] = {
    "adjudicate": _adjudicate,
    "compare": _compare,
    "help": _help,
    "palette": _palette,
    "quit": _quit,
    "guideline": _guideline,
    "note": _note,
    "search": _search,
    bulk.COUNT: lambda screen: screen.spread(bulk.COUNT),
    bulk.DO: lambda screen: screen.spread(bulk.DO),
    bulk.STOP: lambda screen: screen.spread(bulk.STOP),
}
