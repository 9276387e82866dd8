from __future__ import annotations

import errno
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sciextract.errors import (
    FormatError,
    InputMissingError,
    ModelDamagedError,
    ModelNotFoundError,
    OutputError,
    SciextractError,
    UsageError,
)
from sciextract.formats import archive
from sciextract.resources import user_models
from sciextract.workflows.models.registry import (
    KnownModel,
    export,
    find_model,
    import_,
    known_models,
    register,
)
from tests.unit.workflows.models.builders import model_folder, names_in


@pytest.fixture(autouse=True)
def _graphs_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graphs of these models are bytes that no runtime reads."""
    monkeypatch.setattr("sciextract.workflows.models.registry.try_model", lambda folder: None)


@pytest.fixture
def model(tmp_path: Path) -> KnownModel:
    return register(model_folder(tmp_path / "made"))


def nothing_is_registered() -> bool:
    return all(known.bundled for known in known_models())


def zip_with(path: Path, model: KnownModel, *members: zipfile.ZipInfo) -> Path:
    """A zip of a whole model, and further members."""
    with zipfile.ZipFile(path, "w") as made:
        for file in model.folder.iterdir():
            made.write(file, f"m/{file.name}")
        for member in members:
            made.writestr(member, b"../../outside")
    return path


class TestThereAndBack:
    def test_the_same_model_comes_back(
        self, model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "m.zip"
        assert export("parsing", file) == model
        monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "elsewhere"))
        again = import_(file)
        assert (again.id, again.open().hash) == (model.id, model.hash)
        assert find_model("parsing") == again

    def test_the_same_model_gives_the_same_bytes(self, model: KnownModel, tmp_path: Path) -> None:
        export("parsing", tmp_path / "1.zip")
        os.utime(model.folder / "README.md", (1, 1))
        export(str(model.folder), tmp_path / "2.zip")
        assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()

    def test_a_bundled_model_can_be_handed_on(self, tmp_path: Path) -> None:
        export("sci", tmp_path / "sci.zip")
        assert import_(tmp_path / "sci.zip", "mine").hash == find_model("sci").hash

    def test_a_folder_is_taken_as_it_is(self, tmp_path: Path) -> None:
        assert import_(model_folder(tmp_path / "f"), "graphs").name == "graphs"

    def test_archives_of_people_have_the_model_at_the_top_or_one_below(
        self, model: KnownModel, tmp_path: Path
    ) -> None:
        for name in (".", "any name"):
            shutil.rmtree(user_models())
            folder = model_folder(tmp_path / name.replace(".", "top"))
            with zipfile.ZipFile(tmp_path / "p.zip", "w") as made:
                for file in folder.iterdir():
                    made.write(file, f"{name}/{file.name}")
            assert import_(tmp_path / "p.zip").id == model.id
        assert "checkpoint.bin" not in names_in(user_models() / model.id)


class TestExport:
    def test_other_suffixes_are_refused(self, model: KnownModel, tmp_path: Path) -> None:
        for name in ("m.tar", "m.tar.gz", "m"):
            with pytest.raises(UsageError, match=r"does not end in \.zip"):
                export("parsing", tmp_path / name)

    def test_nothing_is_overwritten_unasked(self, model: KnownModel, tmp_path: Path) -> None:
        file = tmp_path / "m.zip"
        file.write_text("precious")
        with pytest.raises(OutputError, match="would be overwritten"):
            export("parsing", file)
        assert file.read_text() == "precious"
        export("parsing", file, force=True)
        assert zipfile.is_zipfile(file)

    def test_a_damaged_model_is_not_handed_on(self, model: KnownModel, tmp_path: Path) -> None:
        (model.folder / "model.int8.onnx").write_text("changed")
        with pytest.raises(ModelDamagedError):
            export(model.id, tmp_path / "m.zip")

    def test_unknown_and_unwritable(self, model: KnownModel, tmp_path: Path) -> None:
        with pytest.raises(ModelNotFoundError, match="nosuch"):
            export("nosuch", tmp_path / "m.zip")
        with pytest.raises(OutputError, match="no such folder"):
            export("parsing", tmp_path / "absent" / "m.zip")

    def test_a_full_disk_leaves_nothing(
        self, model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: Any, **__: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("shutil.copyfileobj", full)
        before = names_in(tmp_path)
        with pytest.raises(OutputError, match="the disk is full"):
            export("parsing", tmp_path / "m.zip")
        assert names_in(tmp_path) == before


def _zip_member(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made


HOSTILE_ZIP = [
    _zip_member("../outside"),
    _zip_member("m/../../outside"),
    _zip_member("/outside"),
    _zip_member("m\\..\\..\\outside"),
    _zip_member("C:outside"),
    _zip_member("m/link", 0o120777),
    _zip_member("m/pipe", 0o010644),
    _zip_member("m/README.md"),
    _zip_member("m/README.md/below"),
]


class TestImport:
    @pytest.mark.parametrize("member", HOSTILE_ZIP, ids=lambda info: info.filename)
    def test_hostile_zips(self, model: KnownModel, tmp_path: Path, member: zipfile.ZipInfo) -> None:
        file = zip_with(tmp_path / "h.zip", model, member)
        shutil.rmtree(user_models())
        with pytest.raises(FormatError, match=r"h\.zip: "):
            import_(file)
        assert nothing_is_registered()

    def test_a_manifest_that_leads_out_of_the_folder(self, tmp_path: Path) -> None:
        folder = model_folder(tmp_path / "m")
        (tmp_path / "secret").write_text("secret")
        text = (folder / "manifest.json").read_text()
        (folder / "manifest.json").write_text(text.replace('"README.md"', '"../secret"'))
        with pytest.raises(ModelDamagedError, match="leaves the folder"):
            import_(folder)
        assert nothing_is_registered()

    def test_every_cut_is_found(self, model: KnownModel, tmp_path: Path) -> None:
        export("parsing", tmp_path / "m.zip")
        whole = (tmp_path / "m.zip").read_bytes()
        shutil.rmtree(user_models())
        for size in (0, 1, 100, 600, len(whole) // 2, len(whole) - 600):
            (tmp_path / "cut.zip").write_bytes(whole[:size])
            with pytest.raises(SciextractError):
                import_(tmp_path / "cut.zip")
            assert nothing_is_registered()

    def test_a_changed_file_is_found(self, model: KnownModel, tmp_path: Path) -> None:
        (model.folder / "model.int8.onnx").write_text("sthgiew")  # as long as before
        file = zip_with(tmp_path / "m.zip", model)
        shutil.rmtree(user_models())
        with pytest.raises(ModelDamagedError, match="hash in the manifest"):
            import_(file)
        assert nothing_is_registered()

    def test_no_model_and_two_models(self, model: KnownModel, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "none.zip", "w") as made:
            made.writestr("notes.txt", "x")
        with pytest.raises(ModelDamagedError, match="holds no model folder"):
            import_(tmp_path / "none.zip")
        with zipfile.ZipFile(tmp_path / "two.zip", "w") as made:
            for file in model.folder.iterdir():
                made.write(file, f"a/{file.name}")
                made.write(file, f"b/{file.name}")
        with pytest.raises(ModelDamagedError, match="holds 2 model folders"):
            import_(tmp_path / "two.zip")

    def test_files_that_are_no_archives(self, tmp_path: Path) -> None:
        (tmp_path / "n.zip").write_text("hello")
        with pytest.raises(FormatError, match="no zip archive, or damaged"):
            import_(tmp_path / "n.zip")
        with pytest.raises(InputMissingError):
            import_(tmp_path / "absent.zip")

    def test_more_than_an_archive_may_hold(
        self, model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = zip_with(tmp_path / "m.zip", model)
        shutil.rmtree(user_models())
        monkeypatch.setattr(archive, "MAX_BYTES", 100)
        with pytest.raises(FormatError, match="exceeds"):
            import_(file)

    def test_names_of_strangers_are_held_to_the_rules(self, tmp_path: Path) -> None:
        folder = model_folder(tmp_path / "m", "../../evil")
        with pytest.raises(UsageError, match="is not a model name") as caught:
            import_(folder)
        assert "--name" in caught.value.hint
        assert import_(folder, "tame").folder.parent == user_models()
