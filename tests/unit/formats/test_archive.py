"""Zip archives: read like the folder they hold, or refused before anything is written."""

from __future__ import annotations

import gzip
import random
import stat
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError
from sciextract.formats import BadRecord, archive, read
from sciextract.formats.archive import Names, open_archive
from sciextract.formats.base import Source

RECORD = '{"id": "k", "text": "We parse graphs."}\n'
ENTITY = (
    '{"doc_key": "s", "sentences": [["We", "parse", "graphs"]], "ner": [[[2, 2, "Material"]]]}\n'
)
Tamper = Callable[[zipfile.ZipInfo], None]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where archives are unpacked to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def pack(path: Path, members: dict[str, str | bytes], tamper: Tamper | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            info = zipfile.ZipInfo("x")
            info.filename = info.orig_filename = name
            info.compress_type = zipfile.ZIP_DEFLATED
            if tamper:
                tamper(info)
            packed.writestr(info, content)
    return path


def keys(path: Path, format_id: str | None = None) -> list[str]:
    return [
        item.document.doc_key if isinstance(item, AnnotatedDocument) else item.error.place
        for item in read([path], format_id)
    ]


def refusal(path: Path) -> FormatError:
    with pytest.raises(FormatError) as caught:
        list(read([path]))
    return caught.value


def everything_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_an_archive_is_read_like_the_folder_it_holds(tmp_path: Path, temporary: Path) -> None:
    members: dict[str, str | bytes] = {
        "deep/b.txt": "We rank proteins.",
        "a.jsonl": RECORD,
        "packed.jsonl.gz": gzip.compress(RECORD.replace("k", "z").encode()),
        "__MACOSX/c.txt": "not ours",
        ".hidden.txt": "not ours",
        "picture.png": b"\x89PNG",
    }
    path = pack(tmp_path / "made.v1.ZIP", members)
    assert keys(path) == ["k", "z", "b"]
    assert keys(path, "text") == ["b"]
    assert list(temporary.iterdir()) == []


def test_archives_stand_beside_other_inputs(tmp_path: Path) -> None:
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\x03\x04 cut")
    plain = tmp_path / "plain.txt"
    plain.write_text("We parse.")
    first, second, third = read([broken, plain, pack(tmp_path / "made.zip", {"a.jsonl": RECORD})])
    assert isinstance(first, BadRecord) and first.error.path == str(broken)
    assert isinstance(second, AnnotatedDocument) and isinstance(third, AnnotatedDocument)


def test_provenance_and_keys_name_the_archive_not_the_temporary_folder(tmp_path: Path) -> None:
    path = pack(tmp_path / "made.zip", {"deep/a.jsonl": ENTITY + '{"text": "b"}'})
    entity, unnamed = read([path])
    assert isinstance(entity, AnnotatedDocument) and isinstance(unnamed, AnnotatedDocument)
    assert entity.annotations.entities[0].source == "import:made.zip/deep/a.jsonl"
    assert unnamed.document.doc_key == "a:2"
    whole = Names("x/made.zip", tmp_path).source(Source(str(tmp_path)))
    assert (whole.provenance, whole.stem) == ("import:made.zip", "made")


def test_errors_name_the_member_in_the_archive(tmp_path: Path) -> None:
    path = pack(tmp_path / "made.zip", {"deep/a.jsonl": "{}\n" + RECORD, "b.txt": ""})
    empty, bad, good = read([path])
    assert isinstance(empty, BadRecord) and isinstance(bad, BadRecord)
    assert empty.error.message == f"{path}/b.txt: the file is empty"
    assert bad.error.message.startswith(f"{path}/deep/a.jsonl:1: ")
    assert isinstance(good, AnnotatedDocument)


def test_an_archive_without_readable_files_says_so(tmp_path: Path) -> None:
    for members in ({}, {"picture.png": b"\x89PNG"}, {"folder/": b""}):
        error = refusal(pack(tmp_path / "made.zip", dict(members)))
        assert error.message.startswith(f"{tmp_path / 'made.zip'}: no readable file below")


def test_an_archive_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError):
        read([tmp_path / "absent.zip"])
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "folder.zip" / "a.jsonl").write_text(RECORD)
    assert keys(tmp_path / "folder.zip") == ["k"]


def test_the_folder_goes_when_the_reader_is_abandoned(tmp_path: Path, temporary: Path) -> None:
    items = read([pack(tmp_path / "made.zip", {"a.jsonl": RECORD * 9})])
    next(items)
    assert len(list(temporary.iterdir())) == 1
    del items
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("../evil.txt", "may lead out of the archive"),
        ("deep/../../evil.txt", "may lead out of the archive"),
        ("..", "may lead out of the archive"),
        ("..\\evil.txt", "may lead out of the archive"),
        ("../", "may lead out of the archive"),
        ("/evil.txt", "absolute path"),
        ("\\evil.txt", "absolute path"),
        ("\\\\host\\share\\evil.txt", "absolute path"),
        ("C:\\evil.txt", "absolute path"),
        ("c:evil.txt", "absolute path"),
        ("deep/C:evil.txt", "may lead out of the archive"),
        ("evil\x00.txt", "no usable name"),
        ("./", "no usable name"),
    ],
)
def test_paths_that_lead_out_are_refused_and_nothing_is_written(
    name: str, problem: str, tmp_path: Path
) -> None:
    path = pack(tmp_path / "made.zip", {"good.txt": "We parse.", name: "evil"})
    before = everything_below(tmp_path)
    error = refusal(path)
    assert problem in error.message and repr(name) in error.message
    assert error.path == str(path)
    assert everything_below(tmp_path) == before


