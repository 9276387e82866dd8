"""``sciextract tui`` before the app runs: what it needs, and what it says where that is missing."""

from __future__ import annotations

import sys

import pytest

from sciextract.cli import tui as command
from sciextract.errors import ExitCode, MissingExtraError, UsageError


def test_without_a_terminal_it_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="needs a terminal") as caught:
        command.tui(None, web=False, no_predict=False)
    assert caught.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize("package", ["textual", "sciextract_app"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "is_terminal", lambda stream: True)
    for name in [
        name for name in sys.modules if name.partition(".")[0] in (package, "sciextract_app")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as caught:
        command.tui(None, web=False, no_predict=False)
    assert "pip install" in caught.value.hint
