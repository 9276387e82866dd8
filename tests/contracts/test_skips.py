"""With ``SCIEXTRACT_NO_SKIPS=1`` a missing tool is a failure, a missing data set or GPU is not."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import ROOT

TOOL = (__file__, 1, "Skipped: rsync is not installed")
DATA = (__file__, 1, "Skipped: data set absent: scierc")
PACKAGE = (__file__, 1, "Skipped: could not import 'no_such_package'")


@pytest.fixture
def hooks(request: pytest.FixtureRequest) -> Any:
    """The conftest of the checkout, as this run has loaded it."""
    plugins = request.config.pluginmanager.get_plugins()
    [found] = [plugin for plugin in plugins if hasattr(plugin, "FULL_FOLDERS")]
    return found


def outcome(hook: Generator[None, Any, Any], report: Any) -> str:
    """What becomes of a report that passes through the hook."""
    next(hook)
    with pytest.raises(StopIteration) as end:
        hook.send(report)
    return str(end.value.value.outcome)


def skipped(reason: tuple[str, int, str]) -> pytest.TestReport:
    return pytest.TestReport("one", (__file__, 1, "one"), {}, "skipped", reason, "setup")


@pytest.mark.parametrize(
    ("strict", "reason", "expected"),
    [(True, DATA, "skipped"), (True, TOOL, "failed"), (False, TOOL, "skipped")],
)
def test_only_honest_skips_pass(
    strict: bool, reason: Any, expected: str, hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "STRICT", strict)
    assert outcome(hooks.pytest_runtest_makereport(None), skipped(reason)) == expected


def test_a_file_that_skips_as_a_whole_fails(hooks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "STRICT", True)
    report = pytest.CollectReport("file", "skipped", PACKAGE, [])
    assert outcome(hooks.pytest_make_collect_report(None), report) == "failed"


def test_an_expected_failure_is_no_skip(hooks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "STRICT", True)
    report = skipped(TOOL)
    report.wasxfail = "known"
    assert outcome(hooks.pytest_runtest_makereport(None), report) == "skipped"


def test_the_folders_of_the_full_tier_exist(hooks: Any) -> None:
    folders: list[Path] = hooks.FULL_FOLDERS
    assert folders and all(folder.is_dir() and ROOT in folder.parents for folder in folders)