def test_backslashes_separate_folders(tmp_path: Path) -> None:
    path = pack(tmp_path / "made.zip", {"deep\\": "", "deep\\a.jsonl": "{}"})
    assert keys(path) == [f"{path}/deep/a.jsonl:1"]


@pytest.mark.parametrize(
    ("kind", "problem"),
    [(stat.S_IFLNK, "a symbolic link"), (stat.S_IFIFO, "a device"), (stat.S_IFCHR, "a device")],
)
def test_links_and_devices_are_refused(kind: int, problem: str, tmp_path: Path) -> None:
    def tamper(info: zipfile.ZipInfo) -> None:
        info.create_system = 3
        info.external_attr = (kind | 0o644) << 16

    error = refusal(pack(tmp_path / "made.zip", {"link.txt": "/etc/passwd"}, tamper))
    assert f"member 'link.txt' is {problem}" in error.message


def patched(path: Path, entry_byte: int, value: int) -> Path:
    """The archive with one byte of its first central entry changed."""
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + entry_byte] = value
    path.write_bytes(data)
    return path


def test_encrypted_members_and_other_methods_are_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "made.zip", {"a.txt": "secret"})
    assert "member 'a.txt' is encrypted" in refusal(patched(path, 8, 1)).message
    path = pack(tmp_path / "made.zip", {"a.txt": "secret"})
    assert "packed with method 14" in refusal(patched(path, 10, 14)).message


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBERS", 2)
    error = refusal(pack(tmp_path / "made.zip", {f"{n}.txt": "x" for n in range(3)}))
    assert "has more than 2 members" in error.message


def test_too_much_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 10)
    error = refusal(pack(tmp_path / "made.zip", {"a.txt": "123456", "b.txt": "123456"}))
    assert "member 'b.txt' exceeds" in error.message


def test_a_zip_bomb_is_refused_before_it_goes_off(tmp_path: Path, temporary: Path) -> None:
    path = pack(tmp_path / "made.zip", {"good.txt": "We parse.", "bomb.txt": b"0" * (8 << 20)})
    assert path.stat().st_size < 20_000
    error = refusal(path)
    assert (
        "member 'bomb.txt' unpacks to 1,0" in error.message and "the limit is 200" in error.message
    )
    assert everything_below(temporary) == set()


def test_a_member_that_holds_more_than_it_says_is_damaged(tmp_path: Path, temporary: Path) -> None:
    path = pack(tmp_path / "made.zip", {"a.txt": b"0" * (2 << 20)})
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = data.index(mark) + at
        data[start : start + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(data)
    assert "member 'a.txt' is damaged" in refusal(path).message


def test_two_members_of_one_name(tmp_path: Path) -> None:
    for names in (("a.txt", "./a.txt"), ("a.txt", "a.txt/b.txt"), ("a.txt/b.txt", "a.txt")):
        error = refusal(pack(tmp_path / "made.zip", dict.fromkeys(names, "x")))
        assert f"member {names[1]!r} has the name of another member" in error.message


def test_a_name_that_the_file_system_refuses(tmp_path: Path) -> None:
    error = refusal(pack(tmp_path / "made.zip", {"a" * 300 + ".txt": "x"}))
    assert "cannot be unpacked" in error.message and "TMPDIR" in error.hint


def test_files_that_are_no_archives(tmp_path: Path) -> None:
    path = tmp_path / "made.zip"
    whole = pack(path, {"a.jsonl": RECORD * 99}).read_bytes()
    for content in (b"", b"We parse.", whole[:-30], whole[: len(whole) // 2]):
        path.write_bytes(content)
        assert refusal(path).message.startswith(f"{path}: no zip archive, or damaged")


def test_flipped_bytes_never_end_in_a_traceback(tmp_path: Path, temporary: Path) -> None:
    chance = random.Random(5)
    whole = pack(tmp_path / "made.zip", {"a.jsonl": RECORD * 9, "b/c.txt": "ä"}).read_bytes()
    path = tmp_path / "flipped.zip"
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            assert all(isinstance(item, AnnotatedDocument | BadRecord) for item in read([path]))
        except FormatError as error:
            assert error.message.startswith(str(path))
    assert list(temporary.iterdir()) == []


def test_the_folder_is_a_context(tmp_path: Path) -> None:
    with open_archive(str(pack(tmp_path / "made.zip", {"a/b.txt": "x\r\n"}))) as folder:
        assert (folder / "a" / "b.txt").read_bytes() == b"x\r\n"
    assert not folder.exists() and not folder.parent.exists()
