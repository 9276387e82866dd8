"""Numbers and units in the words of quantities."""

from __future__ import annotations

import pytest

from sciextract.errors import UsageError
from sciextract.text.quantities import Quantity, check_unit, in_unit, quantity_of, symbol_of


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("12,500 years", Quantity((12500.0,), "years")),
        ("> 6 × 10−3 mol", Quantity((0.006,), "mol", ">")),
        ("≲ 10−4", Quantity((0.0001,), "", "<")),
        ("10-40 µg/ml", Quantity((10.0, 40.0), "µg/ml", is_range=True)),
        ("between −2 and −7‰", Quantity((-2.0, -7.0), "‰", is_range=True)),
        ("4.5, 6 and 13 kg", Quantity((4.5, 6.0, 13.0), "kg")),
        ("46.8% ± 1.6%", Quantity((46.8,), "%", tolerance=1.6)),
        ("at least twenty-five samples", Quantity((25.0,), "samples", "≥")),
        ("two hundred thousand", Quantity((200_000.0,), "")),
        ("12 mA g− 1", Quantity((12.0,), "mA g− 1")),
        ("pH 7–8", Quantity((7.0, 8.0), "pH", is_range=True)),
        ("since July 2004", Quantity((2004.0,), "")),
        ("room temperature", None),
        ("", None),
        ("9" * 400, Quantity((float("inf"),), "")),
    ],
)
def test_numbers_and_units(words: str, found: Quantity | None) -> None:
    assert quantity_of(words) == found


def test_units_that_are_written_differently_compare_equal() -> None:
    assert symbol_of("metres per second") == symbol_of("m s−1") == symbol_of("m/s") == "m/s"
    assert symbol_of("μm") == symbol_of("micrometres") == "µm"
    assert symbol_of("Mm") != symbol_of("mm")


@pytest.mark.parametrize(
    ("words", "unit", "expected"),
    [
        ("between 5 and 10 m s−1", "km/h", ((18.0, 36.0), "km/h")),
        ("25 ± 2 °C", "K", ((298.15,), "K")),
        ("18 W m−1 K−1", "mW/(mm K)", ((18.0,), "mW/(mm K)")),
        ("120 kg per hectare", "g/m2", ((12.0,), "g/m2")),
        ("12 percent", "%", ((12.0,), "%")),
        ("5 kg", "MPa", ((5.0,), "kg")),
        ("5 apples", "MPa", ((5.0,), "apples")),
    ],
)
def test_numbers_in_one_unit(words: str, unit: str, expected: tuple[object, str]) -> None:
    found = in_unit(words, unit)
    assert found is not None
    assert (found.numbers, found.unit) == expected


@pytest.mark.parametrize("unit", ["", "apples", "9**9**9", "__import__('os')", "m^9^9"])
def test_what_is_no_unit_is_refused(unit: str) -> None:
    with pytest.raises(UsageError, match="no unit"):
        check_unit(unit)


def test_a_difference_keeps_its_size_between_scales() -> None:
    found = in_unit("25 ± 2 °C", "K")
    assert found is not None and found.tolerance == 2
