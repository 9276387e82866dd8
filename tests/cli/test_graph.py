from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.graph_samples import HOSTILE, abstract, field, lines, pairs, write


@pytest.fixture
def graph(work: Path, command: Command) -> Path:
    write(work / "predictions.jsonl", field())
    assert command("graph", "build", "predictions.jsonl", "--graph", "f.graph", "--quiet").code == 0
    return work / "f.graph"


@pytest.fixture
def hostile(work: Path, command: Command) -> Path:
    text = f"We use {HOSTILE} for [12] things."
    document = abstract(
        "\x1b]0;key\x07", text, {HOSTILE: "Me\x1b[1mthod", "[12] things": "Task"},
        [(HOSTILE, "USED\x1b-FOR", "[12] things")],
    )  # fmt: skip
    write(work / "h.jsonl", [document])
    assert command("graph", "build", "h.jsonl", "--graph", "h.graph", "--quiet").code == 0
    return work / "h.graph"


def test_build_tells_what_it_did(work: Path, command: Command) -> None:
    write(work / "predictions.jsonl", field())
    outcome = command("graph", "build", "predictions.jsonl", "--graph", "f.graph")
    assert (outcome.code, outcome.out) == (0, "")
    assert "4 abstracts added, 0 replaced, 0 known" in outcome.err
    again = command("graph", "build", "predictions.jsonl", "--graph", "f.graph", "--json")
    assert json.loads(again.out)["known"] == 4


def test_texts_without_predictions_are_noticed(work: Path, command: Command) -> None:
    (work / "plain.txt").write_text("We rank proteins with kernels.\n", encoding="utf-8")
    outcome = command("graph", "build", "plain.txt", "--graph", "f.graph")
    assert outcome.code == 0
    assert "no entity was found" in outcome.err and "sciextract annotate" in outcome.err


def test_a_graph_without_relations_shows_what_abstracts_name_together(
    work: Path, command: Command
) -> None:
    text = "We bake bread with yeast."
    write(work / "p.jsonl", [abstract("a", text, {"bread": "Food", "yeast": "Agent"})])
    built = command("graph", "build", "p.jsonl", "--graph", "f.graph")
    assert "no relation joins" in built.err
    shown = command("graph", "view", "--output", "f.html", "--graph", "f.graph")
    assert shown.code == 0
    assert "2 nodes and 1 edge" in shown.err
    assert "named in the same abstract" in (work / "f.html").read_text(encoding="utf-8")
    none = command("graph", "view", "bread", "--output", "bread.html", "--graph", "f.graph")
    assert none.code == 0


def test_a_page_without_edges_says_why(work: Path, command: Command) -> None:
    text = f"Data for training. {'; '.join(['Data and training'] * 20)}."
    document = abstract(
        "a", text, {"Data": "Food", "training": "Agent"}, [("Data", "OF", "training")]
    )
    write(work / "p.jsonl", [document])
    command("graph", "build", "p.jsonl", "--graph", "f.graph")
    shown = command("graph", "view", "--output", "f.html", "--graph", "f.graph")
    assert "shows no edges" in shown.err and "--with-generic" in shown.err
    words = ("graph", "view", "--with-generic", "--output", "all.html", "--graph", "f.graph")
    assert "no edges" not in command(*words).err


def test_types_without_direction_are_named(graph: Path, command: Command) -> None:
    source = "predictions.jsonl"
    typo = command("graph", "build", source, "--symmetric", "COMPRAE", "--graph", graph)
    assert typo.code == 0
    assert "--symmetric COMPRAE: the graph has no relation of this type" in typo.err
    assert "it has COMPARE, USED-FOR" in typo.err
    none = command("graph", "build", source, "--symmetric", "", "--graph", graph)
    assert (none.code, none.err.count("Warning")) == (0, 0)
    one = command("graph", "neighbours", "SVM", "--direction", "out", "--graph", graph)
    assert "--COMPARE--> neural network" in one.out


def test_build_reads_a_pipe(work: Path, command: Command) -> None:
    piped = write(work / "predictions.jsonl", field()).read_bytes()
    assert command("graph", "build", "-", "--graph", "f.graph", stdin=piped).code == 0


