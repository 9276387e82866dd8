"""What a release and every supported Python need, beyond what the linters check."""

from __future__ import annotations

import re
import tomllib

from sciextract import __version__
from tests.shared_data import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_no_possessive_repeat_of_a_group() -> None:
    """Python before 3.11.5 leaves such a match at a wrong place, and ``finditer`` never ends.

    Atomic groups, ``(?>(?:...)*)``, do the same and are right on every version (python/cpython#106052).
    """
    repeated = re.compile(r"\)(?:[*+?]|\{+[0-9,]*\}+)\+")
    folders = ("sciextract", "app", "trainer")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in files if repeated.search(path.read_text("utf-8"))] == []


def test_actions_and_release_tools_are_pinned() -> None:
    """Actions by commit, with the version for readers; what builds a release by hash."""
    texts = [p.read_text("utf-8") for p in (ROOT / ".github" / "workflows").glob("*.yml")]
    used = re.findall(r"uses: (.+)", "\n".join(texts))
    assert used
    assert [
        action for action in used if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", action)
    ] == []
    tools = (ROOT / "packaging" / "requirements-release.txt").read_text("utf-8").splitlines()[1:]
    line = re.compile(r"\S+==\S+ --hash=sha256:[0-9a-f]{64}")
    assert [tool for tool in tools if not line.fullmatch(tool)] == []


def test_other_package_files_agree_with_pyproject() -> None:
    """The conda recipe has the version and the dependencies of the package, CITATION.cff the version."""
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8")
    assert f'version: "{__version__}"' in recipe
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    block = recipe.partition("  run:\n")[2].partition("tests:")[0]
    listed = {line.strip(" -").replace(" ", "").replace("_", "-") for line in block.splitlines()}
    needed = {
        dependency.partition(";")[0].replace(" ", "") for dependency in PROJECT["dependencies"]
    }
    assert listed == {f"python{PROJECT['requires-python']}"} | needed
