"""A view of a knowledge graph: nodes to the left, one of them with its neighbours to the right, sentences over it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from sciextract.errors import SciextractError
from sciextract.graph.database import open_graph
from sciextract.graph.queries.nodes import find_node, search_nodes, top, types_of
from sciextract.text.characters import visible
from sciextract_app import terminal
from sciextract_app.graph.presenter import (
    ArgumentRole,
    GraphNavigation,
    GraphRow,
    NodePage,
    Support,
    SupportPage,
    node_rows,
    read_node,
    read_path,
    read_support,
    summarise_graph,
)
from sciextract_app.shared.actions import key_label
from sciextract_app.shared.jobs import Job, start_job
from sciextract_app.shared.presenters import plain, refusal
from sciextract_app.shared.view_models import Feedback, Hint, Mode
from sciextract_app.terminal import TerminalApp
from sciextract_app.widgets.bars import FooterBar, MessageBar, TooSmall
from sciextract_app.widgets.dialogs import TextDialog
from sciextract_app.widgets.help import KeysDialog
from sciextract_app.widgets.lines import fit
from sciextract_app.widgets.plots import PlotPane, column_rows, spread

_WORD_CELLS = 10
_YEARS = "years"


def fact_lines(page: NodePage, width: int, height: int) -> list[Text]:
    """Types, years and ways of writing."""
    first, second, *rest = page.facts
    room = width - _WORD_CELLS - 2
    years = [(_YEARS, years_line(page.years, room))] if page.years else []
    return [
        Text().append(name.rjust(_WORD_CELLS), "dim").append(f"  {fit(value, room)}")
        for name, value in (first, second, *years, *rest)
    ]


def years_line(years: Sequence[tuple[int, int]], width: int) -> str:
    """First year, a column for each, last year, and the largest count where it finds room.

    >>> years_line([(2001, 1), (2002, 0), (2003, 4)], 30)
    '2001 ▂ █ 2003, at most 4'
    """
    if not years:
        return ""
    most = max(count for _, count in years)
    start, end, most_text = f"{years[0][0]} ", f" {years[-1][0]}", f", at most {most:,}"
    room = width - len(start) - len(end)
    cells = min(len(years), max(1, room))
    (columns,) = column_rows(spread([count / most for _, count in years], cells), 1)
    return f"{start}{columns}{end}" + (most_text if room - cells >= len(most_text) else "")


_COUNT_CELLS = 6


class RowList(OptionList):
    """Draws rows, headings between them; Enter or a click chooses one."""

    DEFAULT_CSS = """
    RowList { height: 1fr; border: none; border-top: solid $panel; border-title-color: $text-muted;
              background: $background; padding: 0 1; scrollbar-size-vertical: 1; overflow-x: hidden;
              text-wrap: nowrap; text-overflow: ellipsis; }
    RowList > .option-list--option-highlighted { text-style: bold; }
    RowList:focus > .option-list--option-highlighted { text-style: bold reverse; }
    RowList:focus { border: none; border-top: solid $primary; border-title-style: bold; }
    """

    def __init__(self, title: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = title
        self._rows: tuple[GraphRow, ...] = ()

    @property
    def chosen(self) -> GraphRow | None:
        """The row that is marked."""
        return None if self.highlighted is None else self._rows[self.highlighted]

    def row(self, place: int) -> GraphRow:
        """The row at a place."""
        return self._rows[place]

    def show(self, rows: Sequence[GraphRow]) -> None:
        """Draw these rows, and mark the first that can be chosen."""
        self._rows = tuple(rows)
        self.clear_options()
        self.add_options([Option(row_text(each), disabled=each.node is None) for each in rows])
        if any(each.node is not None for each in rows):
            self.action_first()


def row_text(row: GraphRow) -> Text:
    """A row as it is drawn: headings and what cannot be chosen stand out without colours."""
    style = "" if row.node is not None else "bold" if row.count else "dim"
    line = Text(style=style)
    line.append(row.count.rjust(_COUNT_CELLS)).append("  ").append(visible(row.name))
    return line.append(f"  {visible(row.kind)}", "dim") if row.kind else line


_STYLES = {
    ArgumentRole.PLAIN: "", ArgumentRole.HEAD: "bold underline", ArgumentRole.TAIL: "bold reverse",
    ArgumentRole.BOTH: "bold underline reverse",
}  # fmt: skip


def support_text(parts: Sequence[tuple[str, Sequence[Support]]]) -> Text:
    """All edges with their sentences; the marks are explained in the first line."""
    if not parts:
        return Text("The graph has no path to it.")
    found = (
        Text()
        .append("head", _STYLES[ArgumentRole.HEAD])
        .append("  ")
        .append("tail", _STYLES[ArgumentRole.TAIL])
    )
    for heading, supports in parts:
        found.append("\n\n").append(visible(heading), "bold")
        for each in supports:
            found.append("\n\n").append(visible(each.place), "dim").append("\n")
            for piece, role in each.pieces:
                found.append(visible(piece), _STYLES[role])
    return found


LIST_LIMIT = 300
_Answer = TypeVar("_Answer")
_HINTS = (
    Hint("Enter", "go there"),
    Hint("Backspace", "back"),
    Hint("/", "find"),
    Hint("s", "sentences"),
    Hint("p", "path"),
    Hint("t", "type"),
    Hint("Tab", "other list"),
    Hint("q", "leave"),
    Hint("?", "keys"),
)


class GraphScreen(Screen[None]):
    """The view of a graph; every query runs in the background.

    Args:
        path: The graph.
        node: Any name of the node to begin at; the most frequent one when ``None``.
    """

    AUTO_FOCUS = "#nodes"
    KEYS: ClassVar[tuple[Binding, ...]] = (
        Binding("backspace,left", "back", "back to the node before", id="graph.back"),
        Binding("slash", "find", "find nodes by any of their names", id="graph.find"),
        Binding("escape", "list", "leave what was typed", id="graph.list"),
        Binding("t", "turn_type", "list the nodes of the next type only", id="graph.type"),
        Binding(
            "s", "sentences", "the sentences that support the marked neighbour's edge",
            id="graph.sentences",
        ),
        Binding(
            "p", "path", "mark this node; at another one: the shortest path from it",
            id="graph.path",
        ),
        Binding("f", "scroll_facts", "scroll through what is known of the node", id="graph.more"),
        Binding("question_mark", "help", "all keys", id="graph.help"),
        Binding("q", "app.quit", "leave", id="graph.leave"),
    )  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, path: Path, node: str | None = None) -> None:
        super().__init__()
        self.walk = GraphNavigation()
        self._path = path
        self._wanted = node

    def compose(self) -> ComposeResult:
        """The line to type in, the lists, and the keys."""
        yield Input(placeholder=f"/ find a node of {self._path.name}", id="find", compact=True)
        with Horizontal(id="body"):
            yield RowList("nodes", id="nodes")
            with Vertical(id="node"):
                yield PlotPane(id="facts")
                yield RowList("neighbours", id="edges")
        yield MessageBar(id="message")
        yield FooterBar(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one(FooterBar).show((_HINTS, Mode.REVIEW))
        self._ask(
            "the overview",
            lambda graph: (summarise_graph(graph), tuple(types_of(graph, "entity"))),
            self._opened,
        )
        self._list()
        if self._wanted is not None:
            self._go(self._wanted)

    def action_find(self) -> None:
        """Type a name."""
        self.query_one(Input).focus()

    def action_list(self) -> None:
        """Leave what was typed: the list shows the most frequent nodes again."""
        if self.query_one(Input).value:
            self.query_one(Input).clear()
        self.query_one("#nodes").focus()

    def action_back(self) -> None:
        """Go to the node before."""
        before = self.walk.back()
        if before is None:
            self._show_message("this is where you began")
        else:
            self._go(before)

    def action_sentences(self) -> None:
        """Show what supports the marked edge."""
        row = self.query_one("#edges", RowList).chosen
        if row is None or row.edge is None:
            self._show_message("select a neighbour first: Tab moves to them")
            return
        edge = row.edge
        self._ask("the sentences", lambda graph: read_support(graph, edge), self._show_support)

    def action_path(self) -> None:
        """Mark one end of a path, or show it."""
        ends = self.walk.path_from()
        if ends is not None:
            self._show_message("")
            self._ask("the sentences", lambda graph: read_path(graph, *ends), self._show_support)
        elif self.walk.mark is not None:
            self._show_message(f"a path begins at {self.walk.mark[1]}; p at another node shows it")
        else:
            self._show_message("path search cancelled")

    def action_turn_type(self) -> None:
        """List the nodes of the next type."""
        self.walk.next_label()
        self.query_one("#nodes", RowList).border_title = f"nodes: {self.walk.label or 'all types'}"
        self._list()

    def action_scroll_facts(self) -> None:
        """Scroll down in what is known; from the end back to the start."""
        facts = self.query_one(PlotPane)
        at_end = facts.scroll_offset.y >= facts.max_scroll_y
        facts.scroll_to(y=0 if at_end else facts.scroll_offset.y + 5, animate=False)

    def action_help(self) -> None:
        """Show the keys."""
        rows = [
            ("Enter", "show the selected node or neighbour", "keys"),
            ("Tab", "from the list to the neighbours and back", "keys"),
        ]
        own = [
            (key_label(plain(each.key.partition(",")[0])), each.description) for each in self.KEYS
        ]
        self.app.push_screen(KeysDialog([*rows, *((*each, "keys") for each in own)]))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        typed = event.value.strip()
        if typed:
            self._ask("the list", lambda graph: node_rows(search_nodes(graph, typed)), self._found)
        else:
            self._list()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self._go(event.value)
            self.query_one("#nodes").focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option_list
        row: GraphRow | None = (
            chosen.row(event.option_index) if isinstance(chosen, RowList) else None
        )
        if row is not None and row.node is not None:
            self._go(row.node)

    def _list(self) -> None:
        label = self.walk.label
        self._ask(
            "the list",
            lambda graph: node_rows(top(graph, label=label, limit=LIST_LIMIT)),
            self._found,
        )

    def _go(self, node: int | str) -> None:
        if self.walk.mark is None:
            self._show_message("")
        self._ask("the node", lambda graph: read_node(graph, node), self._ready)

    def _ask(
        self,
        name: str,
        question: Callable[[sqlite3.Connection], _Answer],
        show: Callable[[_Answer], object],
    ) -> None:
        """Answer a question in a thread with a connection of its own; a later one of that name replaces it."""

        def work(job: Job) -> None:
            try:
                with open_graph(self._path) as graph:
                    answer = question(graph)
            except SciextractError:
                if not job.is_cancelled:  # nobody waits for the answer to what is typed over
                    raise
            else:
                if not job.is_cancelled:
                    job.call(show, answer)

        def failed(error: SciextractError) -> None:
            self.query_one(MessageBar).tell(refusal(error))

        start_job(self, name, work, failed, exclusive=True)

    def _opened(self, found: tuple[str, tuple[str, ...]]) -> None:
        words, self.walk.labels = found
        self.query_one(Input).placeholder = f"/ find a node of {self._path.name}: {words}"

    def _found(self, rows: tuple[GraphRow, ...]) -> None:
        self.query_one("#nodes", RowList).show(rows)
        # Once: later lists are answers to a search and move nobody.
        if self.walk.here is None and self._wanted is None and rows:
            self._wanted = rows[0].name
            self._go(rows[0].node or 0)

    def _ready(self, page: NodePage) -> None:
        self.walk.arrive(page)
        facts = self.query_one(PlotPane)
        facts.border_title = Text(fit(page.name, max(8, facts.size.width - 6)))
        facts.show(partial(fact_lines, page))
        self.query_one("#edges", RowList).show(page.edges)

    def _show_support(self, page: SupportPage) -> None:
        self.app.push_screen(TextDialog(page.title, [(support_text(page.parts), "")]))

    def _show_message(self, words: str, problem: bool = False) -> None:
        self.query_one(MessageBar).tell(Feedback(words, problem))


def run_graph(path: Path, node: str | None = None) -> int:
    """Show a graph until the person leaves it; gives the exit code.

    Args:
        path: The graph.
        node: Any name of the node to begin at.

    Raises:
        GraphError: It cannot be read.
        UnknownNodeError: It has no such node; the hint lists names that are like it.
        Exception: Whatever ended the app; the terminal is in order then.
    """
    with open_graph(path) as graph:
        if node is not None:
            find_node(graph, node)
    app = GraphApp(path, node)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0


class GraphApp(TerminalApp):
    """Shows a graph.

    Args:
        path: The graph.
        node: Any name of the node to begin at.
    """

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, path: Path, node: str | None = None) -> None:
        super().__init__()
        self._path = path
        self._node = node

    def get_default_screen(self) -> Screen[Any]:
        """The graph."""
        return GraphScreen(self._path, self._node)

    def on_mount(self) -> None:
        """End in order when the system says so."""
        terminal.install(lambda code: self.exit(return_code=code), lambda: None)

    def action_help_quit(self) -> None:
        """Ctrl-C ends nothing."""
