"""Lines that would fill the memory, and files that are packed with gzip."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError
from sciextract.formats import BadRecord, base, read
from sciextract.formats.base import Source, decode_content, decode_lines

MIB = 1 << 20
LIMITED = """
import resource, sys
from sciextract.formats import read
import sciextract.text.analyse, sciextract.formats.jsonl, sciextract.formats.plain
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (180 << 20),) * 2)
for item in read([sys.argv[1]]):
    error = getattr(item, "error", None)
    print(error.message if error else item.document.doc_key)
"""


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit of one MiB, and pieces that do not divide it."""
    monkeypatch.setattr(base, "MAX_LINE_BYTES", MIB)
    monkeypatch.setattr(base, "_PIECE_BYTES", 1000)
    return MIB


def lines_of(path: Path) -> list[str]:
    return [
        f"{number} {line.problem}" if isinstance(line, FormatError) else f"{number} {len(line)}"
        for number, line in decode_lines(Source(str(path)))
    ]


TOO_LONG = "the line has more than 1 MiB and is left out"


def test_a_line_that_is_too_long_is_left_out_and_the_next_is_read(
    short_lines: int, tmp_path: Path
) -> None:
    content = b"first\n" + b"x" * (3 * short_lines) + b"\nthird\n" + b"y" * (short_lines + 1)
    path = write(tmp_path / "made.txt", content)
    assert lines_of(path) == ["1 6", f"2 {TOO_LONG}", "3 6", f"4 {TOO_LONG}"]


@pytest.mark.parametrize("behind", [b"", b"\n", b"\nnext"])
def test_a_line_of_exactly_the_limit_is_read(
    behind: bytes, short_lines: int, tmp_path: Path
) -> None:
    length = short_lines - behind.count(b"\n")
    path = write(tmp_path / "made.txt", b"x" * length + behind)
    assert lines_of(path)[0] == f"1 {short_lines}"


def test_positions_count_the_lines_that_were_left_out(short_lines: int, tmp_path: Path) -> None:
    path = write(tmp_path / "made.txt", b"x" * (short_lines + 5) + b"\nab\xff\n")
    _, (_, line) = decode_lines(Source(str(path)))
    assert isinstance(line, FormatError)
    assert f"at position {short_lines + 5 + 1 + 2} is not UTF-8" in line.message


def test_the_content_of_one_long_line_is_whole(short_lines: int, tmp_path: Path) -> None:
    path = write(tmp_path / "made.txt", "x" * (3 * short_lines))
    assert len(decode_content(Source(str(path)))) == 3 * short_lines


def test_every_reader_of_lines_goes_on(short_lines: int, tmp_path: Path) -> None:
    long = "z" * (2 * short_lines)
    bad, good = read([write(tmp_path / "a.jsonl", f'{{"text": "{long}"}}\n{{"text": "b"}}\n')])
    assert isinstance(bad, BadRecord) and bad.error.message.endswith(TOO_LONG)
    assert isinstance(good, AnnotatedDocument)
    table = write(tmp_path / "a.csv", f"id,text\n1,{long}\n2,b\n")
    bad, good = read([table])
    assert isinstance(bad, BadRecord) and bad.error.line == 2
    assert isinstance(good, AnnotatedDocument) and good.document.doc_key == "2"