def test_what_annotate_writes_goes_straight_in(work: Path, command: Command, fake: object) -> None:
    (work / "in.jsonl").write_text(
        '{"id": "x", "title": "Kernels", "abstract": "We rank proteins with kernels.", "year": 2020}\n'
    )
    assert command("annotate", "in.jsonl", "--output", "out.jsonl").code == 0
    outcome = command("graph", "build", "out.jsonl", "--graph", "f.graph", "--json")
    found = json.loads(outcome.out)["graph"]
    assert (found["documents"], found["without_year"]) == (1, 0)


def test_bad_records_are_named_and_left_out(work: Path, command: Command) -> None:
    path = write(work / "predictions.jsonl", field()[:1])
    path.write_text(path.read_text() + "{broken\n")
    outcome = command("graph", "build", path.name, "--graph", "f.graph")
    assert outcome.code == 3
    assert "predictions.jsonl:2" in outcome.err
    assert "1 bad record left out" in outcome.err


def test_top(graph: Path, command: Command) -> None:
    outcome = command("graph", "top", "--graph", graph)
    assert outcome.out.splitlines()[1].split() == [
        "3", "3", "3", "2", "2001-2003", "Method", "support", "vector", "machine",
    ]  # fmt: skip
    (first, *_) = lines(command("graph", "top", "--type", "task", "--json", "--graph", graph).out)
    assert (first["name"], first["documents"]) == ("dependency parsing", 2)
    since = command("graph", "top", "--since", 2004, "--graph", graph).out
    assert "neural network" in since
    assert "support" not in since


def test_neighbours(graph: Path, command: Command) -> None:
    outcome = command("graph", "neighbours", "svm", "--sentences", 1, "--graph", graph)
    assert "3 abstracts (3 of them extracted), 2 neighbours" in outcome.out
    assert "5 mentions extracted; named at 5 places by itself, 0 within" in outcome.out
    assert "SVMs  (plural, acronym that most of the corpus expands so)" in outcome.out
    assert (
        "--USED-FOR--> dependency parsing [Task]  (2 abstracts, mean score 0.70, best 0.80)"
        in outcome.out
    )
    assert "a, 2001, characters 46-82, score 0.80:" in outcome.out
    (found,) = lines(command("graph", "neighbours", "SVM", "--json", "--graph", graph).out)
    assert found["node"]["name"] == "support vector machine"
    assert len(found["edges"]) == 2
    none = command("graph", "neighbours", "accuracy", "--graph", graph)
    assert "no relations" in none.out


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("neighbours", "speech recognitoin"), 1, "did you mean: speech recognition"),
        (("together", "SVM", "--versus", "nonsense"), 1, "no node is called 'nonsense'"),
        (("top", "--type", "Gene"), 2, "it has Material, Method, Metric, Task"),
        (("neighbours", "SVM", "--relation", "X"), 2, "it has COMPARE, USED-FOR"),
        (("trends", "pairs"), 2, "is not one of"),
        (("trends", "rising"), 2, "two periods of 30 abstracts"),
        (("view", "SVM", "--output", "x.svg"), 2, "expected .html, .htm"),
        (("export", "--to", "graphml", "--output", "no/x.graphml"), 1, "no such folder"),
    ],
)
def test_mistakes(
    graph: Path, command: Command, words: tuple[str, ...], code: int, told: str
) -> None:
    outcome = command("graph", *words, "--graph", graph)
    assert outcome.code == code
    assert told in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize("words", [("top",), ("neighbours", "x"), ("trends", "rising")])
def test_no_graph(work: Path, command: Command, words: tuple[str, ...]) -> None:
    outcome = command("graph", *words, "--graph", "absent.graph")
    assert outcome.code == 4
    assert "sciextract graph build" in outcome.err
    assert not (work / "absent.graph").exists()


