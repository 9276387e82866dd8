"""Excel workbooks: the first sheet as a table, and files that are damaged or hostile."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, MissingExtraError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import ReadItem

HEADER = ["Article Title", "Abstract", "Publication Year", "DOI"]
ROW = ["Sheets", "We fold sheets.\nThey hold.", 2019, "10.5555/a"]


def saved(path: Path, *rows: list[Any], sheets: int = 1) -> Path:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    for _ in range(sheets - 1):
        book.create_sheet()
    book.save(path)
    return path


def changed(path: Path, old: str, new: str) -> Path:
    """The workbook with other XML in its sheet in the place of a pattern."""
    with zipfile.ZipFile(path) as given:
        members = {name: given.read(name) for name in given.namelist()}
    name = "xl/worksheets/sheet1.xml"
    members[name], count = re.subn(old.encode(), new.encode(), members[name])
    assert count == 1
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in members.items():
            zipped.writestr(name, content)
    return path


def items_of(path: Path) -> list[ReadItem]:
    return list(read([path]))


def test_the_first_sheet_is_a_table(tmp_path: Path) -> None:
    preamble = ["exported on", date(2026, 1, 2)]
    path = saved(tmp_path / "a.xlsx", preamble, HEADER, ROW, [], ["Lattices", None], [], sheets=3)
    first, second = items_of(path)
    assert isinstance(first, AnnotatedDocument) and isinstance(second, AnnotatedDocument)
    assert first.document.text == "Sheets\nWe fold sheets.\nThey hold."
    assert first.document.doc_key == "10.5555/a" and second.document.doc_key == "a:5"
    assert first.document.fields["Publication Year"] == "2019"
    assert any("2 more sheets" in warning for warning in first.warnings)
    assert any("no abstract" in warning for warning in second.warnings)


def test_formulas_are_read_as_their_values_and_escapes_as_characters(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.xlsx", HEADER, ["Sheets", "We fold._x000D_\nThey hold."])
    changed(path, '<c r="A2".*?</c>', '<c r="A2" t="str"><f>1+1</f><v>Value</v></c>')
    (found,) = items_of(path)
    assert isinstance(found, AnnotatedDocument)
    assert found.document.text == "Value\nWe fold.\r\nThey hold."
    assert load_workbook(path).active["A2"].value == "=1+1"


def test_a_surplus_cell_costs_itself(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.xlsx", HEADER[:2], [*ROW[:2], "surplus"])
    (found,) = items_of(path)
    assert isinstance(found, AnnotatedDocument) and len(found.warnings) == 1


def test_damaged_and_hostile_workbooks_are_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("xl/worksheets/sheet1.xml", b" " * (8 << 20))
    far = changed(saved(tmp_path / "far.xlsx", HEADER, ROW), '<row r="2"', '<row r="99999999999"')
    (tmp_path / "cut.xlsx").write_bytes(saved(tmp_path / "x.xlsx", HEADER).read_bytes()[:900])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as zipped:
        zipped.writestr("word/document.xml", "<a/>")
    (tmp_path / "word.xlsx").write_bytes(stream.getvalue())
    for path, words in (
        (bomb, "a zip bomb?"),
        (far, "more than 1,048,576 rows"),
        (tmp_path / "cut.xlsx", "no office document"),
        (tmp_path / "word.xlsx", "the workbook is damaged"),
        (saved(tmp_path / "no.xlsx", ["a", "b"]), "no column with a text"),
    ):
        with pytest.raises(FormatError) as caught:
            for item in items_of(path):
                assert isinstance(item, BadRecord)
                raise item.error
        assert words in caught.value.message


def test_without_the_library_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    monkeypatch.delitem(sys.modules, "sciextract.formats.sheets", raising=False)
    with pytest.raises(MissingExtraError, match="xlsx") as caught:
        items_of(saved(tmp_path / "a.xlsx", HEADER, ROW))
    assert "formats" in caught.value.hint
