from __future__ import annotations

import gzip
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ExitCode, FormatError, InputMissingError, UsageError
from sciextract.graph.building import BuildListener, Facts, build_graph, repair_graph
from sciextract.graph.database import VERSION, GraphError, GraphMissingError, open_graph
from sciextract.graph.extraction import CountSettings, Extraction, extract
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.reading import Reading
from sciextract.graph.repairs import Repair, add_repair, repairs_of
from sciextract.store import open_project
from sciextract.workflows.import_files import import_files
from tests.graph_samples import abstract, build, field, write

ROOT = Path(__file__).resolve().parents[3]


def content(path: Path) -> dict[str, Any]:
    """Nodes and edges by name, without numbers of rows."""
    with open_graph(path) as graph:
        nodes = graph.execute(
            """SELECT m.key, n.documents, n.mentions, n.degree, n.first_year, n.last_year
            FROM node n JOIN name m ON m.id = n.id ORDER BY m.key"""
        ).fetchall()
        edges = graph.execute(
            """SELECT h.key, l.name, t.key, e.documents, e.mentions, round(e.score_mean, 6), e.score_max,
                (SELECT count(*) FROM support s WHERE s.edge = e.id)
            FROM edge e JOIN name h ON h.id = e.head JOIN name t ON t.id = e.tail
            JOIN label l ON l.id = e.label ORDER BY 1, 2, 3"""
        ).fetchall()
        aliases = graph.execute(
            """SELECT m.key, f.surface, a.rules, a.documents, a.mentions FROM alias a
            JOIN name m ON m.id = a.node JOIN form f ON f.id = a.form ORDER BY 1, 2, 3"""
        ).fetchall()
    return {"nodes": nodes, "edges": edges, "aliases": aliases}