def test_trends(work: Path, command: Command) -> None:
    documents = [
        abstract(f"{year}{n}", f"In {year} the {n}th {'new' if n < year - 2000 else 'old'} thing.",
                 {f"{'new' if n < year - 2000 else 'old'} thing": "Method"}, year=year)
        for year in range(2000, 2011) for n in range(12)
    ]  # fmt: skip
    write(work / "p.jsonl", documents)
    command("graph", "build", "p.jsonl", "--graph", "f.graph")
    outcome = command("graph", "trends", "rising", "--recent", "10", "--graph", "f.graph")
    assert outcome.code == 0
    assert outcome.out.splitlines()[2].split()[-2:] == ["new", "thing"]
    (falling,) = lines(
        command("graph", "trends", "falling", "--recent", "10", "--json", "--graph", "f.graph").out
    )
    assert falling["certain_slope"] < 0 and falling["peak"]["share"] > 0.9


@pytest.mark.parametrize("kind", ["graphml", "neo4j-csv"])
def test_export(graph: Path, command: Command, work: Path, kind: str) -> None:
    words = ("graph", "export", "--to", kind, "--output", "out", "--graph", graph)
    assert command(*words).code == 0
    assert (work / "out").exists()
    assert command(*words).code == 1
    assert command(*words, "--force", "--json").code == 0


def test_papers(graph: Path, command: Command, work: Path) -> None:
    shown = command("graph", "papers", "SVM", "--with", "parsing", "--graph", graph)
    assert shown.code == 1 and "did you mean: dependency parsing" in shown.err
    shown = command("graph", "papers", "SVM", "--with", "dependency parsing", "--graph", graph)
    assert [line[:4] for line in shown.out.splitlines() if line[0].isdigit()] == ["2002", "2001"]
    assert "> The SVM improves dependency parsing." in shown.out
    late = command("graph", "papers", "SVM", "--year", "2002-", "--json", "--graph", graph)
    assert [line["doc_key"] for line in lines(late.out)] == ["c", "b"]
    none = command("graph", "papers", "SVM", "--year", "1990", "--graph", graph)
    assert (none.code, none.out) == (
        1,
        "",
    ) and "no paper names 'support vector machine'" in none.err
    for wrong in ("20", "-", "2003-2001", "2000-2001-2002"):
        assert command("graph", "papers", "SVM", "--year", wrong, "--graph", graph).code == 2
    written = command("graph", "papers", "SVM", "--output", "p.bib", "--graph", graph)
    assert written.err.strip() == "p.bib holds 3 papers"
    assert (work / "p.bib").read_text().count("@misc{") == 3
    assert command("graph", "papers", "SVM", "--output", "p.txt", "--graph", graph).code == 2


def test_results(work: Path, command: Command) -> None:
    texts = [
        "Trees reach 91.5% accuracy on Tiny-Corpus.",
        "Graphs reach 92% accuracy on Tiny-Corpus.",
    ]
    mentions = {"accuracy": "Metric", "Tiny-Corpus": "Material"}
    write(work / "p.jsonl", [abstract(text, text, mentions, title=text) for text in texts])
    command("graph", "build", "p.jsonl", "--graph", "r.graph")
    shown = command("graph", "results", "--metric", "accuracy", "--graph", "r.graph")
    heading, first, sentence, second, _ = shown.out.splitlines()
    assert heading == "Tiny-Corpus | accuracy"
    assert (first.split()[0], second.split()[0]) == ("92%", "91.5%")
    assert sentence.strip() == f"> {texts[1]}"
    (best,) = lines(command("graph", "results", "--limit", "1", "--json", "--graph", "r.graph").out)
    assert (best["material"], best["value"], best["unit"]) == ("Tiny-Corpus", 92, "%")
    none = command("graph", "results", "--differences", "--graph", "r.graph")
    assert (none.code, none.out) == (1, "")


