"""Recent projects, and which files were brought into them; where the person stopped is the desk's."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sciextract.documents.ids import new_id
from sciextract_app.settings import user_folder

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
    return [each for each in _load() if each.path.is_file()]


def remembered(path: Path) -> Remembered:
    """What is remembered of a project; nothing for one that was never open."""
    wanted = path.resolve()
    return next((each for each in _load() if each.path == wanted), Remembered(wanted))


def remember(project: Remembered) -> bool:
    """Make it the latest project; says whether that could be written."""
    project.path = project.path.resolve()
    kept = [each for each in recent_projects() if each.path != project.path]
    return _save([project, *kept][:_MOST])


def stamp(path: str) -> list[int]:
    """Size and time of a file, which tell whether it has changed; for a folder, those of all its files.

    Nothing where files go while they are looked at: whatever reads them says what is wrong.
    """
    place = Path(path)
    try:
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        found = [each.stat() for each in files if each.is_file()]
    except OSError:
        return []
    return [
        *(len(found), sum(each.st_size for each in found)),
        max((each.st_mtime_ns for each in found), default=0),
    ]


def not_yet_imported(project: Remembered, files: Iterable[str]) -> list[str]:
    """Those of the files that are new or have changed since they were brought into the project."""
    return [each for each in files if project.imported.get(os.path.abspath(each)) != stamp(each)]


def note_imported(project: Remembered, files: Iterable[str]) -> None:
    """The files are in the project as they are now."""
    project.imported |= {os.path.abspath(each): stamp(each) for each in files}


def _load() -> list[Remembered]:
    """What the file says; what in it cannot be understood is as if it were not there."""
    try:
        data = json.loads((user_folder("state") / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [_entry(each) for each in data if _is_entry(each)] if isinstance(data, list) else []


def _is_entry(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("path"), str)
        and isinstance(value.get("imported", {}), dict)
        and isinstance(value.get("offered", 0), int)
    )


def _entry(value: dict[str, Any]) -> Remembered:
    return Remembered(Path(value["path"]), value.get("imported", {}), value.get("offered", 0))


def _save(entries: list[Remembered]) -> bool:
    plain = [
        {"path": str(each.path), "imported": each.imported, "offered": each.offered}
        for each in entries
    ]
    target = user_folder("state") / FILE
    fresh = target.with_name(f".{FILE}.{new_id()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(plain, indent=1), encoding="utf-8", errors="surrogateescape")
        fresh.replace(target)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        return False
    return True
