"""Settings in TOML: found, read, and checked for names and types, whatever they configure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sciextract.errors import InputMissingError, UsageError
from sciextract_trainer.files import has_kind, packaged_file, plain_values, read_toml, settings_from


@dataclass(frozen=True)
class Kite:
    """Settings of every kind."""

    name: str
    length: float = 1.0
    knots: tuple[int, ...] = ()
    tails: list[str] = field(default_factory=list)
    colours: dict[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    flies: bool = False


def test_values_become_settings_and_plain_values_again() -> None:
    values = {
        "name": "red", "length": 2, "knots": [1, 2], "tails": ["a"], "colours": {"top": "blue"},
        "more": {"a": 1}, "flies": True,
    }  # fmt: skip
    kite = settings_from(Kite, values, "kite.toml")
    assert kite.knots == (1, 2) and kite.tails == ["a"] and kite.length == 2
    assert plain_values(kite) == values
    assert settings_from(Kite, plain_values(kite), "again") == kite


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("name", 3, "str"),
        ("length", "long", "float"),
        ("length", True, "float"),
        ("knots", [1, 2.5], "list of int"),
        ("knots", 1, "list of int"),
        ("tails", "a", "list of str"),
        ("colours", ["blue"], "table of str"),
        ("colours", {"top": 1}, "table of str"),
        ("more", 3, "table"),
        ("flies", 1, "bool"),
    ],
)
def test_a_value_of_another_type_is_named_with_its_place(key: str, value: Any, kind: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings_from(Kite, {"name": "red", key: value}, "kite.toml")
    assert caught.value.message == f"kite.toml: {key} = {value!r} is not of type {kind}"


def test_unknown_and_missing_settings_are_named() -> None:
    with pytest.raises(UsageError, match="unknown setting 'colour'") as caught:
        settings_from(Kite, {"name": "red", "colour": "red"}, "kite.toml")
    assert caught.value.hint.startswith("known: name, length")
    with pytest.raises(UsageError, match="the setting 'name' is missing") as caught:
        settings_from(Kite, {}, "kite.toml")
    assert caught.value.hint == "add name = ..."


def test_kinds_may_hold_kinds() -> None:
    assert has_kind([["a"], []], "list[list[str]]") and not has_kind(["a"], "list[list[str]]")
    assert has_kind([{"a": 1}], "list[dict[str, Any]]")
    assert not has_kind(False, "float") and not has_kind(0, "bool")


def test_a_packaged_file_has_a_name_and_any_file_a_path(tmp_path: Path) -> None:
    packaged = tmp_path / "fly-high.toml"
    packaged.write_text("steps = 3", encoding="utf-8")
    assert packaged_file("high", tmp_path, "flight plan", prefix="fly-") == packaged
    assert packaged_file(str(packaged), tmp_path / "none", "flight plan") == packaged
    with pytest.raises(InputMissingError, match="no flight plan is called 'low'") as caught:
        packaged_file("low", tmp_path, "flight plan", prefix="fly-")
    assert caught.value.hint == "packaged plans: high"


def test_what_is_no_file_and_no_toml_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match=r"no kite at .*none\.toml"):
        read_toml(tmp_path / "none.toml", "kite", "")
    broken = tmp_path / "broken.toml"
    for content in (b"name = ", b'name = "\xff"'):
        broken.write_bytes(content)
        with pytest.raises(UsageError, match=r"broken\.toml: ") as caught:
            read_toml(broken, "kite", "a kite is a TOML file")
        assert caught.value.hint == "a kite is a TOML file"
