"""The first sheet of an Excel workbook, read as a table is.

openpyxl reads the rows one at a time, so that a sheet with one cell in its last corner costs no memory; python-calamine
keeps a rectangle of all cells between the first and the last one.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, time

from openpyxl import load_workbook
from openpyxl.utils.escape import unescape

from sciextract.errors import FormatError
from sciextract.formats.archive import check_zip
from sciextract.formats.base import BadRecord, ReadItem, Source
from sciextract.formats.table_rows import in_quotes
from sciextract.formats.tables import columns_of, document_of_row, find_header
from sciextract.text.english import counted

MAX_BYTES = 512 << 20
"""The strings of a workbook are kept in memory."""
MAX_ROWS = 1 << 20
"""What Excel allows; a number in the file may claim more."""


def read_xlsx(source: Source) -> Iterator[ReadItem]:
    """Read the first sheet; the other ones are named with the first abstract."""
    with closing(_numbered_rows(source)) as rows:
        others = next(rows)[0] - 1
        filled = ((number, cells) for number, cells in rows if any(map(str.strip, cells)))
        header, _ = find_header(((number, cells, None) for number, cells in filled), source.path)
        while header and not header[-1].strip():
            header.pop()
        columns = columns_of(header)
        for number, cells in filled:
            row = [(number, ",".join(map(in_quotes, cells)))]
            try:
                item = document_of_row(cells, columns, source, row)
            except FormatError as error:
                yield BadRecord(error)
                continue
            if others:
                remark = f"the workbook has {counted(others, 'more sheet')}, not read"
                item, others = replace(item, warnings=(*item.warnings, remark)), 0
            yield item


def _numbered_rows(source: Source) -> Generator[tuple[int, list[str]], None, None]:
    """How many sheets there are, then the rows of the first with their numbers."""
    with source.open() as stream:
        content = io.BytesIO(source.start + stream.read())
    check_zip(content, source.path, MAX_BYTES)
    with _explain_errors(source.path):
        # The values that Excel has calculated, in place of formulas.
        book = load_workbook(content, read_only=True, data_only=True)
        sheets = book.worksheets
        yield len(sheets), []
        for sheet in sheets[:1]:
            sheet.reset_dimensions()  # some programs write a wrong one
            for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
                if number > MAX_ROWS:
                    problem = f"the sheet has more than {MAX_ROWS:,} rows"
                    raise FormatError(problem, path=source.path, line=number)
                yield number, list(map(_text_of, cells))


@contextmanager
def _explain_errors(path: str) -> Iterator[None]:
    """Turns whatever the library raises of a damaged workbook into an error of the file; its warnings are about styles."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (FormatError, GeneratorExit):
        raise
    except Exception as error:
        hint = "open it in a spreadsheet and save it as CSV (UTF-8)"
        problem = f"the workbook is damaged: {type(error).__name__}: {error}"
        raise FormatError(problem, path=path, hint=hint) from error


def _text_of(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return unescape(value) if isinstance(value, str) else str(value)
