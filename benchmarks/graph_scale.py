"""The knowledge graph at scale: build time, size and query time; SQLite beside DuckDB on the same facts.

    python -m benchmarks.graph_scale --abstracts 330000 --duckdb
    python -m benchmarks.graph_scale --abstracts 330000 --predictions predictions.jsonl
    python -m benchmarks.graph_scale --graph field.graph

Nodes, edges and queries are measured on synthetic abstracts of that number; reading on real predictions, if
some are given, and extrapolated from there. With ``--graph`` only the questions are measured, of that graph. CPU seconds are told beside wall time, for machines that do other work, too.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.graph_duckdb import DuckGraph
from benchmarks.graph_synthetic import synthetic
from benchmarks.rows import Row, machine, markdown, milliseconds, percentile, told, write_report
from sciextract.graph.building import Facts, make_nodes_and_edges
from sciextract.graph.database import open_graph, set_property, transaction
from sciextract.graph.derive import DeriveSettings
from sciextract.graph.extraction import CountSettings
from sciextract.graph.queries.combinations import together
from sciextract.graph.queries.edges import neighbours
from sciextract.graph.queries.nodes import Node, find_node, top
from sciextract.graph.queries.trends import TrendQuestion, trends
from sciextract.graph.reading import Reading

BUILD_SECONDS, QUERY_SECONDS = 600.0, 0.200
CORPUS = 330_000
_BATCH = 500
_TOGETHER = 10 * _BATCH
"""Abstracts in a transaction: about what a build reads in the ten seconds that it takes for one."""
_QUERIES = 100


@dataclass
class Took:
    """Seconds of a block."""

    wall: float = 0.0
    cpu: float = 0.0

    def __str__(self) -> str:
        return f"{self.wall:.1f} s, {self.cpu:.1f} s of CPU"


@contextmanager
def timed() -> Iterator[Took]:
    """Measures a block."""
    took, wall, cpu = Took(), time.perf_counter(), time.process_time()
    yield took
    took.wall, took.cpu = time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--abstracts", type=int, default=20_000)
    parser.add_argument("--predictions", help="JSONL from annotate, for the time of reading")
    parser.add_argument("--duckdb", action="store_true", help="measure DuckDB, too")
    parser.add_argument("--folder", type=Path, help="where to keep the graph")
    parser.add_argument("--graph", type=Path, help="a graph to ask, instead of making one")
    parser.add_argument("--json", help="write every number to this file, too")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = (
            _query_rows(asked.graph) if asked.graph else _rows(asked, asked.folder or Path(scratch))
        )
        rows = told(found)
    print(markdown(machine(), rows))
    write_report(asked.json, asked, rows, {})


def _rows(asked: argparse.Namespace, folder: Path) -> Iterator[Row]:
    path = folder / "synthetic.graph"
    path.unlink(missing_ok=True)
    facts, derived = build_synthetic(path, asked.abstracts)
    count = f"{asked.abstracts:,} synthetic abstracts"
    yield Row(f"facts of {count}", str(facts))
    yield Row("nodes and edges from them", str(derived))
    yield Row("size of the graph", f"{path.stat().st_size / 1e6:,.0f} MB, {_size(path)}")
    yield Row(
        "memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB at most"
    )
    if asked.predictions:
        yield from _reading(asked.predictions, facts, derived, asked.abstracts)
    yield from _query_rows(path)
    if asked.duckdb:
        yield from _duckdb_rows(path, folder / "synthetic.duckdb")


def build_synthetic(path: Path, abstracts: int) -> tuple[Took, Took]:
    """Keep the facts of synthetic abstracts and derive the graph; gives what each took."""
    with open_graph(path, write=True) as connection:
        facts, writer, rest = Took(), Facts(connection, 1), synthetic(abstracts)
        while some := list(islice(rest, _TOGETHER)):  # making them up is not measured
            with timed() as took, transaction(connection):
                for start in range(0, len(some), _BATCH):
                    writer.write(some[start : start + _BATCH])
                set_property(connection, "build", "1")
            facts = Took(facts.wall + took.wall, facts.cpu + took.cpu)
        with timed() as derived:
            make_nodes_and_edges(connection, DeriveSettings())
    return facts, derived


def _size(path: Path) -> str:
    with open_graph(path) as connection:
        nodes, edges = (
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("node", "edge")
        )
    return f"{nodes:,} nodes, {edges:,} edges"


def _reading(predictions: str, facts: Took, derived: Took, abstracts: int) -> Iterator[Row]:
    with timed() as took:
        count = sum(1 for _ in Reading([predictions], CountSettings()).extractions())
    yield Row(f"reading {count:,} real predictions, one process", str(took))
    share = CORPUS / abstracts
    alone = CORPUS * took.cpu / count + share * (facts.cpu + derived.cpu)
    both = CORPUS * took.cpu / count / 2 + share * (facts.cpu + derived.cpu)
    yield Row(
        f"build of {CORPUS:,} abstracts, extrapolated from CPU seconds, one process",
        f"{alone:.0f} s", f"{BUILD_SECONDS:.0f} s", alone <= BUILD_SECONDS,
    )  # fmt: skip
    yield Row(
        "the same with two processes that read", f"{both:.0f} s or more",
        f"{BUILD_SECONDS:.0f} s", both <= BUILD_SECONDS,
    )  # fmt: skip


def _query_rows(path: Path) -> Iterator[Row]:
    for name, question in questions(path).items():
        value, reached = _percentiles(question)
        yield Row(name, value, f"p95 {1000 * QUERY_SECONDS:.0f} ms", reached)


def _duckdb_rows(path: Path, target: Path) -> Iterator[Row]:
    target.unlink(missing_ok=True)
    duck = DuckGraph(target)
    with timed() as copied:
        duck.copy_facts(path)
    yield Row("DuckDB: facts copied in bulk", str(copied))
    with timed() as derived:
        duck.derive()
    yield Row("DuckDB: nodes and edges from them", str(derived))
    duck.close()
    yield Row("DuckDB: size", f"{target.stat().st_size / 1e6:,.0f} MB")
    for name, question in DuckGraph.questions(target, some_nodes(path)).items():
        value, reached = _percentiles(question)
        yield Row(f"DuckDB: {name}", value, f"p95 {1000 * QUERY_SECONDS:.0f} ms", reached)


def _percentiles(question: Callable[[], object]) -> tuple[str, bool]:
    took = []
    for _ in range(_QUERIES):
        with timed() as each:
            question()
        took.append(each)
    wall = [timing.wall for timing in took]
    value = f"{milliseconds(wall)}; of CPU {milliseconds([timing.cpu for timing in took])}"
    return value, percentile(wall, 95) <= QUERY_SECONDS


def some_nodes(path: Path) -> list[Node]:
    """Nodes to ask about: half of them frequent ones, which cost most."""
    with open_graph(path) as connection:
        frequent = top(connection, limit=200)
        rare = top(connection, limit=20_000)[200:]
    return frequent + random.Random(1).sample(rare, min(200, len(rare)))


def questions(path: Path) -> dict[str, Callable[[], object]]:
    """What is asked; the file is opened anew for each question, as by each command."""
    nodes, chance = some_nodes(path), random.Random(2)

    def opening() -> None:
        with open_graph(path):
            pass

    def at_a_node() -> None:
        with open_graph(path) as connection:
            node = find_node(connection, chance.choice(nodes).name)
            neighbours(connection, node, sentences=2)

    def of_a_kind() -> None:
        with open_graph(path) as connection:
            neighbours(connection, chance.choice(nodes), relation="COMPARE", direction="out")

    def company() -> None:
        with open_graph(path) as connection:
            together(connection, [chance.choice(nodes)])

    def first_ones() -> None:
        with open_graph(path) as connection:
            top(connection, label="Method")

    def recent_ones() -> None:
        with open_graph(path) as connection:
            top(connection, label="Method", since=chance.randint(2005, 2024))

    def rising() -> None:
        with open_graph(path) as connection:
            trends(connection, TrendQuestion("rising", least=chance.choice([50, 100])))

    return {
        "opening": opening, "neighbours with sentences": at_a_node, "neighbours of a kind": of_a_kind,
        "together with sentences": company, "top": first_ones, "top since a year": recent_ones,
        "rising, 50 abstracts or more": rising,
    }  # fmt: skip


if __name__ == "__main__":
    main()
