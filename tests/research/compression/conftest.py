"""The ten sentences as files, the commands as users call them, and what they print."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.records import scierc_line


@pytest.fixture(scope="session")
def gold_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    file.write_text("".join(map(scierc_line, TEN_SENTENCES)), encoding="utf-8")
    return file


@pytest.fixture
def trainer(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[dict[str, Any]]]:
    """``python -m research WORDS...``; the printed events."""
    from research.__main__ import main

    def trainer(*words: object) -> list[dict[str, Any]]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        told = capsys.readouterr()
        assert ended.value.code == 0, told.err
        return [json.loads(line) for line in told.out.splitlines()]

    return trainer


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """``python -m research WORDS...`` that fails as a user's mistake does; what it says."""
    from research.__main__ import main

    def refused(*words: object) -> str:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        told = capsys.readouterr()
        assert ended.value.code not in (0, None) and told.err.startswith("error: "), told
        assert "Traceback" not in told.err
        return told.err

    return refused
