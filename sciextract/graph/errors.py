"""What can go wrong with a graph."""

from __future__ import annotations

from sciextract.errors import ExitCode, SciextractError


class GraphError(SciextractError):
    """A graph file cannot be used, or a question to it has no answer."""


class GraphMissingError(GraphError):
    """There is no graph file of that name."""

    exit_code = ExitCode.MISSING


class UnknownNodeError(GraphError):
    """The graph has no node of that name."""
