"""What users install: the wheel with the desk in it, built from a copy of the sources.

The fast tier installs it over the packages that the tests run with; the full tier into an empty environment,
with what it needs from a package index.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from sciextract import __version__
from sciextract.resources import bundled_models
from tests.e2e.desks import FIRST, closed_cleanly, library
from tests.e2e.terminal import Terminal
from tests.shared_data import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("wheel")]

SOURCES = ("sciextract", "app", "trainer", "schemas", "sample_data", "docs", "tools")
FILES = ("pyproject.toml", ".gitignore", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt")
# Git ignores these, so no package may hold them.
IGNORED = (
    "sciextract/runs/best.pt",
    "sciextract/model.part",
    "trainer/sciextract_trainer/build/x.py",
)
PACKAGES = (
    ROOT / "sciextract",
    ROOT / "app" / "sciextract_app",
    ROOT / "trainer" / "sciextract_trainer",
)
MOST_MODEL_BYTES = 30 * 1000 * 1000


def outside() -> dict[str, str]:
    """The variables of whoever has no checkout."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTEST_CURRENT_TEST"}
    return {name: value for name, value in os.environ.items() if name not in hidden}


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs without the variables that would let the checkout shine through."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=outside(),
        capture_output=True,
        text=True,
        check=False,
    )


