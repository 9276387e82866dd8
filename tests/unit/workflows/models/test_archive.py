from __future__ import annotations

import errno
import io
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
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

SUFFIXES = (".tar", ".zip")


@pytest.fixture(autouse=True)
def _graphs_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graphs of these models are bytes that no runtime reads."""
    monkeypatch.setattr("sciextract.workflows.models.registry.try_model", lambda folder: None)


@pytest.fixture
def model(tmp_path: Path) -> KnownModel:
    return register(model_folder(tmp_path / "made"))


def nothing_is_registered() -> bool:
    return all(each.bundled for each in known_models())


def tar_with(path: Path, model: KnownModel, *members: tarfile.TarInfo, name: str = "m") -> Path:
    """A tar of a whole model, and further members."""
    with tarfile.open(path, "w") as made:
        made.add(model.folder, name)
        for member in members:
            made.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def zip_with(path: Path, model: KnownModel, *members: zipfile.ZipInfo) -> Path:
    """A zip of a whole model, and further members."""
    with zipfile.ZipFile(path, "w") as made:
        for file in model.folder.iterdir():
            made.write(file, f"m/{file.name}")
        for member in members:
            made.writestr(member, b"../../outside")
    return path


class TestThereAndBack:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_the_same_model_comes_back(
        self, model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
    ) -> None:
        file = tmp_path / f"m{suffix}"
        assert export("parsing", file) == model
        monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "elsewhere"))
        again = import_(file)
        assert (again.id, again.open().hash) == (model.id, model.hash)
        assert find_model("parsing") == again

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_the_same_model_gives_the_same_bytes(
        self, model: KnownModel, tmp_path: Path, suffix: str
    ) -> None:
        export("parsing", tmp_path / f"1{suffix}")
        os.utime(model.folder / "README.md", (1, 1))
        export(str(model.folder), tmp_path / f"2{suffix}")
        assert (tmp_path / f"1{suffix}").read_bytes() == (tmp_path / f"2{suffix}").read_bytes()

    def test_a_bundled_model_can_be_handed_on(self, tmp_path: Path) -> None:
        export("sci", tmp_path / "sci.tar")
        assert import_(tmp_path / "sci.tar", "mine").hash == find_model("sci").hash

    def test_a_folder_is_taken_as_it_is(self, tmp_path: Path) -> None:
        assert import_(model_folder(tmp_path / "f"), "graphs").name == "graphs"

    def test_archives_of_people_have_the_model_at_the_top_or_one_below(
        self, model: KnownModel, tmp_path: Path
    ) -> None:
        for name in (".", "any name"):
            shutil.rmtree(user_models())
            folder = model_folder(tmp_path / name.replace(".", "top"))
            with tarfile.open(tmp_path / "p.tar", "w") as made:
                made.add(folder, name)
            assert import_(tmp_path / "p.tar").id == model.id
        assert "checkpoint.bin" not in names_in(user_models() / model.id)


class TestExport:
    def test_other_suffixes_are_refused(self, model: KnownModel, tmp_path: Path) -> None:
        for name in ("m.rar", "m.tar.gz", "m"):
            with pytest.raises(UsageError, match=r"neither \.tar nor \.zip"):
                export("parsing", tmp_path / name)

    def test_nothing_is_overwritten_unasked(self, model: KnownModel, tmp_path: Path) -> None:
        file = tmp_path / "m.tar"
        file.write_text("precious")
        with pytest.raises(OutputError, match="would be overwritten"):
            export("parsing", file)
        assert file.read_text() == "precious"
        export("parsing", file, force=True)
        assert tarfile.is_tarfile(file)

    def test_a_damaged_model_is_not_handed_on(self, model: KnownModel, tmp_path: Path) -> None:
        (model.folder / "model.int8.onnx").write_text("changed")
        with pytest.raises(ModelDamagedError):
            export(model.id, tmp_path / "m.tar")

    def test_unknown_and_unwritable(self, model: KnownModel, tmp_path: Path) -> None:
        with pytest.raises(ModelNotFoundError, match="nosuch"):
            export("nosuch", tmp_path / "m.tar")
        with pytest.raises(OutputError, match="no such folder"):
            export("parsing", tmp_path / "absent" / "m.tar")

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_a_full_disk_leaves_nothing(
        self, model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
    ) -> None:
        def full(*_: Any, **__: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("shutil.copyfileobj", full)
        monkeypatch.setattr(tarfile, "copyfileobj", full)
        before = names_in(tmp_path)
        with pytest.raises(OutputError, match="the disk is full"):
            export("parsing", tmp_path / f"m{suffix}")
        assert names_in(tmp_path) == before


def _member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, 1 if kind == tarfile.REGTYPE else 0
    return made


HOSTILE_TAR = [
    _member("../outside"),
    _member("m/../../outside"),
    _member("/outside"),
    _member("m\\..\\..\\outside"),
    _member("C:outside"),
    _member("m/link", tarfile.SYMTYPE, "/etc/passwd"),
    _member("m/link", tarfile.SYMTYPE, "README.md"),
    _member("m/link", tarfile.LNKTYPE, "m/README.md"),
    _member("m/pipe", tarfile.FIFOTYPE),
    _member("m/device", tarfile.CHRTYPE),
    _member("m/README.md"),
    _member("m/README.md/below"),
]


def _zip_member(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made


HOSTILE_ZIP = [
    _zip_member("../outside"),
    _zip_member("m/../../outside"),
    _zip_member("/outside"),
    _zip_member("m\\..\\..\\outside"),
    _zip_member("m/link", 0o120777),
    _zip_member("m/README.md/below"),
]


class TestImport:
    @pytest.mark.parametrize("member", HOSTILE_TAR, ids=lambda each: f"{each.name} {each.type}")
    def test_hostile_tars(self, model: KnownModel, tmp_path: Path, member: tarfile.TarInfo) -> None:
        file = tar_with(tmp_path / "h.tar", model, member)
        shutil.rmtree(user_models())
        before = names_in(tmp_path)
        with pytest.raises(FormatError, match=r"h\.tar: "):
            import_(file)
        assert nothing_is_registered() and names_in(tmp_path) == before

    @pytest.mark.parametrize("member", HOSTILE_ZIP, ids=lambda each: each.filename)
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

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_every_cut_is_found(self, model: KnownModel, tmp_path: Path, suffix: str) -> None:
        export("parsing", tmp_path / f"m{suffix}")
        whole = (tmp_path / f"m{suffix}").read_bytes()
        shutil.rmtree(user_models())
        used = len(whole.rstrip(b"\0"))
        for size in (0, 1, 100, 600, used // 2, used - 600):
            (tmp_path / f"cut{suffix}").write_bytes(whole[:size])
            with pytest.raises(SciextractError):
                import_(tmp_path / f"cut{suffix}")
            assert nothing_is_registered()

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_a_changed_file_is_found(self, model: KnownModel, tmp_path: Path, suffix: str) -> None:
        (model.folder / "model.int8.onnx").write_text("sthgiew")  # as long as before
        with_changes: Callable[..., Path] = tar_with if suffix == ".tar" else zip_with
        file = with_changes(tmp_path / f"m{suffix}", model)
        shutil.rmtree(user_models())
        with pytest.raises(ModelDamagedError, match="hash in the manifest"):
            import_(file)
        assert nothing_is_registered()

    def test_no_model_and_two_models(self, model: KnownModel, tmp_path: Path) -> None:
        with tarfile.open(tmp_path / "none.tar", "w") as made:
            made.addfile(_member("notes.txt"), io.BytesIO(b"x"))
        with pytest.raises(ModelDamagedError, match="holds no model folder"):
            import_(tmp_path / "none.tar")
        with tarfile.open(tmp_path / "two.tar", "w") as made:
            made.add(model.folder, "a")
            made.add(model.folder, "b")
        with pytest.raises(ModelDamagedError, match="holds 2 model folders"):
            import_(tmp_path / "two.tar")

    def test_a_tar_of_the_present_folder(self, model: KnownModel, tmp_path: Path) -> None:
        with tarfile.open(tmp_path / "m.tar", "w") as made:
            made.add(model.folder, ".")
        shutil.rmtree(user_models())
        assert import_(tmp_path / "m.tar", "again").hash == model.hash

    def test_files_that_are_no_archives(self, tmp_path: Path) -> None:
        (tmp_path / "n.tar").write_text("hello")
        with pytest.raises(FormatError, match="no tar or zip archive, or damaged"):
            import_(tmp_path / "n.tar")
        with pytest.raises(InputMissingError):
            import_(tmp_path / "absent.tar")

    def test_more_than_an_archive_may_hold(
        self, model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tar_with(tmp_path / "m.tar", model)
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
