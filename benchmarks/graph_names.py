"""Merges and nodes of a graph to be judged by hand, and how many nodes frequent concepts have.

    python -m benchmarks.graph_names field.graph --merges 100 --nodes 100
    python -m benchmarks.graph_names field.graph --concepts benchmarks/graph_concepts.tsv

A merge is a form that another rule than spelling gave to a node. The concepts are a TSV file: a name, and a regular
expression for names of the concept in normal form; words that add nothing may stand before and after. Graphs of earlier
versions are read, too.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
from pathlib import Path

from sciextract.graph.normalisation import MergeRule, normal_form

_SPELLING = 63
_SEED = 22
_BEFORE = "novel|new|proposed|existing|traditional|conventional|standard|strong|various|different|popular|vanilla"
_AFTER = (
    "model|system|method|approach|architecture|algorithm|network|framework|technique|task|problem|mechanism|baseline|"
    "paradigm|setup|procedure|strategy|scheme|technology|engine|metric|score|measure|point"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--merges", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=0)
    parser.add_argument("--concepts", type=Path)
    arguments = parser.parse_args()
    connection = sqlite3.connect(arguments.graph.absolute().as_uri() + "?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    for line in _draw(_merges(connection), arguments.merges):
        print(line)
    for line in _draw(_nodes(connection), arguments.nodes):
        print(line)
    if arguments.concepts:
        _count(connection, arguments.concepts)


def _draw(lines: list[str], count: int) -> list[str]:
    return random.Random(_SEED).sample(lines, min(count, len(lines)))


def _merges(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        """SELECT n.name, f.surface, a.rules FROM alias a JOIN node n ON n.id = a.node JOIN form f ON f.id = a.form
        WHERE a.rules > ? ORDER BY n.name, f.surface, a.rules""",
        (_SPELLING,),
    )
    return [
        f"{surface} => {name} ({', '.join(MergeRule(rules & ~_SPELLING).words)})"
        for name, surface, rules in rows
        if normal_form(surface).folded != normal_form(name).folded
    ]


def _nodes(connection: sqlite3.Connection) -> list[str]:
    return [
        f"{node['name']}: {forms}"
        for node in _extract(connection, 2)
        for (forms,) in connection.execute(
            """SELECT group_concat(surface, '; ') FROM (
                SELECT DISTINCT f.surface FROM alias a JOIN form f ON f.id = a.form
                WHERE a.node = ? ORDER BY a.mentions DESC LIMIT 8)""",
            (node["id"],),
        )
    ]


def _extract(connection: sqlite3.Connection, least: int) -> list[sqlite3.Row]:
    """Nodes that so many abstracts name in extracted mentions, of graphs before and after matching."""
    columns = {row["name"] for row in connection.execute("PRAGMA table_info(node)")}
    documents = "extracted_documents" if "extracted_documents" in columns else "documents"
    return connection.execute(
        f"SELECT id, name FROM node WHERE {documents} >= ? ORDER BY id", (least,)
    ).fetchall()


def _count(connection: sqlite3.Connection, concepts: Path) -> None:
    lines = concepts.read_text(encoding="utf-8").splitlines()
    patterns = dict(line.split("\t") for line in lines if line)
    for least in (1, 2, 3):
        names = [
            " ".join(normal_form(re.sub(r"\([^)]*\)", "", row["name"])).words).casefold()
            for row in _extract(connection, least)
        ]
        total = 0
        for concept, pattern in patterns.items():
            wanted = re.compile(f"(?:(?:{_BEFORE}) )*(?:{pattern})(?: (?:{_AFTER}))*")
            nodes = sum([wanted.fullmatch(name) is not None for name in names])
            total += max(nodes, 1)
            if least == 1:
                print(f"{concept:32} {nodes:4}")
        print(f"nodes a concept, of {least} abstracts or more: {total / len(patterns):.2f}")


if __name__ == "__main__":
    main()
