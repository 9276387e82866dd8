"""Files behind URLs, in a file system that lies in memory: the same records as from the disk."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import (
    FormatError,
    InputMissingError,
    MissingExtraError,
    SciextractError,
    install_command,
)
from sciextract.formats import read
from sciextract.formats.inputs import expand_inputs
from sciextract.formats.lazy import read_lazily
from sciextract.scale.manifest import stamp
from sciextract.scale.shards import plan_shards

fsspec = pytest.importorskip("fsspec")
LINES = b'{"id": "a", "text": "We parse."}\n{"id": "b", "text": "We rank."}\n'


@pytest.fixture
def bucket() -> Iterator[str]:
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/papers/one.jsonl", LINES)
    memory.pipe("/bucket/papers/deep/two.jsonl.gz", gzip.compress(LINES))
    memory.pipe("/bucket/papers/.hidden/three.jsonl", LINES)
    yield "memory://bucket/papers"
    memory.rm("/bucket", recursive=True)


def keys(*paths: str) -> list[str]:
    return [item.document.doc_key for item in read(paths) if isinstance(item, AnnotatedDocument)]


def test_a_url_is_read_like_a_file(bucket: str) -> None:
    assert keys(f"{bucket}/one.jsonl") == ["a", "b"]
    assert keys(f"{bucket}/deep/two.jsonl.gz") == ["a", "b"]
    [first, _] = read_lazily([f"{bucket}/one.jsonl"], None)
    assert first.place == f"{bucket}/one.jsonl:1"


def test_a_folder_means_the_files_below_that_are_not_hidden(bucket: str) -> None:
    assert expand_inputs([bucket]) == [f"{bucket}/deep/two.jsonl.gz", f"{bucket}/one.jsonl"]
    assert expand_inputs([f"{bucket}/*.jsonl"]) == [f"{bucket}/one.jsonl"]


def test_files_behind_urls_are_shards_of_their_own(bucket: str) -> None:
    assert [shard.paths for shard in plan_shards([bucket], None)] == [
        (f"{bucket}/deep/two.jsonl.gz",),
        (f"{bucket}/one.jsonl",),
    ]
    assert stamp(f"{bucket}/one.jsonl") == [f"{bucket}/one.jsonl", -1, -1]


def test_parquet_and_archives_come_from_urls_too(bucket: str) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table, archive = io.BytesIO(), io.BytesIO()
    parquet.write_table(pa.table({"id": ["a", "b"], "text": ["We parse.", "We rank."]}), table)
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("one.jsonl", LINES)
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/table.parquet", table.getvalue())
    memory.pipe("/bucket/archive.zip", archive.getvalue())
    assert keys("memory://bucket/table.parquet") == ["a", "b"]
    assert keys("memory://bucket/archive.zip") == ["a", "b"]


def test_a_file_url_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "two words.jsonl"
    path.write_bytes(LINES)
    assert expand_inputs([path.as_uri()]) == [str(path)]
    with pytest.raises(InputMissingError, match="host 'elsewhere'"):
        expand_inputs(["file://elsewhere/data.jsonl"])


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("memory://bucket/nothing", InputMissingError, "no such file or folder"),
        ("nonsense://bucket/a.jsonl", FormatError, "Protocol not known"),
        ("sftp://host/a.jsonl", FormatError, "needs another package"),
    ],
)
def test_what_cannot_be_read_is_named(url: str, error: type[SciextractError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        expand_inputs([url])
    assert url in caught.value.message


def test_a_package_for_a_scheme_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.setitem(sys.modules, "fsspec.implementations.http", None)
    with pytest.raises(FormatError) as caught:
        expand_inputs(["https://example.org/a.jsonl"])
    assert 'requires "requests" and "aiohttp"' in caught.value.message


def test_without_the_extra_the_command_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError) as caught:
        expand_inputs(["s3://bucket/a.jsonl"])
    assert caught.value.hint == install_command("scale")