def test_standard_input_with_a_long_first_line(
    short_lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = b"\n" + b'{"text": "' + b"x" * (2 * short_lines) + b'"}\n{"text": "b"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    bad, good = read(["-"])
    assert isinstance(bad, BadRecord) and bad.error.line == 2
    assert isinstance(good, AnnotatedDocument) and good.document.doc_key == "stdin:3"


@pytest.mark.skipif(sys.platform != "linux", reason="measured by the kernel of Linux")
@pytest.mark.parametrize("packed", [False, True])
def test_a_line_of_two_hundred_megabytes_fits_into_little_memory(
    packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / ("made.jsonl.gz" if packed else "made.jsonl")
    with gzip.open(path, "wb", 1) if packed else open(path, "wb") as stream:
        stream.write(b'{"id": "first", "text": "a"}\n{"text": "')
        for _ in range(200):
            stream.write((os.urandom(3_000).hex().encode() + b"x" * 500_000) * 2)  # no bomb
        stream.write(b'"}\n{"id": "last", "text": "b"}\n')
    words = [sys.executable, "-c", LIMITED, str(path)]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    problem = f"{path}:2: the line has more than 64 MiB and is left out"
    assert result.stdout.splitlines() == ["first", problem, "last"], result.stderr


def test_packed_files_are_read_like_plain_ones(tmp_path: Path) -> None:
    record = '{"text": "We parse."}\n'
    write(tmp_path / "a.jsonl.gz", gzip.compress(record.encode()) * 2)
    write(tmp_path / "b.CSV.GZ", gzip.compress(b"id,abstract\n7,We rank.\n"))
    write(tmp_path / "c.txt.gz", gzip.compress(b"We cluster."))
    write(tmp_path / "d.png.gz", gzip.compress(b"no suffix that is read"))
    documents = [item for item in read([tmp_path]) if isinstance(item, AnnotatedDocument)]
    assert [document.document.doc_key for document in documents] == ["a:1", "a:2", "7", "c"]
    assert documents[3].document.text == "We cluster."
    source = Source("x/c.txt.gz")
    assert (source.stem, source.provenance) == ("c", "import:c.txt.gz")


def test_packed_files_come_line_by_line(tmp_path: Path) -> None:
    path = write(tmp_path / "bomb.jsonl.gz", gzip.compress(b'{"text": "a"}\n' * 500_000, 1))
    items = read([path])
    assert [type(next(items)) for _ in range(3)] == [AnnotatedDocument] * 3


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_packed_bomb_is_refused_before_it_fills_the_memory(tmp_path: Path, suffix: str) -> None:
    blank = b" " * (64 << 20)
    packed = (
        gzip.compress(blank)
        if suffix == "gz"
        else pytest.importorskip("backports.zstd").compress(blank)
    )
    path = write(tmp_path / f"my bomb.txt.{suffix}", packed)
    with pytest.raises(FormatError, match="the limit is 200 times") as caught:
        list(read([path]))
    assert f"'{path}'" in caught.value.hint


def test_a_packed_file_that_is_cut_off_gives_its_records_first(tmp_path: Path) -> None:
    lines = b"".join(b'{"id": "%d", "text": "made %d"}\n' % (n, n * n) for n in range(20_000))
    packed = gzip.compress(lines)
    items = list(read([write(tmp_path / "a.jsonl.gz", packed[: len(packed) // 2])]))
    keys = [item.document.doc_key for item in items if isinstance(item, AnnotatedDocument)]
    assert len(keys) > 5_000 and keys == [str(number) for number in range(len(keys))]
    *_, last = items
    assert len(items) == len(keys) + 1 and isinstance(last, BadRecord)
    assert "a.jsonl.gz: the gzip data is cut off or damaged" in last.error.message


@pytest.mark.parametrize(
    "content",
    [
        b"We parse.",
        gzip.compress(b"We parse.", mtime=0)[:12],
        gzip.compress(b"We parse.", mtime=0)[:-6] + b"\0" * 6,
        gzip.compress(b"We parse.", mtime=0) + b"garbage",
    ],
    ids=["text", "head", "checksum", "tail"],
)
def test_what_is_no_gzip_data_says_so(content: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt.gz", content)
    with pytest.raises(FormatError, match="gzip data is cut off or damaged"):
        list(read([path]))


def test_an_empty_packed_file_is_empty(tmp_path: Path) -> None:
    for content in (b"", gzip.compress(b"")):
        with pytest.raises(FormatError, match="the file is empty"):
            list(read([write(tmp_path / "a.txt.gz", content)]))
    with pytest.raises(InputMissingError):
        list(Source(str(tmp_path / "absent.txt.gz")).lines())


def test_formats_that_open_their_files_themselves_are_refused_while_packed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet.gz", gzip.compress(b"PAR1"))
    for format_id in (None, "parquet"):
        with pytest.raises(FormatError, match="parquet files cannot be read while") as caught:
            list(read([path], format_id))
        assert "gunzip" in caught.value.hint


def test_other_archives_say_what_to_do(tmp_path: Path) -> None:
    header = b"a.txt".ljust(257, b"\0") + b"ustar\x0000" + b"\0" * 255 + b"We parse.\n"
    for name, content in (("a.tar.gz", gzip.compress(header)), ("a.tar", header)):
        with pytest.raises(FormatError, match="a tar archive") as caught:
            list(read([write(tmp_path / name, content)]))
        assert ".zip" in caught.value.hint
    with pytest.raises(FormatError, match="a gzip archive") as caught:
        list(read([write(tmp_path / "a.tgz", gzip.compress(header))]))
    assert ".gz" in caught.value.hint
