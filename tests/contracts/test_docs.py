"""Pages lead to pages that exist, and their examples do what they say."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from sciextract.inference.model_folder import open_folder
from sciextract.resources import bundled_models
from tests.contracts.test_imports import PARTS, modules_of
from tests.shared_data import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_NEEDS_MODEL = {"sciextract.inference.extractor"}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as code hosts make them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for link in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        target, _, anchor = link.partition("#")
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(link)
    assert dead == []


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages <= set(_LINK.findall(index))


def needs_the_bundled_model() -> None:
    if not (bundled_models() / "sci" / "manifest.json").is_file():
        pytest.skip("bundled model absent: make model")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_shown_runs_are_those_of_the_bundled_models(page: Path) -> None:
    needs_the_bundled_model()
    for name, shown in re.findall(r"\b(sci|bio)@([0-9a-f]{8})\b", page.read_text("utf-8")):
        assert open_folder(bundled_models() / name).hash.startswith(shown)


MODULES = [
    "sciextract",
    "sciextract.errors",
    *(name for part in PARTS for name in modules_of(part)),
]


@pytest.mark.parametrize("module_name", MODULES)
def test_examples_in_docstrings(module_name: str) -> None:
    if module_name in _NEEDS_MODEL:
        needs_the_bundled_model()
    module = importlib.import_module(module_name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    "page", [page for page in PAGES if ">>> " in page.read_text("utf-8")], ids=name_of
)
def test_examples_in_pages(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_the_bundled_model()
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0
