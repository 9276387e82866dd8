"""Agreement as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sciextract.cli.words import counted

if TYPE_CHECKING:
    from sciextract.workflows.teams import Agreed

_NAME_WIDTH = 52


def table(found: Agreed) -> Iterator[str]:
    """One line a figure: its name, its value, its 95 % interval."""
    plain = found.to_json()
    yield (
        f"{counted(plain['documents'], 'abstract')} compared; "
        f"{found.only_first} only in the first, {found.only_second} only in the second project"
    )
    for section in ("spans", "tokens", "relations", "coreference"):
        yield from _lines(section, plain[section])


def _lines(path: str, value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    for figure in ("f1", "kappa"):
        if figure in value:
            digits = 1 if figure == "f1" else 2
            shown = _shown(value[figure], digits)
            line = f"{path + ' ' + figure:<{_NAME_WIDTH}} {shown}  {_interval(value, digits)}"
            yield line.rstrip()
    for name, inner in value.items():
        if isinstance(inner, dict) and name != "interval":
            yield from _lines(f"{path} {name}", inner)


def _shown(value: float | None, digits: int) -> str:
    return "   –" if value is None else f"{value:5.{digits}f}"


def _interval(value: dict[str, Any], digits: int) -> str:
    found = value.get("interval")
    if not found:
        return ""
    low, high = found.values() if isinstance(found, dict) else found
    return f"[{low:.{digits}f}, {high:.{digits}f}]"
