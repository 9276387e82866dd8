"""A view of a knowledge graph: nodes to the left, one of them with its neighbours to the right, sentences over it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
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
from sciextract_app.shared.jobs import Job, start_job
from sciextract_app.shared.view_models import Feedback, Hint, Mode, refusal
from sciextract_app.terminal import TerminalApp
from sciextract_app.widgets.bars import FooterBar, MessageBar, TooSmall
from sciextract_app.widgets.dialogs import Dialog
from sciextract_app.widgets.help import KeysDialog
from sciextract_app.widgets.lines import LinesPane, fit
from sciextract_app.widgets.plots import column_rows, spread

_WORD_CELLS = 10
_YEARS = "years"


class NodeFacts(LinesPane):
    """Draws types, years and ways of writing."""

    DEFAULT_CSS = """
    NodeFacts { height: 11; max-height: 45%; }
    """

    _page: NodePage | None = None

    def show(self, page: NodePage) -> None:
        """Draw a node from its first line on."""
        self._page = page
        self.border_title = Text(fit(page.name, max(8, self.size.width - 6)))
        self.scroll_to(y=0, animate=False, force=True)
        self.redraw()

    def count(self, width: int) -> int:
        """A line for each fact, and one for the years."""
        return len(self._lines(width))

    def line(self, y: int, width: int) -> Text:
        """One of them."""
        name, value = self._lines(width)[y]
        return (
            Text()
            .append(name.rjust(_WORD_CELLS), "dim")
            .append(f"  {fit(value, width - _WORD_CELLS - 2)}")
        )

    def _lines(self, width: int) -> list[tuple[str, str]]:
        if self._page is None:
            return []
        first, second, *rest = self._page.facts
        years = [(_YEARS, years_line(self._page.years, width - _WORD_CELLS - 2))]
        return [first, second, *(years if self._page.years else []), *rest]


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


class SupportDialog(Dialog[None]):
    """Shows edges in words, each with its sentences.

    Args:
        title: What they support.
        parts: Each edge with its sentences.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s,q,enter", "leave", "back", id="support.leave"),
    ]

    def __init__(self, title: str, parts: Sequence[tuple[str, Sequence[Support]]]) -> None:
        # Titles of boxes are markup, in which a name may have brackets.
        super().__init__(visible(title).replace("[", r"\["), "↑ ↓ scroll, Esc back")
        self._parts = parts

    def content(self) -> list[Widget]:
        """What the marks mean, and the sentences."""
        return [Static(support_text(self._parts))]


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
_KEYS = (
    ("Enter", "show the selected node or neighbour", "walking"),
    ("Backspace", "back to the node before", "walking"),
    ("Tab", "from the list to the neighbours and back", "walking"),
    ("/", "find nodes by any of their names; Enter takes the first, Esc leaves", "looking"),
    ("t", "list the nodes of the next type only", "looking"),
    ("s", "the sentences that support the marked neighbour's edge", "looking"),
    ("p", "mark this node; at another one: the shortest path from it", "looking"),
    ("f", "scroll through the ways in which the node is written", "looking"),
    ("q, Ctrl+Q", "leave", "leaving"),
)


class GraphScreen(Screen[None]):
    """The view of a graph; every query runs in the background.

    Args:
        path: The graph.
        node: Any name of the node to begin at; the most frequent one when ``None``.
    """

    AUTO_FOCUS = "#nodes"
    CSS = """
    GraphScreen #find { height: 1; border: none; padding: 0 1; background: $panel; }
    GraphScreen #body { height: 1fr; }
    GraphScreen #nodes { width: 2fr; min-width: 24; }
    GraphScreen #node { width: 3fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "find", id="graph.find"),
        Binding("escape", "list", "list", id="graph.list"),
        Binding("backspace,left", "back", "back", id="graph.back"),
        Binding("s", "sentences", "sentences", id="graph.sentences"),
        Binding("p", "path", "path", id="graph.path"),
        Binding("t", "turn_type", "type", id="graph.type"),
        Binding("f", "scroll_facts", "more", id="graph.more"),
        Binding("question_mark", "help", "keys", id="graph.help"),
        Binding("q", "app.quit", "leave", id="graph.leave"),
    ]

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
                yield NodeFacts(id="facts")
                yield RowList("neighbours", id="edges")
        yield MessageBar(id="message")
        yield FooterBar(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one(FooterBar).show(_HINTS, Mode.REVIEW)
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
        facts = self.query_one(NodeFacts)
        at_end = facts.scroll_offset.y >= facts.max_scroll_y
        facts.scroll_to(y=0 if at_end else facts.scroll_offset.y + 5, animate=False)

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(KeysDialog(_KEYS))

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
            self.query_one(MessageBar).show(refusal(error))

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
        self.query_one(NodeFacts).show(page)
        self.query_one("#edges", RowList).show(page.edges)

    def _show_support(self, page: SupportPage) -> None:
        self.app.push_screen(SupportDialog(page.title, page.parts))

    def _show_message(self, words: str, problem: bool = False) -> None:
        self.query_one(MessageBar).show(Feedback(words, problem))


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
