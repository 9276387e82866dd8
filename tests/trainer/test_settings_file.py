"""Settings in TOML: found, read, and checked for names and types, whatever they configure."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import InputMissingError, UsageError
from sciextract_trainer.config import packaged_file, read_toml


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
