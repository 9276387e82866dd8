"""What ``sciextract tui [PROJECT | FILES...]`` means: which project is opened, and what comes into it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from sciextract import atomic
from sciextract.documents.schema_file import load_schema
from sciextract.errors import (
    InputMissingError,
    ProjectMissingError,
    SciextractError,
    UsageError,
    as_command,
)
from sciextract.formats.base import STDIN
from sciextract.formats.inputs import expand_inputs, is_pattern
from sciextract.resources import SUFFIX, data_root, implied_project
from sciextract.store import create_project, sqlite
from sciextract.store.review import count_done
from sciextract.store.sqlite_errors import translated
from sciextract.workflows.import_files import import_files
from sciextract.workflows.model_choice import DEFAULT_SCHEMA, fitting_schema, texts_of
from sciextract_app.settings import user_folder

SAMPLE = "sample"
PASTED = "pasted"
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")


@dataclass(frozen=True, slots=True)
class Opening:
    """What to open.

    Attributes:
        project: The project; ``None`` shows the start screen.
        files: Files to bring in.
        message: What the person should know, empty for nothing.
        schema: The schema of a project that has to be made, ``None`` where the project exists.
        pasted: Abstracts to bring in that are in no file.
    """

    project: Path | None = None
    files: tuple[str, ...] = ()
    message: str = ""
    schema: str | None = None
    pasted: str = ""


def plan(words: Sequence[str], schema: str | None = None, model: str | None = None) -> Opening:
    """What the words on the command line mean; nothing is made or written yet.

    Args:
        words: A project, or files of abstracts.
        schema: The schema of a project that has to be made; that of the model when ``None``.
        model: The model that will predict, as the person named it.

    Raises:
        InputMissingError: A path does not exist, or nothing matches a pattern.
        UsageError: There are several projects among them, or standard input.
    """
    if not words:
        notes: list[str] = []
        try:
            return Opening(implied_project(None, notes.append), message="".join(notes))
        except (ProjectMissingError, UsageError) as error:
            return Opening(message=error.message)
    if STDIN in words:
        raise UsageError(
            "the review desk reads keys from standard input and cannot read abstracts from it",
            f"sciextract init my{SUFFIX}; then: ... | sciextract import - --project my{SUFFIX}",
        )
    for word in words:
        # A file may have brackets in its name, so it is looked for before the pattern.
        if not os.path.exists(word) and not is_pattern(word):
            hint = as_command("sciextract", "init", word) if word.endswith(SUFFIX) else ""
            raise InputMissingError(f"{word}: no such file or folder", hint)
    words = expand_inputs(words)
    projects = [word for word in words if is_project(word)]
    files = tuple(word for word in words if word not in projects)
    if len(projects) > 1:
        raise UsageError(f"only one project at a time: {', '.join(projects)}", "open one of them")
    if projects:
        return Opening(Path(projects[0]), files)
    return _next_to_files(files, lambda: schema or fitting_schema(model, texts_of(files)))


def is_project(path: str | Path) -> bool:
    """Whether a path is meant as a project: by its name, or by what the file says."""
    file = Path(path)
    if file.is_dir():
        return False
    # The name is enough: a damaged project must reach the message that names the doctor.
    return file.suffix == SUFFIX or sqlite.is_project(file)


def make_project(opening: Opening, author: str | None = None) -> None:
    """Make the project of an opening if it has to be made.

    Raises:
        SchemaError: No such schema.
        ProjectError: It cannot be made.
    """
    if opening.project is None or opening.schema is None:
        return
    schema = load_schema(opening.schema)
    opening.project.parent.mkdir(parents=True, exist_ok=True)
    create_project(opening.project, schema, author).close()


def sample_project(author: str | None = None) -> Path:
    """The sample project in the person's data folder, made from the packaged abstracts if it is not there.

    Raises:
        ProjectError: It cannot be made.
    """
    target = projects_folder() / f"{SAMPLE}{SUFFIX}"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with create_project(target, load_schema(DEFAULT_SCHEMA), author) as project:
        import_files(project, [str(data_root() / "sample_data" / "abstracts.jsonl")])
    return target


def pasted_project(
    text: str, folder: Path | None = None, today: date | None = None, model: str | None = None
) -> Opening:
    """A new project for abstracts that were pasted: in the folder, or in the data folder where that takes none.

    Args:
        text: What was pasted.
        folder: Where the project goes; the current folder when ``None``.
        today: The date in its name; today's when ``None``.
        model: The model that will predict, as the person named it.
    """
    wanted = folder or Path.cwd()
    place = wanted if os.access(wanted, os.W_OK) else projects_folder()
    name = f"{PASTED}-{(today or date.today()).isoformat()}"
    target, number = place / f"{name}{SUFFIX}", 1
    while target.exists():
        number += 1
        target = place / f"{name}-{number}{SUFFIX}"
    shown = target.name if place == wanted else target
    return Opening(target, (), f"new project: {shown}", fitting_schema(model, [text]), text)


def projects_folder() -> Path:
    """Where projects go that cannot lie next to their files."""
    return user_folder("data") / "projects"


_MOST_STEPS = 2_000_000
"""Of SQLite, for a look at a project: more than 100,000 abstracts take."""


def look_at(path: Path) -> tuple[int, int]:
    """How many abstracts a project has, and how many of them are done; nothing where it cannot be read.

    Only for files that this process has not open: to close one drops the locks on it.
    """
    try:
        with translated(path), closing(sqlite.connect(path, "immutable")) as connection:
            # In a file from elsewhere a view of endless rows may stand in a table's place.
            connection.set_progress_handler(lambda: 1, _MOST_STEPS)
            return count_done(connection)
    except SciextractError:
        return 0, 0


def nearby_projects(folder: Path | None = None) -> list[Path]:
    """Project files in the folder, in alphabetical order."""
    found = (folder or Path()).glob(f"*{SUFFIX}")
    return sorted(file for file in found if file.is_file() and not file.name.startswith("."))


def _next_to_files(files: tuple[str, ...], schema: Callable[[], str]) -> Opening:
    """The project that belongs to files: next to the first, or in the data folder where that takes none."""
    first = Path(files[0]).resolve()
    folder, name = first.parent, f"{_stem(first)}{SUFFIX}"
    existing = folder / name
    if existing.exists():
        return Opening(existing, files)
    if os.access(folder, os.W_OK):
        return Opening(existing, files, f"new project: {existing.name}", schema())
    # Files of one name in two folders must not share a project.
    place = hashlib.blake2b(os.fsencode(folder), digest_size=4).hexdigest()
    target = projects_folder() / f"{_stem(first)}-{place}{SUFFIX}"
    message = f"{folder} takes no files, so the project is {target}"
    return Opening(target, files, message, None if target.exists() else schema())


def _stem(path: Path) -> str:
    """``refs`` of ``refs.jsonl.gz``; a folder's whole name."""
    if path.is_dir():
        return path.name
    return Path(path.stem).stem if path.suffix in _PACKED and Path(path.stem).stem else path.stem


