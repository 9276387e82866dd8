"""The app that shows a knowledge graph: ``sciextract graph browse``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.screen import Screen

from sciextract.graph.database.opening import open_graph
from sciextract.graph.queries.nodes import find_node
from sciextract_app.screens.graph import GraphScreen
from sciextract_app.terminal_app import TerminalApp
from sciextract_app.workers import signals


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
        signals.install(lambda code: self.exit(return_code=code), lambda: None)

    def action_help_quit(self) -> None:
        """Ctrl-C ends nothing."""
