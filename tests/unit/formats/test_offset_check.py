"""Offsets of a file that count something else than characters: told by the words that they cut."""

import json
import unicodedata
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, read
from sciextract.text.offsets import COMPOSED, GRAPHEMES, UNITS, UTF8, OffsetMap, Unit
from tests.unit.formats.tool_files import documents_of, entity, made, mentions, written

LINES = "Four lines here.\r\nTree kernels rank\r\nproteins in the Département with 🧬 and 👩‍🔬 kernels.\nEnd. Nothing follows, nothing at all."


def read_spans(
    path: Path, texts: list[str], spans: list[list[tuple[int, int]]]
) -> list[AnnotatedDocument]:
    lines = [
        json.dumps({"text": text, "label": [[*span, "T"] for span in found]})
        for text, found in zip(texts, spans, strict=True)
    ]
    path.write_text("\n".join(lines), "utf-8")
    found = list(read([path]))
    assert not any(isinstance(item, BadRecord) for item in found)
    return found  # type: ignore[return-value]


def offsets_in(unit: Unit, text: str, words: list[str]) -> list[tuple[int, int]]:
    def count(end: int) -> int:
        return sum([*unit.widths(text)][:end])

    return [(count(text.index(w)), count(text.index(w) + len(w))) for w in words]


@pytest.mark.parametrize("unit", UNITS[1:], ids=lambda unit: unit.name)
def test_the_unit_of_a_file_is_found(unit: Unit, tmp_path: Path) -> None:
    form = partial(unicodedata.normalize, "NFD" if unit in (COMPOSED, GRAPHEMES) else "NFC")
    text, *words = map(form, (LINES, "Tree kernels", "Département", "End"))
    spans = offsets_in(unit, text, words)
    documents = read_spans(
        tmp_path / "a.jsonl", ["Plain kernels.", text, text], [[(0, 5)], spans, spans]
    )
    assert [[word for _, word in mentions(document)] for document in documents] == [
        ["Plain"],
        words,
        words,
    ]
    plain, *mended = [document.warnings for document in documents]
    assert not plain and all("2 of 3 records" in warning for [warning] in mended)
    assert documents[1].document.tokens.covering(documents[1].annotations.entities[1].span)


def test_without_one_fitting_unit_the_file_is_named_and_kept(tmp_path: Path) -> None:
    spans = [[(1, 6)], [(3, 8)], [(0, 5)]]
    documents = read_spans(tmp_path / "a.jsonl", ["Plain kernels."] * 3, spans)
    assert [mentions(document)[0][1] for document in documents] == ["lain ", "in ke", "Plain"]
    assert ["2 of 3" in "".join(document.warnings) for document in documents] == [True, True, False]


def test_few_cut_words_and_scripts_without_blanks_are_no_sign(tmp_path: Path) -> None:
    spans = [[(0, 5)], [(0, 5)], [(1, 5)], [(0, 2)]]
    texts = ["Plain kernels."] * 3 + ["头孢菌素"]
    assert not any(document.warnings for document in read_spans(tmp_path / "a.jsonl", texts, spans))


def test_records_that_their_reader_converted_are_left_alone(tmp_path: Path) -> None:
    text = "αβγ kernels"
    spans = offsets_in(UTF8, text, ["kernels"])
    documents = read_spans(tmp_path / "a.jsonl", [text, f"{text} and more"], [spans, spans])
    assert [mentions(document)[0][1] for document in documents] == ["kernels", "kernels"]


@pytest.mark.parametrize("tool", ["doccano", "labelstudio", "prodigy"])
def test_own_exports_of_mentions_in_words_come_back(tool: str, tmp_path: Path) -> None:
    records, losses = written(tool, made(entity("E", (6, 10)), text="No 😀 nano tubes."))
    (found,) = documents_of(tmp_path, tool, *records)
    assert (mentions(found), losses) == ([("Task", "ano ")], {})


def test_nothing_is_lost_where_the_file_breaks_while_records_wait(tmp_path: Path) -> None:
    record = json.dumps({"text": "Plain kernels.", "label": [[0, 5, "T"]]})
    (tmp_path / "a.json").write_text(f"[{record}, {record}, {{", "utf-8")
    found = list(read([tmp_path / "a.json"], "doccano"))
    assert [isinstance(item, BadRecord) for item in found] == [False, False, True]


@given(st.text(st.sampled_from("aé\u0301e\u200d🧬👩\r\n 한x"), max_size=12), st.sampled_from(UNITS))
def test_offsets_of_any_unit_go_there_and_back(text: str, unit: Unit) -> None:
    widths = [*unit.widths(text)]
    assert len(widths) == len(text)
    for index in range(len(text)):
        # What takes no unit belongs to what follows it.
        if index == 0 or widths[index - 1]:
            assert OffsetMap(text).from_unit(unit, sum(widths[:index])) == index
