"""No node counts more abstracts than a text search for its own spellings finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sciextract.graph.building import build_graph
from sciextract.graph.database import open_graph, unpacked
from sciextract.graph.extraction import CountSettings
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.reading import Reading
from tests.graph_samples import abstract, build, field, write

_SAMPLES = Path(__file__).parents[3] / "sample_data" / "gold.jsonl"


def _synthetic(folder: Path) -> Path:
    return write(
        folder / "synthetic.jsonl",
        [
            *field(),
            abstract("art", "Adaptive roasting trees (ART) bake. ART wins.", {"ART#2": "Method"}),
            abstract("art 2", "An art. A map. We move.", {"art": "Method", "map": "Material"}),
            abstract("move", "MOVE and TraDeS win.", {"MOVE": "Method", "TraDeS": "Method"}),
            abstract("on", "A cost of O(N), an ON switch.", {"O(N)": "Metric", "ON": "Method"}),
            *[
                abstract(f"c{n}", f"State-of-the-art maps: {n} move on a trade-off.", {})
                for n in range(30)
            ],
        ],
    )


def _spelling(surface: str) -> re.Pattern[str]:
    """The words with any hyphens and endings; names with capitals inside as they are written."""
    words = re.findall(r"[^\W_]+", surface)
    last = re.sub(r"(ies|es|s|y)$", "", words[-1])
    joined = r"[\W_]*".join([*map(re.escape, words[:-1]), re.escape(last)])
    capitals = re.search(r"[^\W_][A-Z]", surface) is not None
    return re.compile(
        rf"(?<![^\W_]){joined}(ies|es|s|y|)(?![^\W_])", 0 if capitals else re.IGNORECASE
    )


@pytest.mark.parametrize("source", ["synthetic", "samples"])
def test_no_node_counts_more_than_a_text_search_finds(tmp_path: Path, source: str) -> None:
    given = _synthetic(tmp_path) if source == "synthetic" else _SAMPLES
    build_graph(tmp_path / "f.graph", Reading([str(given)], CountSettings()))
    with open_graph(tmp_path / "f.graph") as connection:
        texts = [unpacked(text) for (text,) in connection.execute("SELECT content FROM text")]
        nodes = connection.execute("SELECT id, name, documents FROM node").fetchall()
        assert len(nodes) > 9
        for node, name, documents in nodes:
            spellings = [
                _spelling(surface)
                for (surface,) in connection.execute(
                    "SELECT f.surface FROM alias a JOIN form f ON f.id = a.form WHERE a.node = ?",
                    (node,),
                )
            ]
            found = sum(any(spelling.search(text) for spelling in spellings) for text in texts)
            assert documents <= found, name


def test_no_name_begins_in_the_title_and_ends_behind_it(tmp_path: Path) -> None:
    build(
        tmp_path / "t.graph",
        abstract("a", "Choirs\nA singing voice is heard.", {"singing voice": "Material"}),
        abstract("b", "Learning with singing\nVoice changes all.", {}),
    )
    with open_graph(tmp_path / "t.graph") as connection:
        assert find_node(connection, "singing voice").documents == 1
