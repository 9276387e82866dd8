"""``sciextract graph``: one graph of what many abstracts say. A command a module."""

from __future__ import annotations

from sciextract.cli.graph.build import build
from sciextract.cli.graph.group import graph
from sciextract.cli.graph.output import export, survey, table, view
from sciextract.cli.graph.papers import papers, results
from sciextract.cli.graph.queries import gaps, neighbours, subtopics, together, top, trends
from sciextract.cli.graph.repairs import hide, merge, rename, repairs, split

for command in (
    build, top, neighbours, together, papers, results, gaps, subtopics, trends, table, survey, export, view,
    merge, split, hide, rename, repairs,
):  # fmt: skip
    graph.command()(command)

__all__ = ["graph"]
