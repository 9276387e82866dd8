"""Unlabelled texts: which are taken, and what is said of a damaged file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from research.unlabelled import read_unlabelled, unlabelled_texts
from sciextract.errors import FormatError, InputMissingError


def _shard(folder: Path, *records: Any, name: str = "invented-000.jsonl.gz") -> Path:
    path = folder / name
    text = "".join(f"{json.dumps(record)}\n" for record in records)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def _record(key: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "title": f"Title of {key}", "abstract": f"Abstract of {key}.", **more}


def test_every_second_abstract_comes_with_its_title(tmp_path: Path) -> None:
    shards = [
        _shard(tmp_path, _record("a"), _record("b"), _record("c")),
        _shard(tmp_path, _record("d"), _record("e"), name="plain.jsonl"),
    ]
    found = list(read_unlabelled(shards, 4))
    assert [document.doc_key for document in found] == ["a", "b", "c", "d"]
    assert [document.text for document in found] == list(unlabelled_texts(shards, 4))
    assert found[0].text == "Abstract of a."
    assert found[1].text == "Title of b\nAbstract of b."
    assert len(found[1].tokens.sentences) == 2


def test_what_may_not_be_bundled_is_left_out(tmp_path: Path) -> None:
    records = [
        _record("old", source="acl-anthology", year=2015),
        _record("free", source="acl-anthology", year="2016"),
        _record("undated", source="acl-anthology", year=None),
        _record("gpl", source="hoc"),
        _record("open", source="arxiv", year=1999),
    ]
    assert [document.doc_key for document in read_unlabelled([_shard(tmp_path, *records)], 9)] == [
        "free",
        "open",
    ]


def test_a_record_without_a_name_is_called_by_its_place(tmp_path: Path) -> None:
    shard = _shard(tmp_path, {"abstract": "One."}, {"abstract": "Two."}, name="texts.jsonl")
    assert [document.doc_key for document in read_unlabelled([shard], 9)] == [
        "texts.jsonl:1",
        "texts.jsonl:2",
    ]


def test_a_missing_shard_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match=r"no unlabelled abstracts at .*none"):
        list(read_unlabelled([tmp_path / "none"], 1))


@pytest.mark.parametrize("damage", ["cut", "changed", "no gzip", "binary"])
def test_a_damaged_shard_is_named_with_its_line(damage: str, tmp_path: Path) -> None:
    shard = _shard(tmp_path, *[_record(f"{n:03d} {hash(n * 7919)}") for n in range(400)])
    content = shard.read_bytes()
    half = len(content) // 2
    shard.write_bytes(
        {
            "cut": content[:half],
            "changed": content[:half] + bytes(200) + content[half + 200 :],
            "no gzip": b"plain words",
            "binary": gzip.compress(b'{"abstract": "\xff\xfe"}\n'),
        }[damage]
    )
    with pytest.raises(FormatError, match=r"invented-000\.jsonl\.gz:\d+: ") as caught:
        list(read_unlabelled([shard], 1000))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "2: no JSON"),
        ("[1]", "2: list instead of a JSON object"),
        (
            '{"id": "x", "text": "words"}',
            "2: the abstract is None, not a text; the record has id, text",
        ),
        ('{"abstract": 7}', "2: the abstract is 7, not a text"),
        ('{"abstract": "x", "source": "acl-anthology", "year": "soon"}', "2: the year is 'soon'"),
    ],
)
def test_a_bad_record_is_named_with_its_line(line: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text(f"{json.dumps(_record('good'))}\n{line}\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        list(read_unlabelled([path], 9))
    assert f"texts.jsonl:{told}" in caught.value.message
