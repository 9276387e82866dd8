"""The command that installs an extra fits how sciextract was installed."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

from sciextract.errors import install_command


def test_an_extra_is_installed_from_where_the_package_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tmp_path / "my checkout"
    checkout.mkdir()

    def command(**recorded: object) -> str:
        text = json.dumps(recorded) if recorded else None
        monkeypatch.setattr(metadata.PathDistribution, "read_text", lambda *_: text)
        return install_command("train")

    assert command() == "pip install 'sciextract[train]'"
    assert command(url=checkout.as_uri(), dir_info={}) == f"pip install '{checkout}[train]'"
    editable = command(url=checkout.as_uri(), dir_info={"editable": True})
    assert editable == f"pip install --editable '{checkout}[train]'"
    gone = (tmp_path / "sciextract.whl").as_uri()
    assert command(url=gone) == "pip install 'sciextract[train]'"
