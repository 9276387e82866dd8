"""What all tests share: no user settings, no network, no clock, and skips that cannot hide a broken set-up."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# A skip for these is honest everywhere. Others mean that a tool or a package is missing.
HONEST_SKIPS = ("data set absent", "no GPU")
STRICT = os.environ.get("SCIEXTRACT_NO_SKIPS") == "1"

# A busy machine is no reason to fail.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Whatever runs in the background inherits an ignored Ctrl-C; the tests of Ctrl-C need the usual one.
signal.signal(signal.SIGINT, signal.default_int_handler)

_HIDDEN = (
    "COLUMNS",
    "FORCE_COLOR",
    "NO_COLOR",
    "SCIEXTRACT_PROJECT",
    "TTY_COMPATIBLE",
)


@pytest.fixture(autouse=True)
def without_user_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Hides the developer's models and settings, and forbids downloads."""
    for name in _HIDDEN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path_factory.mktemp("home", numbered=True)))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips tests marked ``gpu`` where there is none."""
    if item.get_closest_marker("gpu"):
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("no GPU")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With ``SCIEXTRACT_NO_SKIPS=1`` a test that skips for a missing tool or package fails."""
    report = yield
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        _fail_unless_honest(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for files that skip as a whole."""
    report = yield
    if STRICT and report.skipped:
        _fail_unless_honest(report)
    return report


def _fail_unless_honest(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not reason.removeprefix("Skipped: ").startswith(HONEST_SKIPS):
        report.outcome = "failed"
        report.longrepr = f"SCIEXTRACT_NO_SKIPS=1 forbids this skip: {reason}"
