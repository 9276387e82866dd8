"""Where a person stopped, project by project, in the user's own folder and not in the project."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sciextract.store.actions.api import EntityRef, ItemRef, LinkRef, RelationRef

HOME_VARIABLE = "SCIEXTRACT_HOME"


@dataclass(frozen=True, slots=True)
class Stopped:
    """A place in a project.

    Attributes:
        number: The abstract.
        item: The focused item: its kind and ids, empty for none.
        order: How undecided items follow each other.
        seed: Of the random order.
        queue: The saved queue that is worked on, empty for none.
        places: The abstract that was open last in each saved queue.
    """

    number: int
    item: tuple[str, ...] = ()
    order: str = "text"
    seed: int = 0
    queue: str = ""
    places: Mapping[str, int] = field(default_factory=dict)

    @property
    def focus(self) -> ItemRef | None:
        """The focused item."""
        match self.item:
            case ("entity", entity_id):
                return EntityRef(entity_id)
            case ("relation", relation_id):
                return RelationRef(relation_id)
            case ("link", cluster_id, entity_id):
                return LinkRef(cluster_id, entity_id)
        return None


def told(item: ItemRef | None) -> tuple[str, ...]:
    """An item as plain strings."""
    match item:
        case EntityRef(id=entity_id):
            return ("entity", entity_id)
        case RelationRef(id=relation_id):
            return ("relation", relation_id)
        case LinkRef(cluster_id=cluster_id, entity_id=entity_id):
            return ("link", cluster_id, entity_id)
    return ()


def remember(project: Path, place: Stopped) -> None:
    """Note a place. It is a convenience: a folder that takes no files is no reason to complain."""
    file = _file(project)
    fresh = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps({"project": str(project), **asdict(place)}), "utf-8")
        os.replace(fresh, file)


def recall(project: Path) -> Stopped | None:
    """The place that was noted last; ``None`` when there is none, or it cannot be read."""
    try:
        found = json.loads(_file(project).read_text("utf-8"))
        return Stopped(
            int(found["number"]),
            tuple(str(each) for each in found["item"]),
            str(found["order"]),
            int(found["seed"]),
            str(found.get("queue", "")),
            {str(name): int(number) for name, number in found.get("places", {}).items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def state_folder() -> Path:
    """``$SCIEXTRACT_HOME``, else where the platform keeps the state of programs."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home)
    from platformdirs import user_state_path

    return user_state_path("sciextract", appauthor=False)


def _file(project: Path) -> Path:
    digest = hashlib.blake2b(os.fsencode(project.resolve()), digest_size=8).hexdigest()
    return state_folder() / "stopped" / f"{digest}.json"
