"""A view of a knowledge graph: nodes to the left, one of them with its neighbours to the right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Input, OptionList
from textual.worker import Worker, WorkerState, get_current_worker

from sciextract.graph.database import open_graph
from sciextract.graph.queries.nodes import find_node
from sciextract_app import terminal
from sciextract_app.dialogs.pages import KeysDialog, SupportDialog
from sciextract_app.messages import crash_feedback, error_line
from sciextract_app.presenters.graph import GraphNavigation, GraphRow
from sciextract_app.presenters.view_models import Feedback, Hint, Mode
from sciextract_app.terminal import TerminalApp
from sciextract_app.widgets.bars import FooterBar, MessageBar, TooSmall
from sciextract_app.widgets.graph import NodeFacts, RowList
from sciextract_app.workers import graph_questions as answers

Question = Callable[[answers.GraphQuestions], None]
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
        self._ask("opening", answers.GraphQuestions.opening)
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
        self._ask("support", lambda questions: questions.sentences(edge))

    def action_path(self) -> None:
        """Mark one end of a path, or show it."""
        ends = self.walk.path_from()
        if ends is not None:
            self._show_message("")
            self._ask("support", lambda questions: questions.path_between(*ends))
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
            self._ask("list", lambda questions: questions.search(typed))
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
        self._ask("list", lambda questions: questions.first(label))

    def _go(self, node: int | str) -> None:
        if self.walk.mark is None:
            self._show_message("")
        self._ask("node", lambda questions: questions.node(node))

    def _ask(self, group: str, question: Question) -> None:
        """Answer in the background; a later question of the same group takes the place of one that still runs."""

        def run() -> None:
            worker = get_current_worker()
            cancelled = lambda: worker.is_cancelled
            question(answers.GraphQuestions(self._path, cancelled, self.post_message))

        self.run_worker(run, thread=True, exclusive=True, group=group, exit_on_error=False)

    @on(answers.GraphOpened)
    def _opened(self, event: answers.GraphOpened) -> None:
        self.walk.labels = event.labels
        self.query_one(Input).placeholder = f"/ find a node of {self._path.name}: {event.words}"

    @on(answers.NodesFound)
    def _found(self, event: answers.NodesFound) -> None:
        self.query_one("#nodes", RowList).show(event.rows)
        # Once: later lists are answers to a search and move nobody.
        if self.walk.here is None and self._wanted is None and event.rows:
            self._wanted = event.rows[0].name
            self._go(event.rows[0].node or 0)

    @on(answers.NodeReady)
    def _ready(self, event: answers.NodeReady) -> None:
        self.walk.arrive(event.page)
        self.query_one(NodeFacts).show(event.page)
        self.query_one("#edges", RowList).show(event.page.edges)

    @on(answers.SupportReady)
    def _support(self, event: answers.SupportReady) -> None:
        self.app.push_screen(SupportDialog(event.title, event.parts))

    @on(answers.QuestionFailed)
    def _failed(self, event: answers.QuestionFailed) -> None:
        self._show_message(error_line(event.error), problem=True)

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            crash = crash_feedback("the question", event.worker.error)
            self.query_one(MessageBar).show(crash)

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
