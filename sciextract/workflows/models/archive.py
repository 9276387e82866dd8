"""Models as one file to hand on: a ``.tar`` or ``.zip`` of a model folder, verified by its manifest."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sciextract.errors import FormatError, InputMissingError, ModelDamagedError, UsageError
from sciextract.formats.archive import MAX_BYTES, MAX_MEMBERS, open_archive
from sciextract.formats.base import quoted
from sciextract.inference.model_folder import MANIFEST, listed_files
from sciextract.workflows.models.registry import (
    KnownModel,
    checked_name,
    find_model,
    register,
    written,
)
from sciextract.workflows.output import check_target, whole_output

SUFFIXES = (".tar", ".zip")
_ELSEWHERE = "choose another file"
_YOURSELF = "unpack it yourself if you trust it, and give the folder"


def export(word: str, target: Path, *, force: bool = False) -> KnownModel:
    """Write a model into one file; the same model gives the same bytes.

    Args:
        word: ``NAME``, ``NAME-hash8``, a folder or a hub id.
        target: A file whose name ends in ``.tar`` or ``.zip``.
        force: Whether a file that is there already may be replaced.

    Raises:
        ModelNotFoundError: There is no such model; lists the known ones.
        ModelDamagedError: A file of it is missing or changed.
        UsageError: The file is called otherwise, or several models have the name.
        OutputError: It cannot be written, or is there already.
    """
    if target.suffix not in SUFFIXES:
        problem = f"{target} ends in neither {' nor '.join(SUFFIXES)}"
        raise UsageError(problem, f"for example {target.with_suffix('.tar')}")
    model = find_model(word)
    model.open()
    check_target(target, force=force, kept=[model.folder])
    with written(target, _ELSEWHERE), whole_output(target) as partial:
        (_write_zip if target.suffix == ".zip" else _write_tar)(model, partial)
    return model


def import_(path: Path, name: str | None = None) -> KnownModel:
    """Register a model from an archive or a model folder.

    Nothing is registered unless every file has the hash of the manifest.

    Args:
        path: A ``.tar``, a ``.zip``, or a model folder.
        name: What to call it; its own name when ``None``.

    Raises:
        InputMissingError: There is no such file or folder.
        FormatError: It is not an archive, is damaged, or has a member that is a link, a device, or leads out of
            it.
        ModelDamagedError: It holds no model, or a changed one.
        ModelVersionError: It needs a newer version of the program.
        ModelMismatchError: It was trained on other features.
        UsageError: The name is none that a folder can have.
        OutputError: It cannot be written: no room, or read-only.
    """
    if name is not None:
        checked_name(name)
    if path.is_dir():
        return register(path, name)
    if not path.is_file():
        raise InputMissingError(f"{path}: no such file or folder")
    with _unpacked(path) as folder:
        return register(_model_in(folder, path), name)


def _write_tar(model: KnownModel, target: Path) -> None:
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for name in listed_files(model.folder):
            member = tarfile.TarInfo(f"{model.id}/{name}")
            member.size = (model.folder / name).stat().st_size
            member.mode = 0o644
            with (model.folder / name).open("rb") as content:
                archive.addfile(member, content)


def _write_zip(model: KnownModel, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in listed_files(model.folder):
            member = zipfile.ZipInfo(f"{model.id}/{name}")
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o100644 << 16
            member.file_size = (model.folder / name).stat().st_size
            with (model.folder / name).open("rb") as content, archive.open(member, "w") as packed:
                shutil.copyfileobj(content, packed, 1 << 20)


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """A temporary folder with what an archive holds, after every member was found harmless.

    Raises:
        FormatError: It is not an archive, is damaged, or has a member that could do harm.
    """
    if zipfile.is_zipfile(path):
        with open_archive(str(path)) as folder:
            yield folder
        return
    with TemporaryDirectory(prefix="sciextract-") as holder:
        folder = Path(holder)
        try:
            with tarfile.open(path, "r:") as archive:
                for member in _checked(archive, path):
                    _unpack(archive, member, folder)
        except OSError as error:
            place, hint = str(path), "set TMPDIR to a folder with more space"
            problem = f"cannot be unpacked: {error.strerror or error}"
            raise FormatError(problem, path=place, hint=hint) from error
        except (tarfile.TarError, EOFError, ValueError) as error:
            problem = f"no tar or zip archive, or damaged: {error}"
            raise FormatError(problem, path=path, hint="fetch or pack it again") from error
        yield folder


def _checked(archive: tarfile.TarFile, path: Path) -> list[tarfile.TarInfo]:
    """The files of a tar archive, once all of its members are known to be harmless."""
    files: list[tarfile.TarInfo] = []
    total = 0
    for member in archive:
        total += member.size
        problem = _harm(member)
        if total > MAX_BYTES or len(files) == MAX_MEMBERS:
            problem = f"exceeds {MAX_BYTES / 2**30:.3g} GiB or {MAX_MEMBERS:,} files"
        if problem:
            where = f"member {quoted(member.name)}"
            raise FormatError(f"{where} {problem}", path=path, hint=_YOURSELF)
        if member.isreg():
            files.append(member)
    return files


def _harm(member: tarfile.TarInfo) -> str:
    """What speaks against a member; nothing for files and folders inside of the archive."""
    parts = member.name.replace("\\", "/").split("/")
    if not (member.isreg() or member.isdir()) or member.issparse():
        return "is a link, a device or a sparse file; expected plain files and folders"
    if parts[0] == "" or ".." in parts or ":" in member.name or "\x00" in member.name:
        return "has a path that may lead out of the archive"
    return ""


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    target = folder / member.name
    content = archive.extractfile(member)
    if content is None:
        raise tarfile.ReadError(f"{quoted(member.name)} cannot be read")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with content, target.open("xb") as plain:
            shutil.copyfileobj(content, plain, 1 << 20)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        problem = f"{quoted(member.name)} has the name of another member"
        raise tarfile.ReadError(problem) from error


def _model_in(folder: Path, path: Path) -> Path:
    """The model folder in an unpacked archive: at its top, or the only one below."""
    folders = [
        each.parent for each in (folder / MANIFEST, *folder.glob(f"*/{MANIFEST}")) if each.is_file()
    ]
    if len(folders) != 1:
        raise ModelDamagedError(
            f"{path} holds {len(folders) or 'no'} model folder{'s' * (len(folders) != 1)}, "
            f"a folder with {MANIFEST}; it has to hold one",
            "sciextract models export writes such a file",
        )
    return folders[0]
