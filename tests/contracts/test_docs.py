"""Pages lead to pages that exist, and their examples do what they say."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.cli.main import main
from sciextract.inference.model_folder import open_folder
from sciextract.inference.onnx_network import sums_overflow
from sciextract.resources import bundled_models
from tests.shared_data import ROOT
from tools.real_runs import output_of, renewed_tutorial, tutorials, without_what_varies

FOLDERS = ("docs", "research")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md"))),
]
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as code hosts make them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_files_that_the_architecture_page_names_exist() -> None:
    folders = ("sciextract", "app", "trainer", "research", "tests")
    files = [path.as_posix() for folder in folders for path in (ROOT / folder).rglob("*.py")]
    named = re.findall(r"`([\w/]+\.py)`", (ROOT / "docs" / "architecture.md").read_text("utf-8"))
    assert named
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


def dead_links(page: Path) -> Iterator[str]:
    for link in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        target, _, anchor = link.partition("#")
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield link


def test_links_lead_somewhere() -> None:
    dead = {name_of(page): list(dead_links(page)) for page in PAGES}
    assert {page: links for page, links in dead.items() if links} == {}


def test_the_navigation_lists_every_page() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    folders = (ROOT / "docs", ROOT / "docs" / "tutorials")
    pages = {
        page.relative_to(ROOT / "docs").as_posix()
        for folder in folders
        for page in folder.glob("*.md")
    }
    assert pages <= set(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE))


def needs_the_bundled_model() -> None:
    if not (bundled_models() / "sci" / "manifest.json").is_file():
        pytest.skip("bundled model absent: make model")


def needs_the_scores_of_the_pages() -> None:
    needs_the_bundled_model()
    if sums_overflow():
        # Two of 570 entities of the samples fall on the other side of their threshold.
        pytest.skip("the pages were made on a processor with VNNI, without it scores differ")


def test_shown_runs_are_those_of_the_bundled_models() -> None:
    needs_the_bundled_model()
    hashes = {
        name: open_folder(bundled_models() / name).hash[:8] for name in ("sci", "bio", "science")
    }
    for page in PAGES:
        for name, shown in re.findall(
            r"\b(sci|bio|science)@([0-9a-f]{8})\b", page.read_text("utf-8")
        ):
            assert shown == hashes[name], page


@pytest.mark.parametrize(
    "page", [page for page in PAGES if ">>> " in page.read_text("utf-8")], ids=name_of
)
def test_examples_in_pages(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_the_bundled_model()
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_quick_start_of_the_readme_runs_as_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_the_bundled_model()
    page = (ROOT / "README.md").read_text("utf-8")
    [block] = re.findall(r"<!-- quick start -->\n```sh\n(.*?)```", page, re.DOTALL)
    install, *lines = block.splitlines()
    assert install == "pip install ."  # tests/e2e/test_wheel.py installs
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    monkeypatch.chdir(tmp_path)
    commands = [words for line in lines if (words := shlex.split(line, comments=True))]
    assert commands.pop(0) == ["mkdir", "-p", "demo"]
    (tmp_path / "demo").mkdir()
    for program, *words in commands:
        assert program == "sciextract"
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code in (0, None), words
    assert len(list((tmp_path / "demo" / "corpus").glob("*.ann"))) == 26
    assert {path.name for path in tmp_path.iterdir()} == {"demo", "sample_data"}
    assert "/demo/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


@pytest.mark.full
@pytest.mark.parametrize("page", tutorials(), ids=name_of)
def test_tutorials_show_what_their_commands_print(page: Path) -> None:
    needs_the_scores_of_the_pages()
    text = page.read_text("utf-8")
    assert without_what_varies(renewed_tutorial(text)) == without_what_varies(text), (
        "python tools/real_runs.py"
    )


RECIPES = re.findall(
    r"```(sh|python)\n([^`]+)```\n\n```text\n([^`]+)```\n",
    (ROOT / "docs" / "recipes-jsonl.md").read_text("utf-8"),
)


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the recipes run, with the file that their page has made."""
    needs_the_bundled_model()
    folder = tmp_path_factory.mktemp("recipes")
    library = ROOT / "sample_data" / "library.bib"
    command = f"sciextract annotate {library} --to jsonl --output predictions.jsonl"
    output_of(command, folder)
    return folder


def test_there_are_twelve_recipes() -> None:
    assert len(RECIPES) == 12


@pytest.mark.full
@pytest.mark.parametrize(("language", "code", "shown"), RECIPES)
def test_recipes_print_what_their_page_shows(
    language: str, code: str, shown: str, predictions: Path
) -> None:
    needs_the_scores_of_the_pages()
    if language == "sh":
        if shutil.which("jq") is None:
            pytest.skip("jq absent")
        command = ["sh", "-c", code]
    else:
        for package in re.findall(r"^import (\w+)", code, re.MULTILINE):
            pytest.importorskip(package)
        command = [sys.executable, "-c", code]
    done = subprocess.run(
        command,
        cwd=predictions,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.strip("\n").split("\n")]
    assert printed == shown.rstrip("\n").split("\n")
