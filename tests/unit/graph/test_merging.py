"""Names that are one node, and where they stand in the texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read
from sciextract.graph.database import open_graph
from sciextract.graph.matching import COMMON
from sciextract.graph.queries.nodes import About, about, find_node, node_called
from sciextract.graph.queries.rankings import top
from tests.graph_samples import abstract, build
from tests.shared_data import ROOT


def known(graph: Path, name: str) -> About:
    with open_graph(graph) as connection:
        return about(connection, find_node(connection, name))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "f.graph"


def test_words_and_acronyms_that_add_nothing_are_one_node(path: Path) -> None:
    texts = {
        "Fast lattice parsing (FLP) is new.": ("Fast lattice parsing",),
        "We use fast lattice parsing.": ("fast lattice parsing",),
        "Novel FLP systems win.": ("Novel FLP systems",),
        "A chart parsing model. A cross-lingual model. A language model. Masked language models.": (
            "chart parsing model", "cross-lingual model", "language model", "Masked language models"
        ),
        "Chart parsing wins. Cross-lingual.": ("Chart parsing", "Cross-lingual"),
        "Chart parsing loses. Masked language. Masked language!": ("Chart parsing", "Masked language"),
    }  # fmt: skip
    build(
        path,
        *[
            abstract(str(number), text, dict.fromkeys(names, "Method"))
            for number, (text, names) in enumerate(texts.items())
        ],
    )
    parsing = known(path, "FLP")
    assert parsing.node.name == "fast lattice parsing"
    rules = {each.surface: each.rules for each in parsing.aliases}
    assert {"first word that adds nothing", "last word that adds nothing", "acronym within the name"} <= set(
        rules["Novel FLP systems"]
    )  # fmt: skip
    assert known(path, "chart parsing model").node.name == "Chart parsing"
    for apart in ("cross-lingual model", "language model", "masked language model"):
        assert known(path, apart).aliases[0].rules == ()


def test_names_count_where_they_stand_whether_or_not_they_were_extracted(path: Path) -> None:
    build(
        path,
        abstract("a", "We train on NewsBank. A chart parser.", {"NewsBank": "Material", "chart parser": "Method"}),
        abstract("b", "The NewsBanks, and newsbank. Chart-parser trees.", {"Chart-parser trees": "Material"}),
        abstract("c", "Of a chart. Parser. Charts of Newsbankers.", {"Charts": "Material"}, year=2001),
    )  # fmt: skip
    bank, parser = known(path, "NewsBank").node, known(path, "chart parser").node
    assert (bank.documents, bank.extracted_documents, bank.mentions, bank.matched) == (2, 1, 1, 2)
    assert (parser.documents, parser.matched, parser.nested) == (2, 1, 1)


def test_acronyms_need_their_capitals_and_one_meaning(path: Path) -> None:
    build(
        path,
        abstract("a", "Fast icing (FI) of cakes. FI wins.", {"FI#2": "Method"}),
        abstract("b", "Fluid ions (FI). FI lose.", {"FI#2": "Method"}),
        abstract("c", "FI is open. IT is not. It is.", {"FI": "Method", "IT": "Method"}),
    )
    icing, open_one, computing = (known(path, name) for name in ("fast icing", "FI", "IT"))
    assert (icing.node.documents, icing.node.matched) == (1, 2)
    assert open_one.node.documents == 1
    assert (open_one.node.matched, open_one.unmatched) == (1, {})
    assert computing.node.matched == 1


def test_common_words_and_generic_nodes(path: Path) -> None:
    words = "a run may run and run the run we run to run or run as run if run so run but run"
    build(
        path,
        abstract("a", "Training data.", {"Training data": "Material"}),
        abstract("b", f"The run of training data. {words}", {"run": "Method"}),
        abstract("c", "Run! Training data of treebanks.", {"treebanks": "Material"}),
    )
    run = known(path, "run")
    assert (run.node.documents, run.node.matched) == (1, 0)
    assert list(run.unmatched) == [COMMON]
    with open_graph(path) as connection:
        assert {each.name for each in top(connection)} == {"run", "treebanks"}
        assert top(connection, generic=True)[0].name == "Training data"


def test_what_several_abstracts_abbreviate_is_not_generic(path: Path) -> None:
    text = "Language models (LMs) need training data. LMs win."
    names = {"Language models": "Method", "training data": "Material"}
    build(path, abstract("a", text, names), abstract("b", f"Again. {text}", names))
    with open_graph(path) as connection:
        assert [each.name for each in top(connection)] == ["Language models"]


def test_a_single_letter_is_a_name_with_or_without_its_article(path: Path) -> None:
    build(path, abstract("a", "The A beats A.", {"The A": "Method", "A#2": "Method"}))
    with open_graph(path) as connection:
        found = node_called(connection, "A")
        assert found is not None
        assert found.mentions == 2
        assert node_called(connection, "the A") == found
        assert node_called(connection, "the") is None


def test_a_stray_expansion_does_not_switch_an_acronym_off(path: Path) -> None:
    plain = [abstract(f"p{n}", f"Maps {n} by LiDAR help.", {"LiDAR": "Method"}) for n in range(30)]
    more = [abstract(f"m{n}", f"Here LiDAR scans, {n} times.", {}) for n in range(10)]
    stray = (
        abstract("s1", "Localization, detection and ranging (LiDAR) of cars.", {"LiDAR": "Method"}),
        abstract("s2", "Linear data rate (LiDAR) of cars.", {"LiDAR": "Method"}),
    )
    build(path, *plain, *more, *stray)
    assert known(path, "LiDAR").node.documents == 40


def test_wordings_of_an_expansion_are_compared_by_stems(path: Path) -> None:
    build(
        path,
        abstract("a", "A single shot detector (SSD) is fast.", {"SSD": "Method"}),
        abstract("b", "By single shot detection (SSD) we see.", {"SSD": "Method"}),
        abstract("c", "An SSD sees.", {"SSD": "Method"}),
    )
    assert known(path, "SSD").node.documents == 3


def searched(documents: Iterable[AnnotatedDocument], spellings: Iterable[str]) -> int:
    """Documents that hold one of some spellings as words, in their case where a word has capitals inside."""
    patterns = []
    for spelling in spellings:
        words = re.findall(r"[^\W_]+", spelling)
        cased = any(re.search(r"[^\W_][A-Z]", word) for word in words)
        between = re.sub("e?s$", "", r"[\W_]*".join(map(re.escape, words)))
        patterns.append(
            re.compile(
                rf"(?<![^\W_])(?:{between})(?:e|es|s)?(?![^\W_])", 0 if cased else re.IGNORECASE
            )
        )
    return sum(any(each.search(found.document.text) for each in patterns) for found in documents)


def test_no_count_exceeds_a_text_search_of_the_spellings(path: Path) -> None:
    names = {"TraDeS": "Method", "MOVE": "Method", "ART": "Method", "O(N)": "Metric"}
    rare = abstract("a", "TraDeS, MOVE and ART run in O(N).", names)
    common = [
        abstract(f"c{n}", f"State-of-the-art trade-offs move on to the art of {n}.", {})
        for n in range(40)
    ]
    some = abstract("m", "The move on to an art.", {"art": "Method", "move": "Method"})
    samples = [
        each
        for name in ("gold.jsonl", "abstracts.jsonl")
        for each in read([ROOT / "sample_data" / name])
        if isinstance(each, AnnotatedDocument)
    ]
    documents = [rare, some, *common, *samples]
    build(path, *documents)
    with open_graph(path) as connection:
        nodes = top(connection, limit=1000, generic=True)
        assert {"TraDeS", "O(N)"} <= {each.name for each in nodes}
        for node in nodes:
            spellings = [each.surface for each in about(connection, node, 1000).aliases]
            assert node.documents <= searched(documents, spellings), (node.name, spellings)
        assert known(path, "TraDeS").node.documents == 1
        assert known(path, "ART").node.documents <= 2
