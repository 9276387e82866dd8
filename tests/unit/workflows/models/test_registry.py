from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from sciextract.errors import (
    ModelDamagedError,
    ModelNotFoundError,
    OutputError,
    SciextractError,
    UsageError,
)
from sciextract.inference.model_folder import MANIFEST, locate_model
from sciextract.resources import user_models
from sciextract.workflows.models.registry import find_model, known_models, register
from tests.unit.workflows.models.builders import at_once, model_folder, names_in


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "made")


class TestRegistering:
    def test_a_model_is_copied_under_its_name_and_hash(self, folder: Path) -> None:
        model = register(folder)
        assert model.id == f"parsing-{model.hash[:8]}" == model.folder.name
        assert model.folder.parent == user_models() == Path(os.environ["SCIEXTRACT_HOME"], "models")
        assert model.open().hash == model.hash
        assert "checkpoint.bin" not in names_in(model.folder)
        assert model.registered and not model.bundled and model.since.endswith("Z")

    def test_it_may_be_called_otherwise(self, folder: Path) -> None:
        assert register(folder, "graphs").name == "graphs"
        assert find_model("graphs").hash == find_model(folder).hash

    @pytest.mark.parametrize(
        "name", ["", "..", "a/b", "-x", "a b", "é", "x" * 65, "a\n", "\x1b[1m"]
    )
    def test_names_are_names_of_folders(self, folder: Path, name: str) -> None:
        with pytest.raises(UsageError, match="is not a model name; use"):
            register(folder, name)

    def test_twice_is_once(self, folder: Path) -> None:
        first = register(folder)
        before = (first.folder / "manifest.json").stat().st_mtime_ns
        assert register(folder) == first
        assert (first.folder / "manifest.json").stat().st_mtime_ns == before

    def test_a_damaged_copy_is_made_whole(self, folder: Path) -> None:
        model = register(folder)
        (model.folder / "model.int8.onnx").write_text("changed")
        with pytest.raises(ModelDamagedError):
            model.open()
        assert register(folder).open().hash == model.hash
        assert names_in(user_models()) == [model.id]

    def test_a_damaged_folder_is_refused(self, folder: Path) -> None:
        (folder / "model.int8.onnx").write_text("changed")
        with pytest.raises(ModelDamagedError, match=r"instead of|hash in the manifest"):
            register(folder)
        assert not user_models().exists()

    def test_no_folder_at_all(self, tmp_path: Path) -> None:
        with pytest.raises(ModelNotFoundError):
            register(tmp_path / "absent")

    def test_a_full_disk_leaves_nothing_behind(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("shutil.copyfile", full)
        with pytest.raises(OutputError, match="the disk is full; nothing was changed"):
            register(folder)
        assert names_in(user_models()) == []

    def test_a_place_that_cannot_be_written(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "file"))
        with pytest.raises(OutputError) as caught:
            register(folder)
        assert "SCIEXTRACT_HOME" in caught.value.hint
        assert [model.name for model in known_models() if not model.bundled] == []

    def test_what_killed_processes_left_goes_after_a_day(self, folder: Path) -> None:
        old, fresh = (user_models() / f".{name}.partial" for name in ("old", "fresh"))
        for path in (old, fresh):
            path.mkdir(parents=True)
        os.utime(old, (time.time() - 3 * 86400,) * 2)
        model = register(folder)
        assert names_in(user_models()) == [".fresh.partial", model.id]
        assert [known.id for known in known_models() if not known.bundled] == [model.id]

    def test_processes_that_register_the_same_model_agree(self, folder: Path) -> None:
        script = (
            "from pathlib import Path\n"
            "from sciextract.workflows.models.registry import register\n"
            "sys.stdin.readline()\n"
            "print(register(Path(sys.argv[1])).open().hash)"
        )
        found = at_once(script, [folder], [folder], [folder])
        assert set(found) == {find_model("parsing").hash}
        assert len(names_in(user_models())) == 1


class TestFinding:
    def test_of_two_of_one_name_the_newest_has_it(self, tmp_path: Path) -> None:
        folders = [model_folder(tmp_path / name, weights=name) for name in ("a", "b")]
        one = register(folders[0])
        os.utime(one.folder / MANIFEST, (1, 1))
        two = register(folders[1])
        assert find_model("parsing") == two
        os.utime(two.folder / MANIFEST, (2, 2))
        assert register(folders[0]) == one == find_model("parsing"), "registered again"
        assert find_model(one.id) == one
        assert locate_model(two.id) == two.folder

    def test_an_unknown_name_lists_the_known_ones(self, folder: Path) -> None:
        model = register(folder)
        with pytest.raises(ModelNotFoundError) as caught:
            find_model("nosuch")
        assert "'nosuch'" in caught.value.message
        assert f"science, {model.id}" in caught.value.hint

    def test_a_bundled_name_means_the_bundled_model(self, tmp_path: Path) -> None:
        own = register(model_folder(tmp_path / "own", "sci"))
        assert find_model("sci").bundled
        assert find_model(own.id) == own
        assert find_model(find_model("sci").id).bundled

    def test_a_folder_means_itself(self, folder: Path) -> None:
        model = find_model(folder)
        assert (model.name, model.folder, model.registered) == ("parsing", folder, False)

    def test_a_path_below_another_spelling_is_the_registered_one(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = register(folder)
        monkeypatch.chdir(user_models())
        assert find_model(f"./{model.id}").registered

    def test_a_changed_manifest_is_not_taken_for_the_model(
        self, tmp_path: Path, folder: Path
    ) -> None:
        model = register(folder)
        other = model_folder(tmp_path / "other", weights="others")
        for name in ("model.int8.onnx", "manifest.json"):
            (model.folder / name).write_bytes((other / name).read_bytes())
        for word in (model.id, "parsing"):
            with pytest.raises(ModelDamagedError, match="it was changed"):
                find_model(word)
        (listed,) = [known for known in known_models() if not known.bundled]
        assert "it was changed" in listed.problem


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("manifest.json", None, "manifest.json"),
        ("manifest.json", "[]", "manifest.json has the hash"),
        ("model.int8.onnx", None, "is missing"),
        ("config.json", "cut", "it is truncated or changed"),
    ],
)
def test_a_damaged_model_is_listed_with_what_is_wrong(
    folder: Path, file: str, content: str | None, said: str
) -> None:
    model = register(folder)
    if content is None:
        (model.folder / file).unlink()
    else:
        (model.folder / file).write_text(content)
    (listed,) = [known for known in known_models() if not known.bundled]
    assert listed.name == "parsing" and said in listed.problem
    with pytest.raises(SciextractError):
        listed.open()


def test_files_and_foreign_folders_are_no_models() -> None:
    user_models().mkdir(parents=True)
    (user_models() / "parsing-1a2b3c4d").write_text("a file")
    (user_models() / "notes").mkdir()
    assert all(model.bundled for model in known_models())
