"""Models that come as distributions of their own, found through entry points.

A distribution whose metadata say

.. code-block:: toml

    [project.entry-points."sciextract.models"]
    sci-base = "sciextract_sci_base:model"

brings the model ``sci-base``: the folder ``model`` of its package ``sciextract_sci_base``. Nothing of the package is imported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from sciextract.errors import ModelNotFoundError, UsageError, as_command

GROUP = "sciextract.models"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VALUE = re.compile(r"([A-Za-z_]\w*):([A-Za-z_]\w*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model folder that an installed distribution brings.

    Attributes:
        name: What the entry point calls the model.
        distributions: Names and versions of those that bring it; more than one is an error.
        folder: Where the folder lies, or should lie.
        problem: Why it cannot be used; empty when nothing is known against it. What is in the folder is not looked at.
        hint: The next step when there is a problem.
    """

    name: str
    distributions: tuple[str, ...]
    folder: Path
    problem: str = ""
    hint: str = ""

    def usable(self) -> Path:
        """The folder.

        Raises:
            UsageError: Several distributions bring a model of this name.
            ModelNotFoundError: The entry point names no folder.
        """
        if len(self.distributions) > 1:
            raise UsageError(self.problem, self.hint)
        if self.problem:
            raise ModelNotFoundError(self.problem, self.hint)
        return self.folder


def installed_models(reserved: Sequence[str] = ()) -> list[InstalledModel]:
    """The models of installed distributions by name, unusable ones with what is wrong.

    Args:
        reserved: Names that no distribution may take.
    """
    by_name: dict[str, list[EntryPoint]] = defaultdict(list)
    for each in entry_points(group=GROUP):
        by_name[each.name].append(each)
    return [_installed(name, found, reserved) for name, found in sorted(by_name.items())]


def _installed(name: str, found: Sequence[EntryPoint], reserved: Sequence[str]) -> InstalledModel:
    distributions = tuple(sorted(map(_distribution, found)))
    folder, *_ = [_folder(each) for each in found]
    first = found[0].dist.name if found[0].dist else ""
    uninstall = as_command("pip", "uninstall", first)
    problem, hint = "", f"{uninstall} removes it, installing it again may mend it"
    if len(found) > 1:
        problem = f"{len(found)} distributions bring a model {name!r}: {', '.join(distributions)}"
        hint = f"keep one; {uninstall} removes {first}"
    elif not _NAME.fullmatch(name) or name in reserved:
        problem = f"{distributions[0]} calls its model {name!r}, which no model of a distribution may be called"
        hint = f"{uninstall} removes it"
    elif folder is None or not folder.is_dir():
        place = (
            f", {folder} is not a folder"
            if folder
            else ", which is not an installed PACKAGE:FOLDER"
        )
        problem = f"{distributions[0]} says that model {name!r} is {found[0].value!r}{place}"
    return InstalledModel(name, distributions, folder or Path(found[0].value), problem, hint)


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown distribution"


def _folder(entry: EntryPoint) -> Path | None:
    """The folder that an entry point means; nothing of the package runs."""
    value = _VALUE.fullmatch(entry.value)
    spec = PathFinder.find_spec(value[1]) if value else None
    if value is None or spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / value[2]
