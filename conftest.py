"""What all tests and doctests share: two tiers, no user settings, no network, no clock, no hidden skips."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem, DoctestModule
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

ROOT = Path(__file__).resolve().parent
PACKAGES = [
    ROOT / "sciextract",
    ROOT / "app" / "sciextract_app",
    ROOT / "trainer" / "sciextract_trainer",
]
# Whole folders that only `make test-full` runs; elsewhere single tests and files carry the marker `full`.
_TRAINER = ("encoders",)
FULL_FOLDERS = [
    *(ROOT / "tests" / folder for folder in ("cluster", "remote", "research")),
    *(ROOT / "tests" / "trainer" / name for name in _TRAINER),
]
FAST = "not full"
"""The marker expression of `make test`."""

# A skip for these is honest everywhere. Others mean that a tool or a package is missing.
HONEST_SKIPS = ("data set absent", "no GPU", "no browser")
STRICT = os.environ.get("SCIEXTRACT_NO_SKIPS") == "1"

# A busy machine is no reason to fail. `make test` takes the profile "fast", see tests/tiers.py.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", _PATIENT)
settings.register_profile("fast", _PATIENT, max_examples=25)
settings.load_profile("thorough")
if "HYPOTHESIS_STORAGE_DIRECTORY" not in os.environ:
    set_hypothesis_home_dir(ROOT / ".hypothesis")  # the default is the folder in which a test runs

# Whatever runs in the background inherits an ignored Ctrl-C; the tests of Ctrl-C need the usual one.
signal.signal(signal.SIGINT, signal.default_int_handler)

_HIDDEN = (
    "COLUMNS",
    "FORCE_COLOR",
    "NO_COLOR",
    "SCIEXTRACT_PROJECT",
    "TTY_COMPATIBLE",
)


@pytest.fixture(scope="session", autouse=True)
def outside_of_the_checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What fixtures and processes of all tests do without naming a folder happens in an empty one: a checkout may hold projects."""
    with pytest.MonkeyPatch.context() as patched:
        # Processes import the tests and the packages from any folder.
        places = [
            ROOT,
            ROOT / "app",
            ROOT / "trainer",
            *filter(None, [os.environ.get("PYTHONPATH")]),
        ]
        patched.setenv("PYTHONPATH", os.pathsep.join(map(str, places)))
        patched.chdir(tmp_path_factory.mktemp("session"))
        yield


@pytest.fixture(autouse=True)
def without_user_settings(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Hides the developer's models, settings and projects, and forbids downloads."""
    for name in _HIDDEN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path_factory.mktemp("home", numbered=True)))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    # Examples of the documentation read sample_data/.
    is_example = isinstance(request.node, DoctestItem)
    monkeypatch.chdir(ROOT if is_example else tmp_path_factory.mktemp("cwd", numbered=True))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The fast tier does not even import what only the full one runs."""
    return True if config.option.markexpr == FAST and collection_path in FULL_FOLDERS else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of the folders that belong to the full tier."""
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in FULL_FOLDERS):
            item.add_marker("full")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Doctests are those of the three packages; modules without examples are not imported for them."""
    collectors = yield
    packaged = any(file_path.is_relative_to(package) for package in PACKAGES)
    if packaged and file_path.suffix == ".py" and ">>> " in file_path.read_text("utf-8"):
        return collectors
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


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
