"""The codec of settings and records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sciextract.codec import convert, decode, encode, plain
from sciextract.errors import FormatError, UsageError


@dataclass(frozen=True, slots=True)
class Fold:
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    name: str
    rate: float = 1.0
    folds: Mapping[str, Fold] | None = None


RECORD = Record(name="Größe", rate=1e-5, folds={"a": Fold((1, 2))})


def test_a_value_comes_back_as_it_was() -> None:
    text = encode(RECORD)
    assert text.endswith("}\n")
    assert decode(text, Record, "run.json") == RECORD
    assert plain(RECORD)["folds"] == {"a": {"numbers": [1, 2]}}


def test_special_texts_and_numbers_are_plain() -> None:
    class Version(str): ...

    written = encode(Record(name=Version("2.9"), rate=np.float64(0.5)))
    assert json.loads(written) == {"name": "2.9", "rate": 0.5, "folds": None}


def test_a_whole_number_is_a_float() -> None:
    assert decode('{"name": "a", "rate": 2, "later": 1}', Record, "run.json").rate == 2.0


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"name": 3}, "name is 3; expected str"),
        ({"name": "a", "rate": True}, "rate is True; expected float"),
        ({"rate": 1.0}, "'name' is missing"),
        ({"name": "a", "folds": {"b": {"numbers": [1, "2"]}}}, "numbers[1] is '2'; expected int"),
        ([], "the whole is []; expected object"),
    ],
)
def test_an_error_names_file_place_and_values(values: Any, problem: str) -> None:
    with pytest.raises(FormatError) as found:
        decode(json.dumps(values), Record, "run.json")
    assert "run.json: " in found.value.message
    assert problem in found.value.message


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError, match="is not JSON"):
        decode(data, Record, "run.json")


def test_an_unknown_setting_can_be_refused() -> None:
    with pytest.raises(UsageError) as found:
        convert({"name": "a", "rat": 1}, Record, "a.toml", closed=True, error=UsageError)
    assert "known: name, rate, folds" in found.value.hint
    inner = {"name": "a", "folds": {"b": {"numbers": [], "number": 3}}}
    with pytest.raises(UsageError, match=r"a\.toml: folds: b: unknown setting 'number'"):
        convert(inner, Record, "a.toml", closed=True, error=UsageError)