def test_merges_over_abstracts(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    report = build(path, *field())
    assert (report.changes.added, report.totals.documents) == (4, 4)
    nodes = {row[0]: row[1:] for row in content(path)["nodes"]}
    assert nodes["supportvectormachine"] == (3, 5, 2, 2001, 2003)
    assert nodes["neuralnetwork"][0] == 2
    assert nodes["treebank"][0] == 3
    assert "network" not in nodes


def test_a_relation_keeps_counts_and_scores(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    build(path, *field())
    edges = {row[:3]: row[3:] for row in content(path)["edges"]}
    found = edges["supportvectormachine", "USED-FOR", "dependencyparsing"]
    assert found == (2, 2, 0.7, 0.8, 2)


def test_in_one_go_or_one_by_one_in_any_order(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.graph", tmp_path / "parts.graph"
    build(whole, *field())
    shuffled = field()
    random.Random(3).shuffle(shuffled)
    for document in shuffled:
        build(parts, document)
    assert content(parts) == content(whole)


def test_what_is_known_is_not_counted_twice(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    build(path, *field())
    before = content(path)
    report = build(path, *field())
    assert (report.changes.added, report.changes.replaced, report.changes.known) == (0, 0, 4)
    assert not report.is_new
    assert content(path) == before


def test_the_same_text_is_one_abstract(tmp_path: Path) -> None:
    twin = abstract("other name", field()[3].document.text, {"neural network": "Method"})
    report = build(tmp_path / "g.graph", field()[3], twin)
    assert (report.changes.added, report.changes.known) == (1, 1)


def test_one_name_in_one_build_is_two_abstracts(tmp_path: Path) -> None:
    pair = [abstract("x", text, {"parser": "Method"}) for text in ("A parser.", "The parser.")]
    report = build(tmp_path / "g.graph", *pair)
    assert report.totals.documents == 2


def test_a_changed_text_takes_the_place_of_the_former(tmp_path: Path) -> None:
    path, fresh = tmp_path / "g.graph", tmp_path / "fresh.graph"
    changed = abstract("b", "Kernels rank proteins.", {"Kernels": "Method", "proteins": "Material"})
    build(path, *field())
    report = build(path, changed)
    assert (report.changes.replaced, report.totals.documents) == (1, 4)
    build(
        fresh, *[annotated for annotated in field() if annotated.document.doc_key != "b"], changed
    )
    assert content(path) == content(fresh)


def test_another_model_takes_the_place_of_the_former(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    build(path, abstract("x", "A parser here.", {"parser": "Method"}))
    report = build(path, abstract("x", "A parser here.", {"parser": "Task"}, model="better"))
    assert report.changes.replaced == 1
    with open_graph(path) as graph:
        rows = graph.execute("SELECT l.name FROM node n JOIN label l ON l.id = n.label").fetchall()
    assert rows == [("Task",)]


def test_acronyms_with_two_expansions_are_not_merged(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    markov = abstract("a", "A hidden Markov model (HMM).", {"hidden Markov model": "Method"})
    metal = abstract("b", "Heavy metal music (HMM).", {"Heavy metal music": "Material"})
    alone = abstract("c", "An HMM here.", {"HMM": "Method"})
    build(path, markov, alone)
    assert [row[0] for row in content(path)["nodes"]] == ["hiddenmarkovmodel"]
    report = build(path, metal)
    assert [row[0] for row in content(path)["nodes"]] == [
        "HMM",
        "heavymetalmusic",
        "hiddenmarkovmodel",
    ]
    assert report.totals.ambiguous == 1
    others = [f"Hidden Markov models (HMMs) rank {word}." for word in ("hops", "figs", "oats")]
    build(path, *[abstract(text, text, {"Hidden Markov models": "Method"}) for text in others])
    assert "HMM" not in [row[0] for row in content(path)["nodes"]]


def test_an_acronym_spelled_as_a_determiner_is_one_node_with_its_expansion(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    only = abstract("a", "Acute lymphoblastic leukemia (ALL) relapses.", {"ALL": "Disease"})
    both = abstract(
        "b", "Acute lymphoblastic leukemia is rare in all.",
        {"Acute lymphoblastic leukemia": "Disease", "all": "Disease"},
    )  # fmt: skip
    build(path, only)
    build(path, only, both)
    (node,) = content(path)["nodes"]
    assert node[:3] == ("acutelymphoblasticleukemia", 2, 2)


def test_a_record_that_raises_an_error_is_named_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_for_b(annotated: AnnotatedDocument, settings: CountSettings) -> Extraction:
        if annotated.document.doc_key == "b":
            raise IndexError("list index out of range")
        return extract(annotated, settings)

    monkeypatch.setattr("sciextract.graph.reading.extract", raise_for_b)
    documents = [field()[0], abstract("b", "A parser.", {"parser": "Task"})]
    file = write(tmp_path / "p.jsonl", documents)
    bad: list[FormatError] = []
    listener = BuildListener(bad_record=bad.append)
    report = build_graph(
        tmp_path / "g.graph", Reading([str(file)], CountSettings()), listener=listener
    )
    assert (report.changes.added, report.exit_code) == (1, ExitCode.PARTIAL)
    assert [record.place for record in bad] == [f"{file}:2"]


def test_an_acronym_is_not_the_word_of_these_letters(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    expanded = abstract("a", "Computer-aided radiology (CAR).", {"CAR": "Method"})
    acronym = abstract("b", "We use CAR daily.", {"CAR": "Method"})
    word = abstract("c", "We use a car daily.", {"car": "Material"})
    build(path, expanded, acronym, word)
    counts = {row[0]: row[1] for row in content(path)["nodes"]}
    assert counts == {"car": 1, "computeraidedradiology": 2}


def test_an_acronym_that_nobody_expands_is_the_word(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    build(
        path,
        abstract("a", "We use BERT.", {"BERT": "Method"}),
        abstract("b", "We use Bert now.", {"Bert": "Method"}),
    )
    assert [row[:2] for row in content(path)["nodes"]] == [("bert", 2)]


def test_spaces_are_a_rule_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    texts = ("One dataset.", "Two dataset.", "A data set.")
    build(
        path, *[abstract(t, t, {t[4:-1] if t[0] != "A" else "data set": "Material"}) for t in texts]
    )
    rules = {surface: rule for _, surface, rule, *_ in content(path)["aliases"]}
    assert rules == {"dataset": 0, "data set": 32}


def test_packed_files_folders_and_bad_records(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    write(folder / "1.jsonl", field()[:2])
    packed = write(tmp_path / "2.jsonl", field()[2:]).read_bytes() + b'{"text": 5}\n\xff\n'
    (folder / "2.jsonl.gz").write_bytes(gzip.compress(packed))
    (folder / "manifest.json").write_text("{}")
    report = build_graph(tmp_path / "g.graph", Reading([str(folder)], CountSettings()))
    assert (report.changes.added, report.changes.bad) == (4, 2)
    assert report.exit_code == ExitCode.PARTIAL


def test_other_processes_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciextract.graph.reading._MANY_BYTES", 0)
    monkeypatch.setattr("sciextract.graph.reading._RECORDS_A_TASK", 1)
    folder = tmp_path / "parts"
    folder.mkdir()
    path = write(folder / "part-0.jsonl", field()[:2])
    with path.open("ab") as stream:
        stream.write(b'{"no": 1}\n\xff\n')
    write(folder / "part-1.jsonl", field()[2:])
    (folder / "part-2.jsonl").write_text('{"text": "Of another shape.", "id": "x"}\n')
    alone, together = tmp_path / "alone.graph", tmp_path / "together.graph"
    one = build_graph(alone, Reading([str(folder)], CountSettings()))
    two = build_graph(together, Reading([str(folder)], CountSettings(), workers=2))
    assert content(alone) == content(together)
    assert (two.changes.added, two.totals.documents) == (5, 5)
    assert one.changes.bad == two.changes.bad == 2


def test_a_project_is_read_with_its_decisions(tmp_path: Path) -> None:
    from sciextract.documents.schema_file import load_schema
    from sciextract.store import create_project

    path = tmp_path / "p.sciextract"
    create_project(path, load_schema("scierc"), "ann").close()
    with open_project(path, "ann") as project:
        import_files(project, [str(write(tmp_path / "in.jsonl", field()))])
    report = build_graph(tmp_path / "g.graph", Reading([str(path)], CountSettings()))
    assert report.totals.documents == 4
    assert report.totals.without_year == 0


def test_a_killed_build_goes_on(tmp_path: Path) -> None:
    count = 1500
    texts = [f"Concept {number} helps task {number % 50}." for number in range(count)]
    documents = [
        abstract(
            str(n), text, {f"Concept {n}": "Method", f"task {n % 50}": "Task"}, year=2000 + n % 20
        )
        for n, text in enumerate(texts)
    ]
    path, whole, killed = (
        write(tmp_path / "in.jsonl", documents),
        tmp_path / "w.graph",
        tmp_path / "k.graph",
    )
    words = [sys.executable, "-m", "sciextract", "graph", "build", str(path), "--workers", "0"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "app")))}
    process = subprocess.Popen([*words, "--graph", str(killed)], env=environment)
    while process.poll() is None and _kept(killed) < 500:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with pytest.raises(GraphError, match="was not finished"), open_graph(killed):
        pass
    report = build_graph(killed, Reading([str(path)], CountSettings()))
    assert report.changes.known >= 500
    assert report.changes.known + report.changes.added == count
    build_graph(whole, Reading([str(path)], CountSettings()))
    assert content(killed) == content(whole)


def _kept(path: Path) -> int:
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        try:
            return int(connection.execute("SELECT count(*) FROM document").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error:
        return 0


def test_a_full_disk_keeps_what_was_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, usual = tmp_path / "g.graph", Facts.__init__
    build(path, *field()[:2])

    def limited(self: Facts, connection: sqlite3.Connection, number: int) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")
        usual(self, connection, number)

    large = [
        abstract(f"l{n}", f"Rare thing {n * 7919} " + "x" * 9000, {f"thing {n * 7919}": "Task"})
        for n in range(400)
    ]
    with monkeypatch.context() as full, pytest.raises(GraphError, match="disk is full") as caught:
        full.setattr(Facts, "__init__", limited)
        build(path, *large)
    assert "repeat the command to resume" in caught.value.hint
    report = build(path, *large)
    assert report.totals.documents == 402


def test_other_generic_labels_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    build(path, *field())
    with pytest.raises(UsageError, match="built with Generic"):
        build_graph(path, Reading([], CountSettings(frozenset({"Method"}))))


def test_unlikely_relations_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    report = build(path, *field(), counted=CountSettings(least_score=0.7))
    assert report.totals.unlikely == 5
    assert {row[:3] for row in content(path)["edges"]} == {
        ("supportvectormachine", "USED-FOR", "dependencyparsing")
    }
    with pytest.raises(UsageError, match="the graph was built with 0"):
        build(path, *field())


def test_what_bio_relates_is_an_edge_where_it_is_right_often_enough(tmp_path: Path) -> None:
    """Of types, scores and pairs that were measured; what a person decided, and other models', is not judged."""
    text = "Aspirin and codeine act on cyclooxygenase, kinase and asthma."
    mentions = {"Aspirin": "Chemical", "codeine": "Chemical", "cyclooxygenase": "Gene", "kinase": "protein", "asthma": "Disease"}  # fmt: skip
    likely, unlikely = (
        ("Aspirin", "INHIBITS", "cyclooxygenase", 0.9),
        ("codeine", "INHIBITS", "cyclooxygenase", 0.3),
    )
    former, never = ("Aspirin", "CPR:4", "kinase", 0.9), ("codeine", "ACTIVATES", "kinase", 0.9)
    unlearned = ("Aspirin", "INHIBITS", "asthma", 0.9)
    found = abstract("a", text, mentions, [likely, unlikely, former, never, unlearned])
    kept = {("aspirin", "INHIBITS", "cyclooxygenase"), ("aspirin", "INHIBITS", "kinase")}
    all_edges = kept | {
        ("codeine", "INHIBITS", "cyclooxygenase"), ("codeine", "ACTIVATES", "kinase"), ("aspirin", "INHIBITS", "asthma"),
    }  # fmt: skip

    def edges(source: str, state: State, counted: CountSettings) -> set[tuple[str, str, str]]:
        own = found.annotations
        relations = tuple([replace(r, source=source, state=state) for r in own.relations])
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.graph"
        build(path, replace(found, annotations=replace(own, relations=relations)), counted=counted)
        return {row[:3] for row in content(path)["edges"]}

    bio, usual = "model:bio@d3d77678/1", CountSettings()
    assert edges(bio, State.UNDECIDED, usual) == kept
    assert edges(bio, State.UNDECIDED, CountSettings(least_score=0)) == all_edges
    assert edges(bio, State.ACCEPTED, usual) == all_edges
    assert edges("model:mine@d3d77678", State.UNDECIDED, usual) == all_edges


def test_places_that_cannot_be(tmp_path: Path) -> None:
    reading = Reading([], CountSettings())
    with pytest.raises(GraphError, match="is a folder"):
        build_graph(tmp_path, reading)
    with pytest.raises(GraphMissingError, match="no such folder"):
        build_graph(tmp_path / "no" / "g.graph", reading)
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(GraphError, match="of another program"):
        build_graph(other, reading)
    text = tmp_path / "text.graph"
    text.write_text("no database " * 50)
    with pytest.raises(GraphError, match="is not a graph"):
        build_graph(text, reading)
    with pytest.raises(InputMissingError):
        build_graph(tmp_path / "g.graph", Reading([str(tmp_path / "absent")], CountSettings()))


def _set_version(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version={version}")


def test_a_graph_of_a_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    build(path, *field())
    _set_version(path, 99)
    before = path.read_bytes()
    for opening in (open_graph(path), open_graph(path, write=True), open_graph(path, earlier=True)):
        with pytest.raises(GraphError, match="newer"), opening:
            pass
    assert path.read_bytes() == before


def test_repairs_of_an_earlier_version_are_read_and_go_into_the_next_build(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    build(path, *field())
    wanted = Repair("merge", "neural networks", "SVM")
    repair_graph(path, lambda connection: add_repair(connection, wanted))
    _set_version(path, VERSION - 1)
    with pytest.raises(GraphError, match=f"version {VERSION - 1} found"), open_graph(path):
        pass
    with open_graph(path, earlier=True) as connection:
        assert [repair.name for repair in repairs_of(connection)] == ["neural networks"]
    report = build(path, *field()[:3])
    assert report.former is not None
    assert report.former[2:] == (4, 1)
    assert report.exit_code is ExitCode.PARTIAL  # one abstract was not given again
    with open_graph(path) as connection:
        assert find_node(connection, "neural network") == find_node(connection, "SVM")
    with open_graph(report.former.kept, earlier=True) as connection:
        assert connection.execute("SELECT count(*) FROM document").fetchone() == (4,)
    assert build(path, *field()).former is None


def test_the_only_file_is_unusable(tmp_path: Path) -> None:
    empty = tmp_path / "in.jsonl"
    empty.write_text("")
    with pytest.raises(FormatError, match="empty"):
        build_graph(tmp_path / "g.graph", Reading([str(empty)], CountSettings()))


def test_the_report_is_json(tmp_path: Path) -> None:
    report = build(tmp_path / "g.graph", *field())
    assert json.loads(json.dumps(report.to_json()))["graph"]["documents"] == 4


def test_a_paper_from_two_databases_counts_once(tmp_path: Path) -> None:
    short = abstract("a", "We use kernels.", {"kernels": "Method"}, doi="10.5555/ab", year=2019)
    text = "We use kernels for parsing, and parsing of old ship logs profits from it."
    long = abstract("b", text, {"kernels": "Method", "parsing": "Task"}, doi="10.5555/AB")
    other = abstract("c", "Kernels do not parse weather.", {"Kernels": "Method"}, year=2020)
    for number, order in enumerate(((short, long, other), (long, other, short))):
        path = tmp_path / f"{number}.graph"
        report = build(path, *order)
        assert (report.changes.added, report.changes.again, report.totals.documents) == (2, 1, 2)
        assert (report.totals.nodes, report.totals.without_year) == (2, 0)
        again = build(path, *order)
        assert (again.changes.known, again.changes.again) == (2, 1) and not again.is_new
    report = build(tmp_path / "all.graph", short, long, other, keep_duplicates=True)
    assert report.totals.documents == 3
