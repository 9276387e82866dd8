"""Models of other distributions: found through their entry points, wrong ones named with the next step."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sciextract.errors import (
    ExitCode,
    ModelDamagedError,
    ModelNotFoundError,
)
from sciextract.inference.candidates import FEATURE_VERSION
from sciextract.inference.model_folder import locate_model
from sciextract.workflows.models.choice import find_chosen, rollback, unusable_models, use
from sciextract.workflows.models.registry import find_model, known_models, register
from tests.cli.conftest import Command
from tests.unit.workflows.models.builders import model_folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def distribution(site: Path, name: str, entry: str, version: str = "1.0") -> Path:
    """What pip leaves of a distribution whose code fails when it is imported; gives its package."""
    package = site / name.replace("-", "_")
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    info = site / f"{package.name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[sciextract.models]\n{entry}\n")
    return package


@pytest.fixture
def base(site: Path) -> Path:
    """The folder of an installed base model."""
    package = distribution(site, "sciextract-sci-base", "sci-base = sciextract_sci_base:model")
    return model_folder(package / "model", "sci-base")


def test_a_name_leads_to_its_folder_and_nothing_is_imported(base: Path) -> None:
    model = find_model("sci-base")
    assert (model.folder, model.distribution) == (base, "sciextract-sci-base 1.0")
    assert find_model(model.id) == model == find_model(base)
    assert model in known_models()
    assert "sciextract_sci_base" not in sys.modules
    assert model.open().hash == model.hash


def test_the_name_is_its_own(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = register(model_folder(tmp_path / "made", "sci-base", "other weights"))
    monkeypatch.chdir(tmp_path)
    model_folder(tmp_path / "sci-base", "sci-base", "a folder of that name")
    assert locate_model("sci-base") == base
    assert find_model(own.id).registered
    assert locate_model("./sci-base") == Path("sci-base")


def test_a_choice_holds_whatever_version_is_installed(base: Path, site: Path) -> None:
    assert use("sci-base").folder == base
    assert find_chosen().by == "user" and "your choice" in find_chosen().message()
    for file in base.iterdir():
        file.unlink()
    base.rmdir()
    model_folder(base, "sci-base", "the next version")
    assert find_chosen().model.folder == base
    (site / "sciextract_sci_base-1.0.dist-info" / "entry_points.txt").unlink()
    with pytest.raises(ModelNotFoundError) as gone:
        find_chosen()
    assert "sci-base" in gone.value.message and "install the package" in gone.value.hint
    assert rollback().model.name == "sci"


def test_it_predicts_only_when_somebody_chooses_it(base: Path) -> None:
    assert (find_chosen().model.name, find_chosen().by) == ("sci", "default")
    use("sci-base")
    assert find_chosen().model.folder == base


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("sci-base = sciextract_sci_base:nothing", "which is not an installed PACKAGE:FOLDER"),
        ("sci-base = never_installed:model", "which is not an installed PACKAGE:FOLDER"),
        ("sci-base = sciextract_sci_base", "which is not an installed PACKAGE:FOLDER"),
        ("sci-base = os.path:../../etc", "which is not an installed PACKAGE:FOLDER"),
    ],
)
def test_an_entry_point_to_nothing(
    base: Path, site: Path, entry: str, wrong: str, command: Command
) -> None:
    info = site / "sciextract_sci_base-1.0.dist-info" / "entry_points.txt"
    info.write_text(f"[sciextract.models]\n{entry}\n")
    with pytest.raises(ModelNotFoundError) as raised:
        find_model("sci-base")
    assert "sciextract-sci-base 1.0" in raised.value.message and wrong in raised.value.message
    assert "pip uninstall sciextract-sci-base" in raised.value.hint
    [listed] = [model for model in known_models() if model.distribution]
    assert wrong in listed.problem
    assert find_chosen(None).model.name == "sci"
    assert "model sci-base is skipped" in unusable_models() and wrong in unusable_models()
    listed_here = command("models", "list")
    assert listed_here.code == ExitCode.DONE and wrong in listed_here.out
    assert find_model("sci").bundled


def test_two_distributions_of_one_name(base: Path, site: Path) -> None:
    other = distribution(site, "zz-base", "sci-base = zz_base:model", "2.0")
    model_folder(other / "model", "sci-base")
    assert {find_model("sci-base").folder} <= {base, other / "model"}
    [second] = [model for model in known_models() if model.problem]
    assert "which another model is called" in second.problem and "pip uninstall" in second.hint


def test_names_of_bundled_models_and_hostile_ones_are_refused(site: Path, command: Command) -> None:
    package = distribution(site, "intruder", "sci = intruder:model\nA\x1b[31mB = intruder:model")
    model_folder(package / "model", "intruder")
    assert find_model("sci").bundled
    listed = command("models", "list")
    assert listed.code == ExitCode.DONE
    assert listed.out.count("which another model is called or none may be") == 2
    assert "\x1b" not in listed.out


def test_a_model_of_a_newer_program(base: Path, command: Command) -> None:
    newer = base.parent / "newer"
    base.rename(newer)
    model_folder(base, "sci-base", feature_version=FEATURE_VERSION + 1)
    with pytest.raises(ModelDamagedError, match=f"feature version {FEATURE_VERSION + 1}"):
        find_model(base).open()
    result = command("annotate", "--sample", "--model", "sci-base")
    assert result.code == ExitCode.FAILED
    assert str(base / "config.json") in result.err and f"up to {FEATURE_VERSION}" in result.err
    assert "pip install --upgrade sciextract" in result.err


def test_commands_show_where_it_comes_from(base: Path, command: Command) -> None:
    assert "from sciextract-sci-base 1.0" in command("models", "list").out
    shown = command("models", "show", "sci-base", "--json")
    assert json.loads(shown.out)["distribution"] == "sciextract-sci-base 1.0"
    unknown = command("models", "show", "nothing")
    assert "sci-base" in unknown.err


def test_a_half_removed_model_is_skipped(base: Path) -> None:
    for file in base.iterdir():
        file.unlink()
    assert find_chosen(None).model.name == "sci"
    assert "model sci-base is skipped" in unusable_models()


def test_a_registered_model_without_its_files_is_named_and_skipped(
    tmp_path: Path, command: Command
) -> None:
    own = register(model_folder(tmp_path / "made", "mine"))
    (own.folder / "model.int8.onnx").unlink()
    assert find_chosen(None).model.name == "sci"
    assert "model mine is skipped" in unusable_models()
    assert command("models", "list").code == ExitCode.DONE