def test_a_table_of_what_papers_about_a_node_report(work: Path, command: Command) -> None:
    texts = {
        "a": "We propose LazyMP. LazyMP has an error of 0.5 mm on PondBank. LazyMP beats OldMP.",
        "b": "OldMP has an error of 2 mm on PondBank.",
    }
    words = {"LazyMP": "Method", "OldMP": "Method", "error": "Metric", "PondBank": "Material"}
    documents = [
        abstract(
            key, text, {word: label for word, label in words.items() if word in text},
            [("LazyMP", "COMPARE", "OldMP")] if key == "a" else [], year=2020, title=f"=About {key}",
        )
        for key, text in texts.items()
    ]  # fmt: skip
    write(work / "p.jsonl", documents)
    assert command("graph", "build", "p.jsonl", "--graph", "t.graph").code == 0
    made = command("graph", "table", "LazyMP", "--with-sentences", "--graph", "t.graph")
    (row,) = csv.DictReader(io.StringIO(made.out))
    found = [row[name] for name in ("method", "data", "metric", "value", "unit", "against")]
    assert found == ["LazyMP", "PondBank", "error", "0.5", "mm", "OldMP"]
    assert row["title"] == "'=About a"
    assert row["value: sentence"] == "LazyMP has an error of 0.5 mm on PondBank."
    for name in ("t.xlsx", "t.html", "t.md"):
        words_ = ("graph", "table", "PondBank", "--output", name, "--graph", "t.graph")
        assert command(*words_).code == 0
    assert command(*words_[:4], "t.db", "--graph", "t.graph").code == 2
    assert command(*words_[:4], "t.graph", "--graph", "t.graph").code == 2


def test_together(graph: Path, command: Command) -> None:
    words = ("graph", "together", "SVM", "--type", "task", "--graph", graph)
    heading, row, quoted = command(*words).out.splitlines()
    assert heading.split()[-4:] == ["with", "support", "vector", "machine"]
    assert row.split() == ["2", "1.33", "0.42-1.88", "2001-2002", "dependency", "parsing", "[Task]"]
    assert quoted.strip() == "> Support-vector machines help dependency parsing. [b]"
    (found,) = lines(command(*words, "--json").out)
    assert (found["node"]["name"], found["documents"]) == ("dependency parsing", 2)
    other = command(
        "graph", "together", "SVM", "--versus", "neural networks", "--least", "1", "--graph", graph
    )
    rows = {
        line.split("  ")[-1]: line.split()[:2] for line in other.out.splitlines() if "[M" in line
    }
    assert rows["treebanks [Material]"] == ["2", "2"] and "versus neural networks" in other.out
    none = command("graph", "together", "SVM", "--type", "Metric", "--graph", graph)
    assert (none.code, none.out) == (1, "")


def test_a_gap_on_the_screen(work: Path, command: Command) -> None:
    texts = ["Forests sort plants.", "Margins rank queries."] * 6 + ["Forests rank queries."]
    mentions = {"Forests": "Method", "Margins": "Method", "plants": "Task", "queries": "Task"}
    write(
        work / "p.jsonl",
        [abstract(str(n), f"{text} {n}", {mention: kind for mention, kind in mentions.items() if mention in text})
         for n, text in enumerate(texts)],
    )  # fmt: skip
    command("graph", "build", "p.jsonl", "--graph", "f.graph")
    shown = command("graph", "gaps", "margins", "--type", "Method", "--graph", "f.graph")
    assert "0      3.2" in shown.out and "Forests" in shown.out
    assert "1 nodes tested" in shown.out
    (gap,) = lines(
        command("graph", "gaps", "margins", "--type", "Method", "--json", "--graph", "f.graph").out
    )
    assert gap["documents"] == 0 and gap["nearest"] == []


def test_gaps_and_subtopics(graph: Path, command: Command) -> None:
    none = command("graph", "gaps", "SVM", "--type", "Metric", "--graph", graph)
    assert (none.code, none.out) == (1, "") and "0 nodes of this type can be expected" in none.err
    assert command("graph", "subtopics", "--least", "2", "--graph", graph).code == 2


def test_subtopics(work: Path, command: Command) -> None:
    pairs(work / "f.graph", *[("kernels", "parsing")] * 5, *[("forests", "ranking")] * 5)
    shown = command("graph", "subtopics", "--graph", "f.graph")
    assert (
        shown.out.splitlines()[0] == "1. forests, ranking  (5 abstracts, 2 nodes, mean year 2001)"
    )
    (first, _) = lines(command("graph", "subtopics", "--json", "--graph", "f.graph").out)
    assert [node["name"] for node in first["nodes"]] == ["forests", "ranking"]


