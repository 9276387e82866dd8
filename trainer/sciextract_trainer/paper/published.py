"""Published figures: what a paper states of a row and column, and where it says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sciextract.errors import UsageError
from sciextract_trainer.paper.reading import check_keys, number_of, text_of

NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class Published:
    """One figure, of a test split.

    Attributes:
        encoder: The encoder's name in the grid.
        variant: The variant's name, empty where the grid has one only.
        column: The column's name.
        f1: F1, 0 to 100; ``None`` where only a change is stated.
        sd: Standard deviation over runs.
        change: Difference from the same encoder without the change; ``None`` where F1 itself is stated.
        source: Where it says so, with caveats.
    """

    encoder: str
    variant: str
    column: str
    f1: float | None
    sd: float | None
    change: float | None
    source: str

    def told(self) -> str:
        """The figure as it stands in a table.

        >>> Published("a", "", "NER", 46.0, 0.8, None, "there").told()
        '46.0 ± 0.8'
        >>> Published("a", "b", "NER", None, None, 0.99, "there").told()
        '+0.99'
        """
        if self.f1 is None:
            return f"{self.change:+g}"
        value = f"{self.f1:.1f}" if round(self.f1, 1) == self.f1 else f"{self.f1:g}"
        return value if self.sd is None else f"{value} ± {self.sd:g}"


_KEYS = {"encoder", "variant", "column", "f1", "sd", "change", "source"}


def published_from(
    rows: Iterable[Any], place: str, variants: Sequence[str], columns: Sequence[str]
) -> tuple[Published, ...]:
    """The figures of a grid's ``[[published]]`` tables.

    Raises:
        UsageError: A figure lacks its source or number, or names a row or column that the grid lacks.
    """
    where = f"{place}: published"
    return tuple(_published(values, where, variants, columns) for values in rows)


def _published(
    values: Mapping[str, Any], place: str, variants: Sequence[str], columns: Sequence[str]
) -> Published:
    check_keys(values, place, known=_KEYS, needed=("encoder", "column", "source"))
    figure = Published(
        encoder=text_of(values, "encoder", place),
        variant=str(values.get("variant", "")),
        column=text_of(values, "column", place),
        f1=number_of(values, "f1", place),
        sd=number_of(values, "sd", place),
        change=number_of(values, "change", place),
        source=text_of(values, "source", place),
    )
    _check_known(place, "column", figure.column, columns)
    _check_known(place, "variant", figure.variant, variants)
    if (figure.f1 is None) == (figure.change is None):
        raise UsageError(f"{place}: {figure.encoder}: neither or both of f1 and change", "give one")
    return figure


def _check_known(place: str, key: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(f"{place}: {key} = {value!r} is not in the grid", f"it has: {list(known)}")
