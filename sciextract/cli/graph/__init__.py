"""``sciextract graph``: one graph of what many abstracts say. A command a module."""

from __future__ import annotations

from sciextract.cli.graph.browse import browse
from sciextract.cli.graph.build import build
from sciextract.cli.graph.export import export
from sciextract.cli.graph.group import graph
from sciextract.cli.graph.neighbours import neighbours
from sciextract.cli.graph.path import path
from sciextract.cli.graph.precision import precision
from sciextract.cli.graph.sample import sample
from sciextract.cli.graph.top import top
from sciextract.cli.graph.trends import trends
from sciextract.cli.graph.view import view

for command in (build, top, neighbours, path, export, trends, view, browse, sample, precision):
    graph.command()(command)

__all__ = ["graph"]
