"""Where things lie: the package's data in a wheel or a checkout, the user's models, the project that a command means."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from sciextract.errors import ProjectMissingError, UsageError


def data_root() -> Path:
    """Folder that holds ``schemas/`` and ``sample_data/``, in a wheel or a checkout."""
    package = Path(__file__).resolve().parent
    return package / "_data" if (package / "_data").is_dir() else package.parent


def bundled_models() -> Path:
    """Folder with one model folder per bundled model."""
    return Path(__file__).resolve().parent / "bundled"


def user_runs() -> Path:
    return _user_folder("runs")


def user_models() -> Path:
    """Folder of the user's own models. It need not exist."""
    return _user_folder("models")


def user_vocabularies() -> Path:
    """Folder of the vocabularies that the user imported. It need not exist."""
    return _user_folder("vocabularies")


def _user_folder(name: str) -> Path:
    """A folder of ``$SCIEXTRACT_HOME``, else where the platform keeps data of programs."""
    home = os.environ.get("SCIEXTRACT_HOME")
    if home:
        return Path(home).expanduser() / name
    from platformdirs import user_data_path

    return user_data_path("sciextract", appauthor=False) / name


SUFFIX = ".sciextract"
VARIABLE = "SCIEXTRACT_PROJECT"


def find_project(named: str | None, note: Callable[[str], None]) -> Path:
    """The named project, else ``$SCIEXTRACT_PROJECT``, else the only project file of the present folder.

    Args:
        named: What the person named.
        note: Takes a sentence when the variable names no file and the only project here is meant instead.

    Raises:
        ProjectMissingError: There is none, or the variable names none.
        UsageError: There are several; lists them.
    """
    path = implied_project(named, note)
    if path is None:
        raise ProjectMissingError(
            f"no project is given, and there is no *{SUFFIX} file here",
            f"choose one with --project, or create one: sciextract init my{SUFFIX}",
        )
    return path


def implied_project(named: str | None, note: Callable[[str], None]) -> Path | None:
    """Like :func:`find_project`, with ``None`` when there is no project.

    Raises:
        ProjectMissingError: The variable names none, and there is not exactly one here.
        UsageError: There are several; lists them.
    """
    wanted = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    # A variable that names a lost file must not hide the only project here.
    if wanted and Path(wanted).exists():
        return Path(wanted)
    here = sorted(
        file for file in Path().glob(f"*{SUFFIX}") if file.is_file() and file.name[0] != "."
    )
    if wanted and len(here) == 1:
        note(
            f"{VARIABLE} names {wanted}, which does not exist; using {here[0]}, the only project here"
        )
    elif wanted:
        raise ProjectMissingError(
            f"the environment variable {VARIABLE} names {wanted}: there is no such project",
            f"unset {VARIABLE}, give it the path of a project, or choose one with --project",
        )
    elif len(here) > 1:
        names = ", ".join(project.name for project in here)
        raise UsageError(f"there are several projects here: {names}", "name one with --project")
    return here[0] if here else None
