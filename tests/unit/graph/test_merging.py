"""Names that are one node, and where they stand in the texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.graph.building import totals_of
from sciextract.graph.database import UnknownNodeError, open_graph
from sciextract.graph.derive import DeriveSettings
from sciextract.graph.matching import COMMON
from sciextract.graph.queries.nodes import About, about, find_node, top
from tests.graph_samples import abstract, build


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
    rules = {alias.surface: alias.rules for alias in parsing.aliases}
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
        abstract("d", "The fast chart parser.", {"fast chart parser": "Method"}),
        abstract("e", "A non-chart parser.", {}),
    )  # fmt: skip
    bank, parser = known(path, "NewsBank").node, known(path, "chart parser").node
    assert (bank.documents, bank.extracted_documents, bank.mentions, bank.matched) == (2, 1, 1, 2)
    # As the head of a longer name, but neither as the beginning of one nor behind "non".
    assert (parser.documents, parser.alone, parser.matched, parser.nested) == (2, 1, 1, 1)


def test_two_spellings_are_one_thing_under_the_more_frequent_one(path: Path) -> None:
    build(
        path,
        abstract("a", "Tumour localisation works.", {"Tumour localisation": "Task"}),
        abstract("b", "Tumour localisation fails.", {"Tumour localisation": "Task"}),
        abstract("c", "The tumor localization.", {"The tumor localization": "Task"}),
        abstract("d", "A tumor localization.", {}),
    )
    node = known(path, "TUMOR LOCALISATION").node
    assert (node.name, node.documents) == ("Tumour localisation", 4)


def test_listed_synonyms_are_one_node_unless_the_corpus_says_otherwise(path: Path) -> None:
    documents = [
        abstract("a", "Glyburide works.", {"Glyburide": "Drug"}),
        abstract("b", "Glibenclamide works.", {"Glibenclamide": "Drug"}),
        abstract("c", "Tuberculosis spreads.", {"Tuberculosis": "Disease"}),
        abstract("d", "The token bucket (TB) is full. TB leaks.", {"TB#2": "Method"}),
        abstract("e", "LiDAR-based mapping works.", {"LiDAR-based mapping": "Method"}),
        abstract("f", "LiDAR mapping works.", {"LiDAR mapping": "Method"}),
    ]
    build(path, *documents)
    assert known(path, "glyburide").node.documents == 2
    assert known(path, "tuberculosis").node.documents == 1
    assert known(path, "LiDAR mapping").node.documents == 2
    build(path, *documents, derive_settings=DeriveSettings(synonyms=False))
    assert known(path, "glyburide").node.documents == 1


def test_an_abbreviation_that_may_be_a_word_counts_where_it_is_explained(path: Path) -> None:
    build(
        path,
        abstract("a", "Methionine (Met) is common. Met helps.", {"Met#2": "Chemical"}),
        abstract("b", "We met. Methionine helps.", {"Methionine": "Chemical"}),
        abstract("c", "They met.", {}),
    )
    assert known(path, "methionine").node.documents == 2


def test_what_names_nothing_is_no_node(path: Path) -> None:
    names = ("two", "increased", "The growth")
    build(path, abstract("a", "two increased. The growth.", dict.fromkeys(names, "Data")))
    with open_graph(path) as connection:
        assert [node.name for node in top(connection)] == ["growth"]
        assert totals_of(connection).unnamed == 2
    decided = abstract("b", "Both increased.", {"increased": "Data"})
    (entity,) = decided.annotations.entities
    annotations = replace(decided.annotations, entities=(replace(entity, state=State.ACCEPTED),))
    build(path, replace(decided, annotations=annotations))
    assert known(path, "increased").node.extracted_documents == 1


def test_acronyms_need_their_capitals_and_one_meaning(path: Path) -> None:
    build(
        path,
        abstract("a", "Fast icing (FI) of cakes. FI wins.", {"FI#2": "Method"}),
        abstract("b", "Fluid ions (FI). FI lose.", {"FI#2": "Method"}),
        abstract("c", "FI is open. IT is not. It is.", {"FI": "Method", "IT": "Method"}),
    )
    icing, open_one, computing = (known(path, name) for name in ("fast icing", "FI", "IT"))
    assert (icing.node.documents, icing.node.matched) == (1, 2)
    assert (open_one.node.documents, open_one.node.matched) == (1, 0)
    assert open_one.unmatched == {}
    assert computing.node.matched == 1


def test_an_acronym_with_two_expansions_counts_where_it_was_extracted(path: Path) -> None:
    build(
        path,
        abstract("a", "Fast icing (FI) of cakes. FI wins.", {"FI#2": "Method"}),
        abstract("b", "Fluid ions (FI). FI lose.", {"FI#2": "Method"}),
        abstract("c", "FI is open.", {"FI": "Method"}),
        *[abstract(f"d{number}", f"Cakes with FI, {number} of them.", {}) for number in range(9)],
    )
    assert known(path, "FI").node.documents == 1


def test_an_expansion_that_hardly_anyone_gives_is_no_meaning(path: Path) -> None:
    build(
        path,
        abstract("a", "Fast icing (FI). FI wins.", {"FI#2": "Method"}),
        abstract("b", "Fluid ions (FI). FI lose.", {"FI#2": "Method"}),
        *[
            abstract(f"c{number}", f"FI is known for {number}.", {"FI": "Method"})
            for number in range(60)
        ],
        abstract("d", "Cakes with FI.", {}),
    )
    node = known(path, "FI").node
    assert (node.name, node.documents) == ("FI", 61)


def test_a_common_word_does_not_count_because_an_acronym_has_its_letters(path: Path) -> None:
    build(
        path,
        abstract("a", "Adaptive roasting trees (ART). An art.", {"ART": "Method", "art": "Method"}),
        abstract("b", "O(N) and ON. ART wins.", {"O(N)": "Metric", "ON": "Method", "ART": "Method"}),
        *[abstract(f"c{n}", f"State-of-the-art art on {n} cakes.", {}) for n in range(30)],
    )  # fmt: skip
    assert known(path, "art").node.documents == 1
    assert known(path, "ART").node.documents == 2
    assert known(path, "ON").node.documents == 1


def test_a_name_with_capitals_inside_does_not_count_its_word_in_lower_case(path: Path) -> None:
    build(
        path,
        abstract("a", "TraDeS tracks. MOVE moves.", {"TraDeS": "Method", "MOVE": "Method"}),
        *[abstract(f"b{n}", f"A trade-off of {n} moves. We move.", {}) for n in range(30)],
    )
    assert known(path, "TraDeS").node.documents == 1
    assert known(path, "MOVE").node.documents == 1


def test_a_word_that_begins_with_a_digit_is_no_name_by_that(path: Path) -> None:
    build(
        path,
        abstract("a", "3D is new. GPT-4 is new.", {"3D": "Method", "GPT-4": "Method"}),
        *[abstract(f"b{n}", f"A 3D scan of {n} cakes by GPT-4.", {}) for n in range(30)],
    )
    assert known(path, "3D").node.documents == 1
    assert known(path, "GPT-4").node.documents == 31


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
        # "run" is hardly ever extracted where it stands.
        assert {node.name for node in top(connection)} == {"Training data", "treebanks"}
        assert {node.name for node in top(connection, generic=True)} > {"run"}


def test_what_several_abstracts_abbreviate_is_not_generic(path: Path) -> None:
    text = "Language models (LMs) need training data. LMs win."
    names = {"Language models": "Method", "training data": "Material"}
    often = " ".join(f"Of {n} language models, {n} use training data." for n in range(20))
    plain = abstract("c", often, {})
    build(path, abstract("a", text, names), abstract("b", f"Again. {text}", names), plain)
    with open_graph(path) as connection:
        assert [node.name for node in top(connection)] == ["Language models"]


def test_a_single_letter_is_a_name_with_or_without_its_article(path: Path) -> None:
    build(path, abstract("a", "The A beats A.", {"The A": "Method", "A#2": "Method"}))
    with open_graph(path) as connection:
        found = find_node(connection, "A")
        assert found.mentions == 2
        assert find_node(connection, "the A") == found
        with pytest.raises(UnknownNodeError):
            find_node(connection, "the")


def test_wordings_of_an_expansion_are_one_node(path: Path) -> None:
    build(
        path,
        abstract("a", "A single shot detector (SSD) is fast.", {"SSD": "Method"}),
        abstract("b", "By single shot detection (SSD) we see.", {"SSD": "Method"}),
        abstract("c", "An SSD sees.", {"SSD": "Method"}),
    )
    assert known(path, "SSD").node.documents == 3


def test_versions_and_parts_of_a_data_set_are_one_node(path: Path) -> None:
    names = ("PondSet", "MS PondSet", "PondSet 2017", "PondSet v1.1", "PondSet benchmark")
    others = ("CIFAR-10", "CIFAR-100", "Danish", "Danish corpus")
    texts = [f"We test on {name} number {n}." for n, name in enumerate((*names, *others))]
    many = ["Danish poets", "Danish trees", "Danish taxis", "Danish roofs", "Danish bees"]
    build(
        path,
        *[
            abstract(f"d{n}", text, {name: "Material"})
            for n, (name, text) in enumerate(zip((*names, *others), texts, strict=True))
        ],
        *[abstract(f"m{n}", f"{name} win.", {name: "Material"}) for n, name in enumerate(many)],
        abstract("v2", "VQA v2 is hard.", {"VQA v2": "Material"}),
        abstract("v", "The VQA v2.0 test set is hard.", {"VQA v2.0 test set": "Material"}),
        abstract("v3", "VQA v2 is still hard.", {"VQA v2": "Material"}),
        abstract("t", "VQA is a task. VQA is hard.", {"VQA": "Task", "VQA#2": "Task"}),
    )
    assert {known(path, name).node.name for name in names} == {"PondSet"}
    assert known(path, "PondSet").node.documents == len(names)
    assert "version or part of a data set" in str(known(path, "PondSet").aliases)
    # A number is no version, a language no data set, and a task neither.
    assert known(path, "CIFAR-10").node != known(path, "CIFAR-100").node
    assert known(path, "Danish").node != known(path, "Danish corpus").node
    assert known(path, "VQA v2.0 test set").node == known(path, "VQA v2").node
    assert known(path, "VQA").node.documents == 1 and known(path, "VQA").node.label == "Task"


def test_versions_of_an_acronym_are_one_node(path: Path) -> None:
    texts = {
        "We test on LeSeC-2019.": "LeSeC-2019",
        "We lose on LeSeC-2019.": "LeSeC-2019",
        "We test on the LeSeC database.": "LeSeC database",
        "We win LESEC2020.": "LESEC2020",
        "Leaf segmentation challenges (LeSeCS) are hard. ": "Leaf segmentation challenges",
        "Lemma search contests (LeSeCS) are hard.": "Lemma search contests",
        "We test on the LeSeCS 2018 dataset.": "LeSeCS 2018 dataset",
        "We test on LeSeCS 2019 data.": "LeSeCS 2019 data",
    }
    build(path, *[abstract(f"d{n}", t, {texts[t]: "Material"}) for n, t in enumerate(texts)])
    one, other = known(path, "LeSeC-2019").node, known(path, "LeSeCS").node
    assert one == known(path, "LESEC2020").node == known(path, "LeSeC database").node
    # Capitals at the end are no plural, and an acronym of two meanings is the data set where it has a year.
    assert one != other == known(path, "LeSeCS 2019 data").node
    assert other.documents == 2