FILE = "recent.json"
_MOST = 30


@dataclass(slots=True)
class Remembered:
    """What is remembered of a project.

    Attributes:
        path: The project file.
        imported: Size and time of the files that were brought in, by path: they need not come again.
        offered: Abstracts that were done when a training was offered or begun last.
    """

    path: Path
    imported: dict[str, list[int]] = field(default_factory=dict)
    offered: int = 0


def recent_projects() -> list[Remembered]:
    """Projects that were open lately and still exist, the latest first."""
    return [project for project in _load() if project.path.is_file()]


def remembered(path: Path) -> Remembered:
    """What is remembered of a project; nothing for one that was never open."""
    # One project is reached by several paths: relative ones, links.
    wanted = path.resolve()
    return next((project for project in _load() if project.path == wanted), Remembered(wanted))


def remember(project: Remembered) -> bool:
    """Make it the latest project; says whether that could be written."""
    project.path = project.path.resolve()
    kept = [opened for opened in recent_projects() if opened.path != project.path]
    plain = [
        {"path": str(opened.path), "imported": opened.imported, "offered": opened.offered}
        for opened in [project, *kept][:_MOST]
    ]
    target = user_folder("state") / FILE
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Names of files need not be UTF-8; as escapes they come back as they were.
        atomic.write(target, json.dumps(plain, indent=1).encode("utf-8", "surrogateescape"))
    except OSError:
        return False
    return True


def stamp(path: str) -> list[int]:
    """Size and time of a file, which tell whether it has changed; for a folder, those of all its files.

    Nothing where files go while they are looked at: whatever reads them says what is wrong.
    """
    place = Path(path)
    try:
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        found = [file.stat() for file in files if file.is_file()]
    except OSError:
        return []
    newest = max((status.st_mtime_ns for status in found), default=0)
    return [len(found), sum(status.st_size for status in found), newest]


def not_yet_imported(project: Remembered, files: Iterable[str]) -> list[str]:
    """Those of the files that are new or have changed since they were brought into the project."""
    return [file for file in files if project.imported.get(os.path.abspath(file)) != stamp(file)]


def note_imported(project: Remembered, files: Iterable[str]) -> None:
    """The files are in the project as they are now."""
    project.imported |= {os.path.abspath(file): stamp(file) for file in files}


def _load() -> list[Remembered]:
    """The entries of the file; unreadable ones are ignored."""
    try:
        data = json.loads((user_folder("state") / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    found = []
    for entry in data if isinstance(data, list) else ():
        match entry:
            case {"path": str(path)}:
                imported, offered = entry.get("imported", {}), entry.get("offered", 0)
                # Each by itself: a version that writes more, or less, costs one entry and not all of them.
                if isinstance(imported, dict) and isinstance(offered, int):
                    found.append(Remembered(Path(path), imported, offered))
    return found
