"""With ``SCIEXTRACT_NO_SKIPS=1`` a missing tool is a failure, a missing data set or GPU is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_data import ROOT

HONEST = "import pytest\ndef test_it(): pytest.skip('data set absent: scierc')"
MISSING_TOOL = "import pytest\ndef test_it(): pytest.skip('rsync is not installed')"
MISSING_PACKAGE = "import pytest\npytest.importorskip('no_such_package')\ndef test_it(): pass"
EXPECTED_FAILURE = "import pytest\n@pytest.mark.xfail\ndef test_it(): raise ValueError"


def outcome(test: str, folder: Path, no_skips: str) -> int:
    """The exit code of a pytest run over one file beside our conftest."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "test_one.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    environment = {**os.environ, "SCIEXTRACT_NO_SKIPS": no_skips}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return run.returncode


@pytest.mark.parametrize(
    ("test", "strict_code"),
    [(HONEST, 0), (MISSING_TOOL, 1), (MISSING_PACKAGE, 2), (EXPECTED_FAILURE, 0)],
    ids=["data set", "tool", "package", "expected failure"],
)
def test_only_honest_skips_pass(test: str, strict_code: int, tmp_path: Path) -> None:
    assert outcome(test, tmp_path, no_skips="1") == strict_code


def test_anything_may_skip_otherwise(tmp_path: Path) -> None:
    assert outcome(MISSING_TOOL, tmp_path, no_skips="") == 0


def test_the_folders_of_the_full_tier_exist(request: pytest.FixtureRequest) -> None:
    plugins = request.config.pluginmanager.get_plugins()
    [folders] = [each.FULL_FOLDERS for each in plugins if hasattr(each, "FULL_FOLDERS")]
    assert folders and all(folder.is_dir() for folder in folders)
