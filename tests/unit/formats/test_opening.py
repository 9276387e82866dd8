"""Files packed with Zstandard: read like plain ones, damaged ones named, large windows refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, OutputError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.base import Source
from sciextract.formats.opening import refuse_packed_output

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LINE = b'{"id": "%d", "text": "We rank protein %d."}\n'


def write(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def keys_in(path: object) -> list[str]:
    items = list(read([str(path)]))
    return [item.document.doc_key for item in items if isinstance(item, AnnotatedDocument)]


def test_every_text_format_is_read_packed(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl.zst", zstd.compress(LINE % (1, 1)) + zstd.compress(LINE % (2, 2)))
    write(tmp_path / "b.CSV.ZST", zstd.compress(b"id,abstract\n7,We rank.\n"))
    write(tmp_path / "c.bib.zst", zstd.compress(b"@misc{bib, abstract = {We parse.}}\n"))
    write(tmp_path / "d.txt.zst", zstd.compress(b"We cluster."))
    write(tmp_path / "e.png.zst", zstd.compress(b"no suffix that is read"))
    assert keys_in(tmp_path) == ["1", "2", "7", "bib", "d"]
    assert (Source("x/d.txt.zst").stem, Source("x/d.txt.zst").provenance) == (
        "d",
        "import:d.txt.zst",
    )


def test_records_come_before_the_whole_is_unpacked(tmp_path: Path) -> None:
    items = read([write(tmp_path / "a.jsonl.zst", zstd.compress(LINE % (1, 1) * 200_000))])
    assert [type(next(items)) for _ in range(3)] == [AnnotatedDocument] * 3


def test_a_file_that_is_cut_off_gives_its_records_first(tmp_path: Path) -> None:
    packed = zstd.compress(b"".join(LINE % (n, n * n * n) for n in range(20_000)))
    path = write(tmp_path / "a.jsonl.zst", packed[: len(packed) // 2])
    items = list(read([path]))
    *documents, last = items
    assert len(documents) > 2_000 and isinstance(last, BadRecord)
    assert last.error.message.startswith(f"{path}: the zstd data is cut off or damaged: ")
    assert "zstd -t FILE" in last.error.hint


@pytest.mark.parametrize(
    "content",
    [b"We parse.", zstd.compress(b"We parse.")[:6], zstd.compress(b"We parse.") + b"garbage"],
)
def test_what_is_no_zstandard_data_says_so(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"a\.txt\.zst: the zstd data is cut off or damaged"):
        list(read([write(tmp_path / "a.txt.zst", content)]))


@pytest.mark.parametrize(
    ("content", "problem"), [(zstd.compress(b""), "the file is empty"), (b"", "is cut off")]
)
def test_nothing_is_an_error(content: bytes, problem: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=problem):
        list(read([write(tmp_path / "a.txt.zst", content)]))


def test_a_window_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    window, level = (
        zstd.CompressionParameter.window_log,
        zstd.CompressionParameter.compression_level,
    )
    packer = zstd.ZstdCompressor(options={window: 31, level: 1})
    path = write(tmp_path / "a.jsonl.zst", packer.compress(LINE % (1, 1)) + packer.flush())
    with pytest.raises(FormatError, match="asks for a window of more than 128 MiB") as caught:
        list(read([path]))
    assert caught.value.hint == f"if you trust it: unzstd --long=31 {path}"


def test_formats_that_open_their_files_themselves_are_refused_while_packed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet.zst", zstd.compress(b"PAR1"))
    with pytest.raises(FormatError, match="parquet files cannot be read while") as caught:
        list(read([path]))
    assert caught.value.hint == f"unpack it first: unzstd {path}"


def test_packed_data_under_another_name_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="this is Zstandard data") as caught:
        list(read([write(tmp_path / "a.jsonl", zstd.compress(LINE % (1, 1)))]))
    assert ".zst" in caught.value.hint


@pytest.mark.parametrize("name", ["out.jsonl.gz", "OUT.JSONL.ZST"])
def test_results_are_not_packed_while_they_are_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="results are not compressed") as caught:
        refuse_packed_output(str(tmp_path / name))
    assert str(tmp_path / name)[:-3].rstrip(".") in caught.value.hint
    with pytest.raises(OutputError, match="results are not compressed"):
        open_writer("jsonl", tmp_path / name)
    assert not list(tmp_path.iterdir())
