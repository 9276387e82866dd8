"""``sciextract init`` and ``import``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import State
from sciextract.documents.schema_file import schema_to_toml
from sciextract.errors import ExitCode
from sciextract.formats.registry import writable
from sciextract.resources import data_root
from sciextract.store import documents as stored
from sciextract.store import open_project
from sciextract.store.label_changes import rename_type
from tests.cli.conftest import Command
from tests.cli.projects import (
    ESCAPE,
    GOLD,
    PLAIN,
    STRANGE,
    documents,
    everything,
    view,
    write_lines,
)

SAMPLES = data_root() / "sample_data"


def test_init(command: Command, work: Path) -> None:
    made = command("init", "p.sciextract", "--schema", "genia", "--json")
    assert made.code == ExitCode.DONE
    assert json.loads(made.out) == {"project": "p.sciextract", "schema": "genia"}
    assert list(everything(work)) == ["p.sciextract"]
    assert "labels genia" in command("status").out


def test_init_tells_the_next_step(command: Command, work: Path) -> None:
    assert "sciextract import FILES --project p.sciextract" in command("init", "p.sciextract").err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["p.sciextract"], "exists already"),
        (["new.sciextract", "--schema", "nosuch"], "no label schema is called 'nosuch'"),
        (["new.sciextract", "--schema", "broken.toml"], "broken.toml"),
        (["nofolder/new.sciextract"], "mkdir -p nofolder"),
        (["taken/new.sciextract"], "no such folder"),
    ],
)
def test_init_refuses(
    command: Command, project: Path, work: Path, words: list[str], told: str
) -> None:
    (work / "broken.toml").write_text("[[entities]]\n", "utf-8")
    (work / "taken").write_text("a file", "utf-8")
    before = everything(work)
    result = command("init", *words)
    assert result.code == ExitCode.FAILED
    assert told in result.err and result.out == ""
    assert everything(work) == before


def test_several_files_and_a_folder(command: Command, project: Path, work: Path) -> None:
    (work / "texts").mkdir()
    (work / "texts" / "one.txt").write_text("One abstract.", "utf-8")
    (work / "texts" / "two.txt").write_text("Two abstracts.", "utf-8")
    more = write_lines(work / "more.jsonl", {"id": "m", "text": "More."}, GOLD)
    result = command("import", more, "texts", "--json")
    assert result.code == ExitCode.DONE
    summary = json.loads(result.out)
    assert (summary["documents"], summary["known"], summary["bad"]) == (3, 1, 0)
    assert [document.document.doc_key for document in documents(project)] == [
        *("gold", "plain", "m", "one", "two")
    ]
    assert command("log", "--json").out.count('"import"') == 3  # one event a path


def test_standard_input(command: Command, project: Path) -> None:
    result = command("import", "-", stdin=json.dumps({"id": "s", "text": "From a pipe."}))
    assert result.code == ExitCode.DONE
    assert "1 new abstract" in result.err
    assert "import:stdin" in command("status").out


def test_a_format_that_is_named(command: Command, project: Path, work: Path) -> None:
    (work / "two.txt").write_text("One.\n\nTwo.\n", "utf-8")
    assert (
        json.loads(command("import", "two.txt", "--from", "paragraphs", "--json").out)["documents"]
        == 2
    )
    wrong = command("import", "two.txt", "--from", "nosuch")
    assert (wrong.code, "formats to read" in wrong.err) == (ExitCode.USAGE, True)


def test_former_names_of_types_are_understood(command: Command, project: Path, work: Path) -> None:
    with open_project(project, "ann") as opened:
        rename_type(opened, "entity", "Generic", "Pronoun")
    said = {
        **GOLD,
        "doc_key": "more",
        "sentences": [["It", "is", "quick", "."]],
        "ner": [[[0, 0, "Generic"]]],
    }
    again = write_lines(work / "again.jsonl", {**said, "relations": [[]], "clusters": []})
    assert command("import", again).code == ExitCode.DONE
    assert [entity.label for entity in documents(project)[-1].annotations.entities] == ["Pronoun"]
    with open_project(project, read=True) as opened:
        (work / "own.toml").write_text(schema_to_toml(opened.schema))
    command("export", "--to", "jsonl", "--output", "gold.jsonl")
    scores = command("evaluate", "gold.jsonl", again, "--schema", "own.toml", "--json")
    assert json.loads(scores.out)["ner"]["all"]["correct"] == 1


def test_unknown_labels_stop(command: Command, project: Path, work: Path) -> None:
    strange = write_lines(work / "strange.jsonl", {"id": "fine", "text": "Fine."}, STRANGE)
    result = command("import", strange)
    assert result.code == ExitCode.FAILED
    for word in ("strange.jsonl", "'Gene' (1)", "OtherScientificTerm", "--add-labels"):
        assert word in result.err
    assert [document.document.doc_key for document in documents(project)] == ["gold", "plain"]
    assert command("search", "fine").code == ExitCode.FAILED
    assert "2 abstracts" in command("status").out


def test_unknown_labels_far_behind_leave_nothing(
    command: Command, project: Path, work: Path
) -> None:
    fine = [{"id": f"f{row}", "text": f"Fine abstract {row}."} for row in range(501)]
    strange = write_lines(work / "strange.jsonl", *fine, STRANGE)
    assert command("import", strange).code == ExitCode.FAILED
    assert len(documents(project)) == 2
    assert command("search", "fine").code == ExitCode.FAILED


def test_labels_can_be_added(command: Command, project: Path, work: Path) -> None:
    strange = write_lines(work / "strange.jsonl", STRANGE)
    result = command("import", strange, "--add-labels")
    assert result.code == ExitCode.DONE
    assert "labels added: Gene" in result.err
    assert [entity.label for entity in documents(project)[-1].annotations.entities] == ["Gene"]
    with open_project(project, read=True) as opened:
        assert "Gene" in opened.schema.entity_labels


BLANKS = {
    "doc_key": "blanks",
    "sentences": [["Brown", "salt", "and", "blue", "oil", "lower", "pain", "."]],
    "ner": [[[0, 1, "Chemical compound"], [3, 4, "Chemical compound"], [6, 6, "Effect"]]],
    "relations": [[[0, 1, 6, 6, "LEADS TO"]]],
}
HOLD_ENTITIES = [
    spec.id
    for spec in writable()
    # Rows of items are not read back, nor are RIS and CSL made for them; loading spaCy takes seconds, and its labels are strings.
    if spec.reader and spec.id not in ("csv", "tsv", "ris", "csl") and spec.extra != "spacy"
]


@pytest.mark.parametrize("format_id", HOLD_ENTITIES)
def test_labels_with_blanks_go_through_every_format(
    command: Command, work: Path, format_id: str
) -> None:
    write_lines(work / "gold.jsonl", BLANKS)
    seen: list[tuple[str, list[Any]]] = []
    told = ""
    for name, file, given in (("a", "gold.jsonl", "jsonl"), ("b", "out", format_id)):
        project = f"{name}.sciextract"
        command("init", project)
        at = ("--project", project)
        assert command("import", file, "--from", given, "--add-labels", *at).code == ExitCode.DONE
        [(entities, relations, _)] = view(work / project).values()
        seen.append((str(entities), relations))
        told = told or command("export", "--to", format_id, "--output", "out", *at).err
    [(before, relations), (after, relations_again)] = seen
    if "label with other characters: 2" in told:
        before = before.replace("Chemical compound", "Chemical_compound")
    assert "Chemical" in after and after == before
    assert relations_again in (relations, [])  # some formats have none


def test_labels_that_no_schema_can_have(command: Command, project: Path, work: Path) -> None:
    odd = write_lines(work / "odd.jsonl", STRANGE | {"ner": [[[0, 0, "Gene\t"]]]})
    result = command("import", odd, "--add-labels")
    assert result.code == ExitCode.FAILED
    assert "odd.jsonl" in result.err and "no schema can have 'Gene\\t'" in result.err
    assert "--add-labels" not in result.err
    assert len(documents(project)) == 2


def test_bad_records_are_left_out(command: Command, project: Path, work: Path) -> None:
    mixed = write_lines(work / "mixed.jsonl", {"id": "a", "text": "Good."}, "{broken", {"id": "b"})
    result = command("import", mixed, "--json")
    assert result.code == ExitCode.PARTIAL
    assert (json.loads(result.out)["documents"], json.loads(result.out)["bad"]) == (1, 2)
    assert result.err.count("Bad record: ") == 2
    assert "mixed.jsonl:2" in result.err and "mixed.jsonl:3" in result.err
    assert documents(project)[-1].document.text == "Good."


def test_an_unusable_file_stops_only_when_it_is_the_only_one(
    command: Command, project: Path, work: Path
) -> None:
    (work / "picture.pdf").write_bytes(b"%PDF-1.7\n\x00\xff")
    before = command("log").out
    alone = command("import", "picture.pdf")
    assert (alone.code, "picture.pdf" in alone.err) == (ExitCode.FAILED, True)
    assert command("log").out == before
    more = write_lines(work / "more.jsonl", {"id": "m", "text": "More."})
    both = command("import", "picture.pdf", more)
    assert both.code == ExitCode.PARTIAL
    assert "1 new abstract" in both.err and "1 bad record" in both.err


def test_only_bad_records_are_a_failure(command: Command, project: Path, work: Path) -> None:
    bad = write_lines(work / "bad.jsonl", {"id": "a"}, {"id": "b"})
    assert command("import", bad).code == ExitCode.FAILED
    assert len(documents(project)) == 2


def test_what_comes_before_a_cut_is_kept(command: Command, project: Path, work: Path) -> None:
    lines = "".join(json.dumps({"id": str(row), "text": f"No {row}."}) + "\n" for row in range(400))
    packed = gzip.compress(lines.encode())
    (work / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    result = command("import", "cut.jsonl.gz", "--json")
    assert result.code == ExitCode.PARTIAL
    assert json.loads(result.out)["documents"] > 50


def test_a_missing_file(command: Command, project: Path, work: Path) -> None:
    more = write_lines(work / "more.jsonl", {"id": "m", "text": "More."})
    before = command("log").out
    result = command("import", more, "nosuch.ris")
    assert (result.code, "nosuch.ris" in result.err) == (ExitCode.MISSING, True)
    assert command("log").out == before
    assert list(everything(work)) == ["more.jsonl", "p.sciextract"]


def test_the_same_file_twice(command: Command, project: Path, work: Path) -> None:
    papers = write_lines(work / "papers.jsonl", GOLD, PLAIN)
    before = view(project)
    result = command("import", papers, "--json")
    summary = json.loads(result.out)
    assert result.code == ExitCode.DONE
    assert (summary["documents"], summary["known"], summary["items"]) == (0, 2, 0)
    assert view(project) == before


def test_one_text_in_two_formats_keeps_both_records(command: Command, work: Path) -> None:
    command("init", "lib.sciextract")
    first = command("import", SAMPLES / "library.ris", "--json")
    second = command("import", SAMPLES / "library.bib", "--json")
    assert json.loads(first.out)["documents"] == 26
    summary = json.loads(second.out)
    assert (summary["documents"], summary["known"]) == (0, 26)
    with open_project("lib.sciextract", read=True) as opened:
        for number in opened.numbers():
            found = [record.source for record in stored.records(opened.connection, number)]
            assert found == ["import:library.ris", "import:library.bib"]


def test_annotations_are_added_to_a_known_text(command: Command, work: Path) -> None:
    command("init", "p.sciextract")
    bare = {key: GOLD[key] for key in ("doc_key", "sentences")}
    command("import", write_lines(work / "bare.jsonl", bare))
    result = command("import", write_lines(work / "gold.jsonl", GOLD), "--json")
    assert (json.loads(result.out)["known"], json.loads(result.out)["items"]) == (1, 6)


def test_what_breaks_a_rule_is_flagged_not_refused(
    command: Command, project: Path, work: Path
) -> None:
    odd = {**GOLD, "doc_key": "odd", "sentences": [["A", "task", "helps", "us", "."]]}
    odd |= {"ner": [[[1, 1, "Task"], [3, 3, "Metric"]]], "clusters": []}
    odd |= {"relations": [[[1, 1, 3, 3, "HYPONYM-OF"]]]}
    result = command("import", write_lines(work / "odd.jsonl", odd), "--json")
    assert result.code == ExitCode.DONE
    summary = json.loads(result.out)
    assert summary["flagged"] == 1 and summary["documents"] == 1
    assert "Warning: 'odd'" in result.err
    assert "odd" in command("search", "--flagged").out


def test_a_backup_is_made_before_a_project_with_content_grows(
    command: Command, project: Path, work: Path
) -> None:
    command("import", write_lines(work / "more.jsonl", {"id": "m", "text": "More."}))
    [found] = command("backup", "--list").out.splitlines()
    assert "before-import" in found


def test_hostile_text_never_reaches_the_terminal_raw(command: Command, work: Path) -> None:
    evil = f"{ESCAPE}[31mred\x07\x9b"
    command("init", "p.sciextract")
    record = {"doc_key": evil, "title": f"T {evil}", "abstract": f"Lattice {evil}\ud800 [12].\nEnd"}
    papers = write_lines(
        work / f"{ESCAPE}[2J.jsonl", record, "{" + evil, {**STRANGE, "doc_key": evil}
    )
    outcomes = [
        command("import", papers),
        command("import", papers, "--add-labels"),
        *(command(*words.split()) for words in SHOWING),
        command("export", "--to", "nosuch" + evil),
        command("export", "--to", "jsonl", "--source", evil),
        command("search", evil),
        command("init", f"{evil}/p.sciextract"),
        command("status", "--project", evil),
        command("adjudicate", "--key", evil),
    ]
    assert [outcome.code for outcome in outcomes[:2]] == [ExitCode.FAILED, ExitCode.PARTIAL]
    for outcome in outcomes:
        shown = outcome.out + outcome.err
        assert not {ESCAPE, "\x07", "\x9b"} & set(shown), shown
        assert "unexpectedly" not in shown
    assert "␛[31mred␇" in command("search", "lattice").out
    [kept, _] = documents(work / "p.sciextract")
    assert kept.document.text == f"T {evil}\nLattice {evil}\ud800 [12].\nEnd"


SHOWING = (
    *("status", "search lattice", "search --in title red", "log", "stats", "backup --list"),
    *("status --json", "search lattice --json", "log --json", "undo", "redo"),
)


def test_predictions_beside_gold_are_a_source_of_their_own(command: Command, work: Path) -> None:
    beside = GOLD | {
        "predicted_ner": [[[0, 1, "Method"], [2, 2, "Task"]], []],
        "predicted_relations": [[[0, 1, 2, 2, "USED-FOR"]], []],
    }
    write_lines(work / "beside.jsonl", beside)
    command("init", "p.sciextract")
    first = command("import", "beside.jsonl")
    assert (
        "beside.jsonl: ner, relations, clusters read, predicted_ner, predicted_relations left"
        in first.err
    )
    gold = view(work / "p.sciextract")
    second = command("import", "beside.jsonl", "--fields", "predicted", "--json")
    assert json.loads(second.out)["notes"] == [
        "beside.jsonl: predicted_ner, predicted_relations read, ner, relations, clusters left (1 record)"
    ]
    assert view(work / "p.sciextract") == gold
    (document,) = documents(work / "p.sciextract", frozenset({State.UNDECIDED}))
    found = document.annotations
    assert {entity.source for entity in found.entities} == {"import:beside.jsonl#predicted"}
    assert [entity.text_of(document.document.text) for entity in found.entities] == ["helps"]
    said = command("export", "--to", "scierc", "--source", "import:beside.jsonl#predicted")
    assert json.loads(said.out)["ner"] == beside["predicted_ner"]


def test_predictions_that_are_not_there_are_not_imported(command: Command, work: Path) -> None:
    write_lines(work / "gold.jsonl", GOLD)
    command("init", "p.sciextract")
    refused = command("import", "gold.jsonl", "--fields", "predicted")
    assert refused.code == ExitCode.USAGE
    assert "fields found: ner, relations, clusters" in refused.err
    assert documents(work / "p.sciextract") == []
