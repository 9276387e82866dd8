"""Which project a command means."""

from __future__ import annotations

import os
from pathlib import Path

from sciextract.errors import ProjectMissingError, UsageError
from sciextract.store.opening import SUFFIX

VARIABLE = "SCIEXTRACT_PROJECT"


def find_project(named: str | None) -> Path:
    """The named project, else ``$SCIEXTRACT_PROJECT``, else the only project file of the present folder.

    Raises:
        ProjectMissingError: There is none.
        UsageError: There are several; lists them.
    """
    path = implied_project(named)
    if path is None:
        raise ProjectMissingError(
            f"no project is given, and there is no *{SUFFIX} file here",
            f"choose one with --project, or create one: sciextract init my{SUFFIX}",
        )
    return path


def implied_project(named: str | None) -> Path | None:
    """Like :func:`find_project`, with ``None`` when there is no project.

    Raises:
        UsageError: There are several; lists them.
    """
    wanted = named or os.environ.get(VARIABLE)
    if wanted:
        return Path(wanted)
    here = sorted(
        each for each in Path().glob(f"*{SUFFIX}") if each.is_file() and each.name[0] != "."
    )
    if len(here) > 1:
        names = ", ".join(each.name for each in here)
        raise UsageError(f"there are several projects here: {names}", "name one with --project")
    return here[0] if here else None
