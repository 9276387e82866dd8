"""Tables as files: CSV, Markdown, a workbook, a page or a database, each in the form that its readers expect."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any
from xml.sax.saxutils import escape

from sciextract.errors import MissingExtraError, UsageError
from sciextract.formats.table_rows import csv_row
from sciextract.table.papers import Standing
from sciextract.table.views import Cell, View
from sciextract.text.characters import visible, without_surrogates
from sciextract.text.english import counted

KINDS: Mapping[str, tuple[str, ...]] = {
    "csv": (".csv",),
    "xlsx": (".xlsx",),
    "md": (".md",),
    "html": (".html", ".htm"),
    "sqlite": (".db", ".sqlite", ".sqlite3"),
}
"""Forms of a table with the ends of their file names."""
STREAMS = ("csv", "md", "html")
"""Those that are text."""
LONGEST, MOST_ROWS = 32_767, 1_048_576
"""Characters of a cell, and rows of a sheet, that Excel holds."""
NOTES = (
    "Empty: somebody looked, and there is none. ?: nobody has finished the abstract for that type.",
    "Grey: not decided by a person, but promised or undecided.",
)
# Excel reads "_x0041_" as the character of that number.
_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_WIDTHS = {"title": 50, "authors": 30, "key": 18, "year": 7}
_MARKUP = re.compile(r"([\\`*_\[\]<>|#~$&])")
_ESCAPED = r"\\\1"


def lines_of(form: str, view: View, title: str, words: str, sentences: bool) -> Iterator[str]:
    """The lines of a form that is text; ``words`` say what is behind the cells."""
    if form == "html":
        yield from _page(view, title, words, sentences)
        return
    for number, row in enumerate(view.texts(sentences)):
        if form == "csv":
            yield csv_row([without_surrogates(text)[0] for text in row])
            continue
        if not number:
            yield f"{words}\n"
        yield f"| {' | '.join([_MARKUP.sub(_ESCAPED, visible(text)) for text in row])} |"
        if not number:
            yield f"|{' --- |' * len(row)}"


def write_workbook(
    views: Sequence[View], target: Path, title: str, words: str, sentences: bool
) -> int:
    """A sheet a view, with filters and the titles frozen; gives how many cells were cut.

    Sentences are comments in the first view and a column in the others: Excel and openpyxl are slow with many comments.

    Raises:
        MissingExtraError: openpyxl is not installed.
        UsageError: There are more rows than a sheet has.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.comments import Comment
        from openpyxl.styles import Font
        from openpyxl.utils import get_column_letter
    except ImportError as error:
        raise MissingExtraError("a workbook", "table") from error
    book, bold = Workbook(write_only=True), Font(bold=True)
    cut = 0

    def fitting(text: str) -> str:
        nonlocal cut
        text = _ESCAPE.sub("_x005F_", visible(text, keep="\n"))
        if len(text) <= LONGEST:
            return text
        cut += 1
        mark = f" [{counted(len(text), 'character')}, cut]"
        return text[: LONGEST - len(mark)] + mark

    def cell_of(sheet: Any, found: Cell, commented: bool = False) -> Any:
        number = found.number
        cell = WriteOnlyCell(sheet, fitting(found.text) if number is None else number)
        # Else what begins with "=" is a formula, and "#N/A" an error.
        cell.data_type = "s" if number is None else "n"
        if commented and found.sentences:
            said = fitting("\n\n".join(found.sentences))
            cell.comment = Comment(said, "sciextract", height=120, width=420)
        if found.standing not in (None, Standing.DECIDED):
            # openpyxl compares a font with all others at each cell that is given one.
            cell._style = greyed._style
        return cell

    for view in views:
        if len(view.rows) >= MOST_ROWS:
            problem = f"{len(view.rows):,} {view.name} do not fit a sheet of {MOST_ROWS:,} rows"
            raise UsageError(problem, "--to csv or --to sqlite")
        sheet: Any = book.create_sheet(view.name)
        greyed = WriteOnlyCell(sheet)
        greyed.font = Font(color="FF777777")
        commented = sentences and view is views[0]
        titles = [column.title for column in view.columns]
        titles += ["sentences"] if sentences and not commented else []
        sheet.freeze_panes = "A2"
        sheet.auto_filter.ref = f"A1:{get_column_letter(len(titles))}{len(view.rows) + 1}"
        head = [cell_of(sheet, Cell(title)) for title in titles]
        for number, cell in enumerate(head, start=1):
            cell.font = bold
            letter = get_column_letter(number)
            sheet.column_dimensions[letter].width = _WIDTHS.get(str(cell.value), 28)
        sheet.append(head)
        for cells in view.cells():
            said = dict.fromkeys(sentence for cell in cells for sentence in cell.sentences)
            cells += [Cell(" ".join(said))] if len(titles) > len(cells) else []
            sheet.append([cell_of(sheet, cell, commented) if cell.text else None for cell in cells])
    about: Any = book.create_sheet("about")
    for line in (title, words, *NOTES):
        about.append([cell_of(about, Cell(line))])
    book.save(target)
    return cut


def _page(view: View, title: str, words: str, sentences: bool) -> Iterator[str]:
    """One HTML file that needs no network and runs no script but its own."""
    style, script = _asset("page.css"), _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    head = "".join(f"<th scope=col>{_html(column.title)}</th>" for column in view.columns)
    shown = {"title": _html(title), "words": _html(words), "notes": _html(" ".join(NOTES))}
    page = Template(_asset("page.html")).substitute(
        shown, policy=policy, style=style, script=script, head=head
    )
    before, _, after = page.partition("<!-- rows -->")
    yield before
    for cells in view.cells():
        yield f"<tr>{''.join([_cell(cell, sentences) for cell in cells])}</tr>"
    yield after


def _cell(cell: Cell, sentences: bool) -> str:
    kind = f' class="{cell.standing.name.lower()}"' if cell.standing else ""
    quotes = (
        "".join(f"<q>{_html(sentence)}</q>" for sentence in cell.sentences) if sentences else ""
    )
    said = f"<details><summary></summary>{quotes}</details>" if quotes else ""
    return f"<td{kind}>{_html(cell.text)}{said}</td>"


def _html(text: str) -> str:
    return escape(visible(text))


def _asset(name: str) -> str:
    return files("sciextract.table").joinpath("assets", name).read_text("utf-8")