def test_view(graph: Path, command: Command, work: Path) -> None:
    outcome = command("graph", "view", "SVM", "--output", "svm.html", "--graph", graph)
    assert "svm.html shows 3 nodes and 2 edges" in outcome.err
    assert (work / "svm.html").read_text("utf-8").startswith("<!doctype html>")


def test_survey(graph: Path, command: Command, work: Path) -> None:
    words = ("graph", "survey", "SVM", "--output", "s", "--graph", graph)
    outcome = command(*words)
    assert outcome.err.startswith("s holds 2 sections, 3 papers cited")
    assert (
        "“SVMs are compared with neural networks.” [@c]" in (work / "s" / "survey.md").read_text()
    )
    assert command(*words).code == 1
    told = json.loads(command(*words, "--force", "--json").out)
    assert told["papers"] == 3


def test_a_survey_whose_name_has_a_suffix_is_a_file(
    graph: Path, command: Command, work: Path
) -> None:
    words = ("graph", "survey", "SVM", "--graph", graph, "--output")
    assert command(*words, "s.md").code == 0
    assert "[@c]" in (work / "s.md").read_text()
    assert (command(*words, "s.v2").code, (work / "s.v2").exists()) == (2, False)


def test_repairs(graph: Path, command: Command, work: Path) -> None:
    done = command("graph", "merge", "treebanks", "SVM", "--graph", graph)
    assert done.err.startswith("merge treebanks into SVM;")
    assert command("graph", "hide", "Accuracy", "--quiet", "--graph", graph).err == ""
    again = command("graph", "merge", "SVM", "treebanks", "--graph", graph)
    assert again.code == 1 and "would make a circle" in again.err and "--undo N" in again.err
    listed = command("graph", "repairs", "--graph", graph)
    assert listed.out.splitlines() == ["   1  merge treebanks into SVM", "   2  hide Accuracy"]
    assert command("graph", "repairs", "--output", "r.tsv", "--graph", graph).code == 0
    left = command("graph", "repairs", "--undo", "1", "--json", "--graph", graph)
    assert lines(left.out) == [{"kind": "hide", "name": "Accuracy", "other": "", "number": 2}]
    (work / "r.tsv").write_text((work / "r.tsv").read_text() + "x\tno such thing\tSVM\tmerge\n")
    again = command("graph", "repairs", "--import", "r.tsv", "--graph", graph)
    assert "left out: no node is called 'no such thing'" in again.err
    assert len(again.out.splitlines()) == 3
    none = command("graph", "split", "top", "--graph", graph)
    assert none.code == 1 and "no node is called 'top'" in none.err


def test_a_node_may_be_named_like_a_command(work: Path, command: Command) -> None:
    text = "We merge and hide with split."
    mentions = {"merge": "Method", "hide": "Task", "split": "Method"}
    write(work / "p.jsonl", [abstract("a", text, mentions)])
    command("graph", "build", "p.jsonl", "--graph", "f.graph")
    assert command("graph", "merge", "split", "merge", "--graph", "f.graph").code == 0
    assert command("graph", "hide", "hide", "--graph", "f.graph").code == 0
    assert [
        line["name"] for line in lines(command("graph", "top", "--json", "--graph", "f.graph").out)
    ] == ["merge"]


def test_hostile_names_steer_nothing(hostile: Path, command: Command) -> None:
    for words in (
        ("top",), ("neighbours", HOSTILE, "--sentences", "1"), ("together", HOSTILE, "--least", "1"),
        ("neighbours", "\x1b[31mno"),
    ):  # fmt: skip
        for form in ((), ("--json",)):
            outcome = command("graph", *words, *form, "--graph", hostile)
            assert "\x1b" not in outcome.out + outcome.err
            assert "\x07" not in outcome.out + outcome.err
    assert "[12] things" in command("graph", "top", "--graph", hostile).out


def test_the_group_alone_shows_its_help(command: Command) -> None:
    outcome = command("graph")
    assert outcome.code == 2
    assert "neighbours" in outcome.err