def build(kind: str, sources: Path, target: Path) -> Path:
    pytest.importorskip("hatchling")
    done = run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", target, cwd=sources)
    assert done.returncode == 0, done.stderr
    return next(target.iterdir())


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, with files that git ignores strewn in."""
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    for name in IGNORED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("ignored")
    return folder


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", sources, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", sources, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; what it needs is taken from the one that the tests run in."""
    folder = tmp_path_factory.mktemp("installed")
    python = folder / "bin" / "python"
    assert run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder).returncode == 0
    install = ("install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel)
    done = run(sys.executable, "-m", "pip", "--python", python, *install, cwd=folder)
    assert done.returncode == 0, done.stderr
    # Only the path: the editable install that lies there as well stays out.
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it needs, no extras."""
    folder = tmp_path_factory.mktemp("environment")
    python = folder / "bin" / "python"
    assert run(sys.executable, "-m", "venv", folder, cwd=folder).returncode == 0
    pins = ROOT / "constraints.txt"
    done = run(python, "-m", "pip", "install", "--quiet", "-c", pins, wheel, cwd=folder)
    if "No matching distribution" in done.stderr or "Connection" in done.stderr:
        pytest.skip(f"no package index: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return folder


def ignored(inside: Iterable[str]) -> list[str]:
    ends = (*(name.removeprefix("trainer/") for name in IGNORED), ".pyc")
    return [file for file in inside if file.endswith(ends) or "__pycache__" in file]


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


class TestContents:
    def test_only_the_known_packages_are_on_top(self, wheel: Path) -> None:
        top = {name.partition("/")[0] for name in names(wheel)}
        metadata = f"sciextract-{__version__}.dist-info"
        assert top == {"sciextract", "sciextract_app", "sciextract_trainer", metadata}

    def test_data_lies_inside_the_package(self, wheel: Path) -> None:
        data = {name for name in names(wheel) if name.startswith("sciextract/_data/")}
        assert "sciextract/_data/schemas/export.schema.json" in data
        assert "sciextract/_data/schemas/labels/scierc.toml" in data
        assert "sciextract/_data/sample_data/abstracts.jsonl" in data
        assert not any(name.endswith(".py") for name in data)

    def test_recipes_type_mark_and_licence_come_along(self, wheel: Path) -> None:
        inside = names(wheel)
        trainer = ROOT / "trainer"
        recipes = {path.relative_to(trainer).as_posix() for path in trainer.rglob("*.toml")}
        assert recipes <= inside and "sciextract_trainer/recipes/scierc-joint.toml" in recipes
        assert "sciextract/py.typed" in inside
        assert f"sciextract-{__version__}.dist-info/licenses/LICENSE" in inside

    def test_every_file_of_the_three_packages_is_inside(self, wheel: Path) -> None:
        expected = {
            path.relative_to(package.parent).as_posix()
            for package in PACKAGES
            for path in package.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert expected <= names(wheel)
        assert "sciextract_app/app.py" in expected

    def test_its_description_links_only_to_addresses(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            [name] = [member for member in archive.namelist() if member.endswith("/METADATA")]
            description = archive.read(name).decode("utf-8")
        links = re.findall(r"\]\((.+?)\)", description)
        assert len(links) > 10
        assert [link for link in links if not link.startswith(("https://", "#"))] == []

    def test_files_that_git_ignores_stay_out(self, wheel: Path) -> None:
        assert ignored(names(wheel)) == []

    def test_each_bundled_model_is_small_and_complete(self, wheel: Path) -> None:
        models = [path.parent.name for path in bundled_models().glob("*/manifest.json")]
        with zipfile.ZipFile(wheel) as archive:
            for model in models:
                prefix = f"sciextract/bundled/{model}/"
                parts = [
                    member for member in archive.infolist() if member.filename.startswith(prefix)
                ]
                assert sum(part.file_size for part in parts) <= MOST_MODEL_BYTES
                listed = json.loads(archive.read(f"{prefix}manifest.json"))["files"]
                assert set(listed) <= {part.filename.removeprefix(prefix) for part in parts}


@pytest.mark.full
class TestSourceDistribution:
    def test_files_that_git_ignores_stay_out(self, sdist: Path) -> None:
        with tarfile.open(sdist) as archive:
            assert ignored(archive.getnames()) == []

    def test_the_same_wheel_comes_out_of_it(self, sdist: Path, wheel: Path, tmp_path: Path) -> None:
        (tmp_path / "unpacked").mkdir()
        # By tar: extractall() warns without a filter from Python 3.12 on, and has none before 3.11.4.
        subprocess.run(["tar", "-xzf", sdist, "-C", tmp_path / "unpacked"], check=True)
        [unpacked] = (tmp_path / "unpacked").iterdir()
        again = build("wheel", unpacked, tmp_path / "wheel")
        assert names(again) == names(wheel)


class TestStarted:
    """The wheel alone: no module of the checkout can be imported."""

    def test_all_three_packages_are_those_of_the_wheel(
        self, installed: Path, tmp_path: Path
    ) -> None:
        code = (
            "import sciextract, sciextract_app, sciextract_trainer\n"
            "for module in (sciextract, sciextract_app, sciextract_trainer): print(module.__file__)"
        )
        done = run(installed / "bin" / "python", "-c", code, cwd=tmp_path)
        assert done.stderr == ""
        assert all(Path(line).is_relative_to(installed) for line in done.stdout.splitlines())

    def test_it_annotates(self, installed: Path, tmp_path: Path) -> None:
        needs_model()
        done = annotate(installed, [str(ROOT / "sample_data" / "text" / "cs-01.txt")], tmp_path)
        assert done.returncode == 0, done.stderr
        assert re.search(r"\[[^\]|]+\|(Method|Task)\]", done.stdout)
        assert "\x1b" not in done.stdout

    def test_the_desk_opens_and_closes(self, installed: Path, tmp_path: Path) -> None:
        words: list[str | Path] = [
            installed / "bin" / "sciextract",
            "tui",
            "--no-predict",
            "refs.bib",
        ]
        home = {"SCIEXTRACT_HOME": str(tmp_path / "home")}
        terminal = Terminal(words, library(tmp_path), outside() | home)
        try:
            terminal.wait_for(FIRST)
            terminal.press("ctrl+q")
            assert terminal.wait_for_end() == 0
            assert terminal.is_restored()
        finally:
            terminal.close()
        assert closed_cleanly(tmp_path)


@pytest.mark.full
class TestInstalled:
    def test_the_command_starts(self, environment: Path, tmp_path: Path) -> None:
        done = run(environment / "bin" / "sciextract", "--version", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, f"sciextract {__version__}\n")

    def test_nothing_of_the_extras_was_installed(self, environment: Path) -> None:
        done = run(
            environment / "bin" / "python", "-m", "pip", "list", "--format=json", cwd=environment
        )
        installed = {record["name"].lower() for record in json.loads(done.stdout)}
        assert installed.isdisjoint(
            {"torch", "transformers", "spacy", "pydantic", "pandas", "scipy"}
        )

    def test_schemas_and_samples_are_found(self, environment: Path, tmp_path: Path) -> None:
        code = (
            "from sciextract.documents.schema_file import load_schema\n"
            "from sciextract.resources import data_root\n"
            "print(load_schema('scierc').name, (data_root() / 'sample_data' / 'library.bib').is_file())"
        )
        done = run(environment / "bin" / "python", "-c", code, cwd=tmp_path)
        assert (done.stdout, done.stderr) == ("scierc True\n", "")

    def test_it_annotates_the_samples(self, environment: Path, tmp_path: Path) -> None:
        needs_model()
        output = tmp_path / "annotated.jsonl"
        done = annotate(
            environment, ["--sample", "--export", "jsonl", "--output", str(output)], tmp_path
        )
        assert done.returncode == 0, done.stderr
        records = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
        samples = (ROOT / "sample_data" / "abstracts.jsonl").read_text("utf-8").splitlines()
        assert [record["doc_key"] for record in records] == [
            json.loads(line)["id"] for line in samples
        ]
        found = [
            sum(len(record[layer]) for record in records)
            for layer in ("entities", "links", "groups")
        ]
        assert all(count > len(records) / 2 for count in found)


def annotate(
    environment: Path, words: Sequence[str], cwd: Path
) -> subprocess.CompletedProcess[str]:
    return run(environment / "bin" / "sciextract", "annotate", *words, cwd=cwd)


def needs_model() -> None:
    if not (bundled_models() / "sci" / "manifest.json").is_file():
        pytest.skip("bundled model absent: make model")
