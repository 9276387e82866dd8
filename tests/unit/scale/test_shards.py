from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given as any_
from hypothesis import strategies as st

from sciextract.errors import FormatError, InputMissingError
from sciextract.formats import BadRecord, read
from sciextract.formats.lazy import read_lazily
from sciextract.scale.interface import InputChangedError
from sciextract.scale.shards import (
    SHARD_BYTES,
    check_unchanged,
    plan_shards,
    read_chunks,
    remaining_chunks,
)
from tests.unit.scale.support import given, lines, work_of

BAD = '{"id": "torn", \n{"id": "empty"}\n\n'


def keys(items: object) -> list[str]:
    return [getattr(item, "message", "") or item.document.doc_key for item in items]  # type: ignore[attr-defined]


@any_(count=st.integers(1, 30), size=st.integers(1, 9))
def test_chunks_hold_every_record_once_in_order(
    tmp_path_factory: pytest.TempPathFactory, count: int, size: int
) -> None:
    path = given(tmp_path_factory.mktemp("in") / "in.jsonl", lines(count))
    work = work_of([path], chunk_size=size)
    chunks = list(read_chunks(work.shards[0], work))
    assert [chunk.number for chunk in chunks] == list(range(count // size + 1))
    assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert all(len(chunk.items) == size for chunk in chunks[:-1])
    found = [item.read() for chunk in chunks for item in chunk.items]
    assert found == list(read([path]))


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.txt", "in.jsonl.gz"])
def test_lazy_records_are_those_of_read(tmp_path: Path, name: str) -> None:
    text = {"in.csv": "id,text\na,Parsers read.\nb,\n", "in.txt": "Parsers read lattices."}
    path = tmp_path / name
    content = text.get(name, lines(3) + BAD + lines(2)).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    lazily = [item.read() for item in read_lazily([str(path)], None)]
    eagerly = list(read([path]))
    assert [str(item) for item in lazily] == [str(item) for item in eagerly]
    assert all(len(item.digest()) == 32 and item.place for item in read_lazily([str(path)], None))


def test_small_files_share_a_shard_and_large_ones_do_not(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        given(tmp_path / f"{name}.txt", f"Parser {name} reads.")
    large = given(tmp_path / "d.jsonl", lines(2))
    with open(large, "ab") as stream:
        stream.truncate(SHARD_BYTES + 1)
    paths = [
        [Path(path).name for path in shard.paths] for shard in plan_shards([str(tmp_path)], None)
    ]
    assert paths == [["a.txt", "b.txt", "c.txt"], ["d.jsonl"]]
    work = work_of([str(tmp_path / name) for name in ("c.txt", "a.txt")])
    found = [item.read() for chunk in remaining_chunks(work, {}) for item in chunk.items]
    assert keys(found) == ["c", "a"]


def test_an_unusable_file_is_an_error_alone_and_a_bad_record_among_others(tmp_path: Path) -> None:
    empty, good = given(tmp_path / "empty.jsonl", ""), given(tmp_path / "good.jsonl", lines(1))
    with pytest.raises(FormatError, match="empty"):
        list(remaining_chunks(work_of([empty]), {}))
    both = [
        item.read()
        for chunk in remaining_chunks(work_of([empty, good]), {})
        for item in chunk.items
    ]
    assert [isinstance(item, BadRecord) for item in both] == [True, False]
    folder = [
        item.read()
        for chunk in remaining_chunks(work_of([str(tmp_path)]), {})
        for item in chunk.items
    ]
    assert [str(item) for item in folder] == [str(item) for item in read([tmp_path])]
    with pytest.raises(InputMissingError):
        plan_shards([str(tmp_path / "none")], None)
    with pytest.raises(FormatError, match="no readable file"):
        (tmp_path / "bare").mkdir()
        plan_shards([str(tmp_path / "bare")], None)


def test_a_changed_record_is_noticed(tmp_path: Path) -> None:
    work = work_of([given(tmp_path / "in.jsonl", lines(6))])
    [first, second] = read_chunks(work.shards[0], work)
    done = {first.key: first.fingerprint}
    assert [chunk.key for chunk in remaining_chunks(work, done)] == [second.key]
    check_unchanged(replace(first, number=9), done, work.shards[0])
    given(tmp_path / "in.jsonl", lines(6, d2="now"))
    with pytest.raises(InputChangedError, match=r"in\.jsonl"):
        list(remaining_chunks(work, done))
