"""A table from abstracts: chosen, counted, written whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sciextract.errors import ExitCode, UsageError
from sciextract.formats.base import STDIN
from sciextract.table.database import write_database
from sciextract.table.papers import PaperFacts, Standing, Wanted
from sciextract.table.views import Types, View, views_of
from sciextract.table.writing import KINDS, STREAMS, lines_of, write_workbook
from sciextract.text.english import counted
from sciextract.text.quantities import in_unit, symbol_of
from sciextract.workflows.output import StandardOutput, check_target, whole_output


@dataclass(slots=True)
class TableReport:
    """What a table holds.

    Attributes:
        output: The file, ``None`` for standard output.
        format: Its form.
        papers: Abstracts.
        rows: Rows of the first view.
        cells: Its cells by what is behind them.
        left_out: Undecided items that were not asked for.
        cut: Cells of a workbook that are too long for it.
        bad: Records that cannot be read.
        other_units: Quantities that stay as they are written, since they cannot have the unit that was wanted.
    """

    output: str | None
    format: str
    papers: int = 0
    rows: int = 0
    cells: dict[str, int] = field(default_factory=dict)
    left_out: int = 0
    cut: int = 0
    bad: int = 0
    other_units: int = 0

    @property
    def exit_code(self) -> ExitCode:
        """Done, or partly done where records could not be read."""
        return ExitCode.of(self.papers, self.bad)

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return asdict(self)

    def describe(self) -> str:
        """How many cells are decided, promised, undecided, empty and not looked at; and what is left out."""
        left = f"; left out: {counted(self.left_out, 'undecided item')}" if self.left_out else ""
        left += (
            f"; {counted(self.other_units, 'quantity', 'quantities')} of another unit, as written"
            if self.other_units
            else ""
        )
        return f"cells: {', '.join(f'{self.cells[name]:,} {name}' for name in Standing)}{left}"


@dataclass(frozen=True, slots=True)
class TableJob:
    """What a table shows, and where it goes.

    Attributes:
        output: The file; ``None`` or ``-`` for standard output.
        form: One of :data:`~sciextract.table.writing.KINDS`; ``None`` for what the name of the file says.
        rows: What ``--rows`` says.
        sentences: Whether each cell comes with its sentences.
        excel: Whether CSV begins with a byte order mark.
        force: Whether to replace what is at the output.
        wanted: Which items.
        values: Types of quantities, which have columns for number and unit, and the unit that is wanted, or nothing.
    """

    output: str | None
    form: str | None
    rows: str | None
    sentences: bool
    excel: bool
    force: bool
    wanted: Wanted = field(default_factory=Wanted)
    values: Mapping[str, str] = field(default_factory=dict)

    def check(self, kept: Sequence[Path]) -> None:
        """Refuse an output that cannot be written, before anything is read; nor is anything of ``kept`` replaced.

        Raises:
            UsageError: It is not clear which form it has, or it cannot go to standard output.
            OutputError: It exists, or cannot be written.
        """
        form = self._form()
        if self._to_file:
            check_target(Path(str(self.output)), force=self.force, kept=kept)
        elif form not in STREAMS:
            problem = f"--to {form} makes a binary file, which cannot go to standard output"
            raise UsageError(problem, "name it with --output")

    def write(self, found: Iterable[PaperFacts], types: Types, title: str) -> TableReport:
        """Write the table of abstracts.

        Args:
            found: The abstracts.
            types: Those of entities and of relations that have a column whether they occur or not.
            title: Of a page.

        Raises:
            SciextractError: There are none, or it cannot be written.
        """
        form, papers = self._form(), list(found)
        if not papers:
            raise UsageError("there are no abstracts to show", "sciextract import brings some")
        rows = self.rows or (None if form == "xlsx" else "paper")
        views = views_of(papers, types, rows, self.values)
        counts = Counter(cell.standing for cells in views[0].cells() for cell in cells)
        left_out = sum(paper.left_out for paper in papers)
        cells = {str(standing): counts[standing] for standing in Standing}
        made = TableReport(self.output, form, len(papers), len(views[0].rows), cells, left_out)
        made.other_units = sum(
            symbol_of(told.unit) != symbol_of(unit)
            for paper in papers
            for mention in paper.mentions()
            if (unit := self.values.get(mention.entity.label))
            and (told := in_unit(mention.words, unit))
        )
        made.cut = self.put(views, title, made.describe(), papers)
        return made

    def put(
        self, views: Sequence[View], title: str, words: str, papers: Sequence[PaperFacts] = ()
    ) -> int:
        """Write views, whole or not at all; gives how many cells a workbook cuts.

        Args:
            views: The first one alone, but for a workbook.
            title: Of a page.
            words: What stands above the table.
            papers: What a database is made of.

        Raises:
            OutputError: They cannot be written.
            UsageError: A database was asked for, and there are no abstracts.
        """
        form, how, cut = self._form(), (title, words, self.sentences), 0
        if form == "sqlite" and not papers:
            raise UsageError("a database holds abstracts, not a view of them", "--to csv")
        if not self._to_file:
            with StandardOutput() as stream:
                stream.writelines(f"{line}\n" for line in lines_of(form, views[0], *how))
            return cut
        with whole_output(Path(str(self.output))) as partial:
            if form == "sqlite":
                write_database(papers, partial, self.values)
            elif form == "xlsx":
                cut = write_workbook(views, partial, *how)
            else:
                encoding = "utf-8-sig" if self.excel else "utf-8"
                with partial.open("w", encoding=encoding, newline="\n") as file:
                    file.writelines(f"{line}\n" for line in lines_of(form, views[0], *how))
        return cut

    @property
    def _to_file(self) -> bool:
        return self.output not in (None, STDIN)

    def _form(self) -> str:
        suffix = Path(str(self.output)).suffix.lower()
        named = next((kind for kind, ends in KINDS.items() if suffix in ends), None)
        if form := self.form or (named if self._to_file else "csv"):
            return form
        listed = ", ".join(end for ends in KINDS.values() for end in ends)
        problem = f"{self.output}: the name ends in {suffix or 'nothing'}; expected {listed}"
        raise UsageError(problem, f"or name the form: --to {', '.join(KINDS)}")
