"""``sciextract merge``, ``agree`` and ``adjudicate``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Layer, Span, State
from sciextract.errors import ExitCode
from sciextract.store import Completeness, EntityRef, RelationRef, open_project
from sciextract.store.label_changes import add_type, rename_type
from sciextract.store.queries import SavedQueue, queue_lengths, read_queue, save_queue
from tests.cli.conftest import Command
from tests.cli.projects import (
    ESCAPE,
    PLAIN,
    STRANGE,
    documents,
    everything,
    read_lines,
    view,
    write_lines,
)

THIRD = {"id": "third", "text": "Parsers read lattices. These tools score kernels and a graph."}


def span(text: str, words: str) -> tuple[Span, ...]:
    start = text.index(words)
    return (Span(start, start + len(words)),)


@pytest.fixture
def ben(command: Command, project: Path, work: Path) -> Path:
    """Another annotator's project with the same three abstracts; both have worked on all of them."""
    command("import", write_lines(work / "third.jsonl", THIRD))
    other = Path(shutil.copy(project, work / "ben.sciextract"))
    with open_project(project, "ann") as opened:
        _work(opened, ben=False)
    with open_project(other, "ben") as opened:
        _work(opened, ben=True)
    (work / "third.jsonl").unlink()
    shutil.rmtree(work / "p.sciextract-backups")
    return other


def _work(opened: Any, *, ben: bool) -> None:
    """What both do, and where they differ: types, edges, whole items, relations, clusters."""
    actions = opened.actions
    lattice, task, it = opened.document_state(1).entities
    [relation] = opened.document_state(1).relations
    if ben:
        actions.set_label(1, EntityRef(lattice.id), "Task")
        actions.reject(1, RelationRef(relation.id))
        actions.leave(1, it.id)
    else:
        actions.move_edge(1, task.id, "end", 1)
    actions.mark_done(1)
    for number in (2, 3):
        text = opened.document_state(number).text
        names = (
            ["Kernels", "kernels", "proteins"]
            if number == 2
            else ["Parsers", "lattices", "These tools", "kernels", "graph"]
        )
        label = "Material" if ben else "Method"
        found = [
            actions.add_entity(number, span(text, name), label if name[-1] == "s" else "Task")
            and opened.document_state(number).on_fragments(span(text, name))[0]
            for name in (names[1:] if ben else names[:-1])
        ]
        actions.add_relation(number, found[0].id, found[1].id, "CONJUNCTION" if ben else "COMPARE")
        actions.new_cluster(
            number, [found[0].id, found[1].id] if ben else [found[0].id, found[-1].id]
        )
        actions.mark_done(number)


def differences(command: Command, *words: str) -> list[dict[str, Any]]:
    return read_lines(command("adjudicate", "--project", "p.sciextract", "--json", *words).out)


def f1s(report: Any) -> Iterator[float | None]:
    if isinstance(report, dict):
        for name, inner in report.items():
            if name in ("f1", "kappa", "alpha") and not isinstance(inner, dict):
                yield inner
            yield from f1s(inner)


def test_merge_counts(command: Command, project: Path, ben: Path) -> None:
    command("import", "-", "--project", ben, stdin="Only ben has this one.")
    result = command("merge", ben, "--project", project, "--json")
    assert result.code == ExitCode.DONE
    summary = json.loads(result.out)
    assert (summary["documents"], summary["taken"], summary["compared"]) == (1, 0, 3)
    assert summary["disagreements"] == len(differences(command)) > 5
    assert len(documents(project)) == 4
    assert command("search", "--disagreement", "--project", project).out.count("\n") == 3


def test_merge_changes_no_decision(command: Command, project: Path, ben: Path) -> None:
    before, other = view(project), ben.read_bytes()
    words = command("merge", ben, "--project", project).err
    assert "3 worked on by both" in words and "differences to decide" in words
    assert view(project) == before
    assert ben.read_bytes() == other
    [backup] = command("backup", "--list", "--project", project).out.splitlines()
    assert "before-merge" in backup


def test_merging_again_changes_nothing(command: Command, project: Path, ben: Path) -> None:
    first = command("merge", ben, "--project", project, "--json").out
    before, waiting = view(project), differences(command)
    again = json.loads(command("merge", ben, "--project", project, "--json").out)
    assert (again["documents"], again["items"]) == (0, 0)
    assert again["disagreements"] == json.loads(first)["disagreements"]
    assert view(project) == before and differences(command) == waiting


def test_decisions_are_taken_over_where_nobody_worked_here(
    command: Command, work: Path, project: Path, ben: Path
) -> None:
    command("init", "new.sciextract")
    command("import", "-", "--project", "new.sciextract", stdin=str(THIRD["text"]))
    merged = command("merge", ben, "--project", "new.sciextract", "--json")
    summary = json.loads(merged.out)
    assert (summary["documents"], summary["taken"], summary["disagreements"]) == (2, 1, 0)
    assert view(Path("new.sciextract")) == view(ben)
    assert command("agree", "new.sciextract", ben).code == ExitCode.USAGE  # a copy, not agreement


def test_merge_refuses(command: Command, project: Path, work: Path) -> None:
    itself = command("merge", project, "--project", "p.sciextract")
    assert (itself.code, "is the project itself" in itself.err) == (ExitCode.FAILED, True)
    command("init", "strange.sciextract")
    strange = write_lines(work / "s.jsonl", STRANGE)
    command("import", strange, "--add-labels", "--project", "strange.sciextract")
    before = view(project)
    refused = command("merge", "strange.sciextract", "--project", project)
    assert refused.code == ExitCode.FAILED
    assert "Gene" in refused.err and "--add-labels" in refused.err
    assert view(project) == before
    added = command("merge", "strange.sciextract", "--project", project, "--add-labels")
    assert (added.code, len(view(project))) == (ExitCode.DONE, 3)


def test_agree(command: Command, project: Path, ben: Path) -> None:
    before = everything(project.parent)
    found = json.loads(command("agree", project, ben, "--json").out)
    assert (found["documents"], found["only_first"], found["only_second"]) == (3, 0, 0)
    assert 0 < found["spans"]["exact"]["f1"] < found["spans"]["overlap"]["f1"] < 100
    mirrored = json.loads(command("agree", ben, project, "--json").out)
    assert mirrored["spans"]["exact"]["f1"] == found["spans"]["exact"]["f1"]
    table = command("agree", project, ben).out
    assert table.startswith("3 abstracts compared")
    assert f"{found['spans']['exact']['f1']:.1f}" in table
    assert everything(project.parent) == before


def test_divided_work_comes_together(command: Command, project: Path, work: Path) -> None:
    """Ann finishes the first abstract, Ben the second; merged both ways, and again, nothing differs or doubles."""
    ben = Path(shutil.copy(project, work / "ben.sciextract"))
    with open_project(project, "ann") as opened:
        opened.actions.mark_done(1)
    with open_project(ben, "ben") as opened:
        text = opened.document_state(2).text
        opened.actions.add_entity(2, span(text, "kernels"), "Method")
        opened.actions.mark_done(2)
        opened.actions.note(1, "see the tables")
    assert command("agree", project, ben).code == ExitCode.USAGE
    merged = command("merge", ben, "--project", project, "--author", "ann").err
    assert "2 taken over; 0 worked on by both, 0 differences" in merged
    assert command("adjudicate", "--project", project, "--take", "theirs").code == ExitCode.DONE
    both = view(project)
    assert both[text] == view(ben)[text]
    with open_project(project, read=True) as opened:
        progress = opened.document_state(1).progress
        assert progress is not None and progress.note == "see the tables"
    for mine, other in ((ben, project), (project, ben), (ben, project)):
        assert " 0 differences" in command("merge", other, "--project", mine).err
        assert view(mine) == both
        authors = read_lines(command("stats", "--by", "author", "--project", mine, "--json").out)
        assert [(author["author"], author["added"]) for author in authors] == [("person:ben", 1)]
    assert "person:ben  decided elsewhere" in command("log", "--project", project).out
    for _ in range(2):  # the second merge has nothing to take back but itself
        command("undo", "--project", project, "--author", "ann")
    assert text not in view(project) or view(project)[text] != both[text]


def test_merge_of_abstracts_that_were_removed_or_corrected_here(
    command: Command, project: Path, work: Path
) -> None:
    ben = Path(shutil.copy(project, work / "ben.sciextract"))
    with open_project(ben, "ben") as opened:
        text = opened.document_state(2).text
        opened.actions.add_entity(2, span(text, "kernels"), "Method")
    remove_keys = work / "keys.txt"
    remove_keys.write_text("gold\n")
    assert command("remove", "--keys", remove_keys, "--project", project).code == ExitCode.DONE
    corrected = PLAIN | {"abstract": "We also rank proteins with kernels."}
    command("import", write_lines(work / "new.jsonl", corrected), "--update", "--project", project)
    merged = command("merge", ben, "--project", project).err
    assert "0 new abstracts; 1 taken over" in merged and "1 left out that were removed" in merged
    [found] = documents(project)
    assert "also" in found.document.text
    assert [entity.fragments for entity in found.annotations.entities] == [
        span(found.document.text, "kernels")
    ]


def test_merge_says_that_a_type_or_an_abstract_was_removed_here(
    command: Command, project: Path, work: Path
) -> None:
    ben = Path(shutil.copy(project, work / "ben.sciextract"))
    other_text = {"id": "gold", "text": "Quite another abstract has this key."}
    command("remove", "--keys", write_keys(work, "gold"), "--project", ben)
    command("import", write_lines(work / "other.jsonl", other_text), "--project", ben)
    command("schema", "remove", "Generic", "--project", project)
    command("remove", "--keys", write_keys(work, "gold"), "--project", project)
    refused = command("merge", ben, "--project", project)
    assert refused.code != ExitCode.DONE
    assert "Generic (removed here 2" in refused.err and "schema remove Generic" in refused.err
    command("schema", "remove", "Generic", "--project", ben)
    merged = command("merge", ben, "--project", project).err
    assert "1 new abstract" in merged and "1 of the new ones removed here with another" in merged
    assert "another text" not in command("merge", ben, "--project", project).err


def write_keys(work: Path, *keys: str) -> Path:
    path = work / "keys.txt"
    path.write_text("\n".join(keys))
    return path


def test_merge_of_another_text_of_a_paper(command: Command, project: Path, work: Path) -> None:
    ben = Path(shutil.copy(project, work / "ben.sciextract"))
    text = PLAIN["abstract"] + " Kernels are old. © 2020 The Authors."
    paper = {"title": "Kernels for proteins of all kinds", "doi": "10.1000/kernels", "year": 2020}
    for path, key, body in ((project, "k1", text.partition(" ©")[0]), (ben, "W7", text)):
        record = paper | {"id": key, "abstract": body}
        command("import", write_lines(work / "paper.jsonl", record), "--project", path)
    with open_project(ben, "ben") as opened:
        there = opened.document_state(3).text
        opened.actions.add_entity(3, span(there, "proteins"), "Material")
        opened.actions.mark_done(3)
        save_queue(opened, SavedQueue("tricky", (3,)))
    for joined in ("1 taken over", "0 taken over"):
        merged = command("merge", ben, "--project", project).err
        assert "0 new abstracts" in merged and joined in merged, merged
        assert "1 with another text here, which stays: 1 decision kept" in merged
    with open_project(project, read=True) as opened:
        assert len(opened.numbers()) == 3 and queue_lengths(opened) == {"tricky": 1}
        progress = opened.document_state(3).progress
        assert progress is not None and progress.entities is Completeness.DONE
        assert [entity.state for entity in opened.document_state(3).entities] == [State.ADDED]
    command("undo", "--project", project)
    command("undo", "--project", project)
    with open_project(project, read=True) as opened:
        assert opened.document_state(3).entities == []


def test_divide(command: Command, project: Path, ben: Path, work: Path) -> None:
    texts = [{"id": f"n{number}", "text": f"Nets of size {number} learn."} for number in range(9)]
    command("import", write_lines(work / "more.jsonl", *texts), "--project", project)
    before = project.read_bytes()
    assert (
        command("divide", project, "cleo", "ben").code == ExitCode.FAILED
    )  # ben.sciextract is there
    for names in (["../out", "dan"], ["dan", "Dan"], ["", "dan"]):
        assert command("divide", project, *names).code == ExitCode.USAGE
    assert not (work / "cleo.sciextract").exists() and not (work / "dan.sciextract").exists()
    made = command("divide", project, "cleo", "dan", "--overlap", "20%", "--json")
    assert made.code == ExitCode.DONE, made.err
    copies = json.loads(made.out)["copies"]
    assert [(copy["own"], copy["shared"]) for copy in copies] == [(4, 2), (3, 2)]
    queues = {}
    for copy in copies:
        with open_project(copy["project"], read=True) as opened:
            for name in queue_lengths(opened):
                queue = read_queue(opened, name)
                queues[Path(copy["project"]).stem, name] = {*(queue.numbers if queue else ())}
    assert queues["cleo", "shared"] == queues["dan", "shared"]
    parts = [queues["cleo", "shared"], queues["cleo", "cleo"], queues["dan", "dan"]]
    assert sorted(number for part in parts for number in part) == [*range(4, 13)]
    assert project.read_bytes() == before


@pytest.fixture
def divided(command: Command, work: Path) -> Path:
    """A project with nets in six abstracts, Methods to anna and Tasks to ben, of which both had three and own the others."""
    owned = work / "all.sciextract"
    texts = [{"id": f"n{number}", "text": f"Nets of size {number} learn."} for number in range(6)]
    command("init", owned)
    command("import", write_lines(work / "texts.jsonl", *texts), "--project", owned)
    command("divide", owned, "anna", "ben", "--overlap", "50%")
    for name, label in (("anna", "Method"), ("ben", "Task")):
        with open_project(work / f"{name}.sciextract", name) as opened:
            for queue in (read_queue(opened, name), read_queue(opened, "shared")):
                for number in queue.numbers if queue else ():
                    opened.actions.add_entity(number, span("Nets", "Nets"), label)
                    opened.actions.mark_done(number, [Layer.ENTITIES])
        command("merge", f"{name}.sciextract", "--project", owned)
    return owned


def test_a_side_that_was_not_taken_is_not_asked_about_again(
    command: Command, divided: Path
) -> None:
    command("adjudicate", "--take", "theirs", "--project", divided)
    before = view(divided)
    assert command("adjudicate", "--project", divided).out == ""
    command("merge", "anna.sciextract", "--project", divided)
    command("adjudicate", "--take", "theirs", "--project", divided)
    assert view(divided) == before
    assert command("search", "--disagreement", "--project", divided).out == ""


def test_a_release_states_the_agreement_of_two_who_were_merged(
    command: Command, divided: Path
) -> None:
    command("adjudicate", "--take", "theirs", "--project", divided)
    command("merge", "anna.sciextract", "--project", divided)
    words = ("--licence", "CC0-1.0", "--citation", "A", "--json", "--project", divided)
    assert command("export", "--release", "corpus", *words).code == ExitCode.DONE
    stated = json.loads(Path("corpus/agreement.json").read_text("utf-8"))
    assert (stated["documents"], stated["spans"]["exact"]["f1"]) == (3, 0.0)


def test_a_type_that_comes_after_a_merge_makes_nobody_agree_with_themselves(
    command: Command, divided: Path
) -> None:
    with open_project(divided, "anna") as opened:
        add_type(opened, "entity", "Size")
        for number in opened.numbers():
            opened.actions.add_entity(number, span("Nets of size", "size"), "Size")
            opened.actions.mark_done(number, [Layer.ENTITIES])
    found = json.loads(command("agree", divided, "ben.sciextract", "--json").out)
    assert (found["documents"], found["spans"]["exact"]["f1"]) == (3, 0.0)


def test_a_queue_follows_a_corrected_text(command: Command, divided: Path, work: Path) -> None:
    queues = command("queue", "list", "--project", divided).out
    shown = command("queue", "show", "shared", "--project", divided).out
    [key, *_] = [word for word in shown.split() if word.startswith("n")]
    corrected = {"id": key, "text": f"Large nets of size {key[1:]} learn."}
    command("import", write_lines(work / "new.jsonl", corrected), "--update", "--project", divided)
    again = command("queue", "show", "shared", "--project", divided).out
    assert "Large" in again and len(again.splitlines()) == len(shown.splitlines()) == 3
    command("merge", "ben.sciextract", "--project", divided)
    assert command("queue", "list", "--project", divided).out == queues


def test_agree_after_a_rename(command: Command, project: Path, ben: Path) -> None:
    before = json.loads(command("agree", project, ben, "--json").out)
    with open_project(ben, "ben") as opened:
        rename_type(opened, "entity", "Material", "Substance")
    after = json.loads(command("agree", project, ben, "--json").out)
    assert after == before
    merged = command("merge", ben, "--project", project)
    assert merged.code == ExitCode.DONE
    with open_project(project, read=True) as opened:
        assert "Substance" not in opened.schema.entity_labels


def test_agree_with_oneself(command: Command, project: Path, ben: Path) -> None:
    found = json.loads(command("agree", project, project, "--json").out)
    assert set(f1s(found)) <= {100.0, 1.0, None}


def test_agree_of_three(command: Command, project: Path, ben: Path, work: Path) -> None:
    cleo = Path(shutil.copy(ben, work / "cleo.sciextract"))
    with open_project(cleo, "cleo") as opened:
        opened.actions.set_completeness(1, Completeness.IN_PROGRESS)
    found = json.loads(command("agree", project, ben, cleo, "--json").out)
    assert [pair["documents"] for pair in found["pairs"]] == [3, 2, 2]
    assert f1s(found["pairs"][2]) and found["alpha"]["all"]["tokens"] > 0
    pair = json.loads(command("agree", project, ben, "--json").out)
    assert pair["alpha"]["all"]["alpha"] < found["alpha"]["all"]["alpha"] < 1
    lines = command("agree", project, ben, cleo).out.splitlines()
    assert sum(" and " in line for line in lines) == 3 and "tokens all alpha" in lines[3]


def test_agree_needs_common_work(command: Command, project: Path) -> None:
    command("init", "empty.sciextract")
    result = command("agree", project, "empty.sciextract")
    assert (result.code, "no text in common" in result.err) == (ExitCode.USAGE, True)
    assert command("agree", project, project).code == ExitCode.USAGE


def test_the_list_of_differences(command: Command, project: Path, ben: Path) -> None:
    assert command("adjudicate", "--project", project).err == "0 differences to decide\n"
    command("merge", ben, "--project", project)
    before = everything(project.parent)
    found = differences(command)
    text = command("adjudicate", "--project", project)
    assert text.code == ExitCode.DONE
    assert (
        len(text.out.splitlines()) == len(found) == len({difference["key"] for difference in found})
    )
    assert f"{len(found)} differences to decide" in text.err
    assert {difference["layer"] for difference in found} == {"entity", "relation", "link"}
    assert "mine: Lattice parsing [Method]  |  theirs: Lattice parsing [Task]" in text.out
    assert "theirs: nothing" in text.out and "mine: nothing" in text.out
    assert everything(project.parent) == before


@pytest.mark.parametrize("side", ["mine", "theirs"])
def test_one_decision_and_its_undo(command: Command, project: Path, ben: Path, side: str) -> None:
    command("merge", ben, "--project", project)
    before, waiting = view(project), differences(command)
    [one] = [
        difference
        for difference in waiting
        if difference["kind"] == "other_label" and difference["layer"] == "entity"
    ][:1]
    words = ("adjudicate", "--project", project, "--key", one["key"])
    summary = json.loads(command(*words, "--take", side, "--json").out)
    assert (summary["differences"], summary["decided"], summary["refused"]) == (1, 1, {})
    assert one["key"] not in {difference["key"] for difference in differences(command)}
    assert (view(project) == before) == (side == "mine")
    assert command("undo", "--project", project).code == ExitCode.DONE
    assert view(project) == before and differences(command) == waiting
    assert command("redo", "--project", project).code == ExitCode.DONE
    assert one["key"] not in {difference["key"] for difference in differences(command)}


def test_all_of_theirs(command: Command, project: Path, ben: Path) -> None:
    command("merge", ben, "--project", project)
    done = command("adjudicate", "--project", project, "--take", "theirs", "--json")
    assert done.code == ExitCode.DONE, done.out
    assert json.loads(done.out)["refused"] == {}
    assert differences(command) == []
    found = json.loads(command("agree", project, ben, "--json").out)
    assert set(f1s(found)) <= {100.0, 1.0, None}
    assert command("search", "--disagreement", "--project", project).code == ExitCode.FAILED


def test_all_of_mine(command: Command, project: Path, ben: Path) -> None:
    command("merge", ben, "--project", project)
    before = view(project)
    assert command("adjudicate", "--project", project, "--take", "mine").code == ExitCode.DONE
    assert view(project) == before and differences(command) == []
    command("merge", ben, "--project", project)
    assert differences(command) == []


def test_the_majority_of_three(command: Command, project: Path, ben: Path, work: Path) -> None:
    cleo = Path(shutil.copy(ben, work / "cleo.sciextract"))
    with open_project(cleo, "cleo") as opened:
        [kernels] = opened.document_state(2).on_fragments(
            span(opened.document_state(2).text, "kernels")
        )
        opened.actions.set_label(2, EntityRef(kernels.id), "Metric")
        opened.actions.set_completeness(3, Completeness.IN_PROGRESS)
    command("merge", ben, "--project", project)
    assert {difference["majority"] for difference in differences(command)} == {None}
    command("merge", cleo, "--project", project)
    before, waiting = view(project), differences(command)
    # Of abstract 3 two have finished what they differ in; of 2, each has another type for the kernels.
    assert {difference["number"] for difference in waiting if difference["majority"]} == {1, 2}
    open_ = {difference["key"] for difference in waiting if not difference["majority"]}
    result = command("adjudicate", "--project", project, "--take", "majority", "--json")
    summary = json.loads(result.out)
    assert summary["decided"] and summary["refused"] == {}
    left = differences(command)
    assert len(left) == summary["left"] and open_ >= {difference["key"] for difference in left}
    first, second, third = view(project)
    assert (view(project)[first], view(project)[third]) == (view(ben)[first], before[third])
    assert view(project)[second] not in (view(ben)[second], before[second])
    [key] = [
        difference["key"]
        for difference in left
        if difference["number"] == 2 and difference["source"] == "import:ben.sciextract"
    ]
    alone = command(
        "adjudicate", "--project", project, "--key", key, "--take", "majority", "--json"
    )
    assert alone.code == ExitCode.FAILED and key in json.loads(alone.out)["refused"]
    with open_project(project) as opened:
        events = sum(event.kind == "adjudicate" for event in opened.log())
    for _ in range(events):
        command("undo", "--project", project)
    assert (view(project), differences(command)) == (before, waiting)


def test_lists_follow_undo(command: Command, project: Path, ben: Path) -> None:
    command("merge", ben, "--project", project)
    before = differences(command)
    command("adjudicate", "--project", project, "--take", "mine")
    assert command("search", "--disagreement", "--project", project).code == ExitCode.FAILED
    command("undo", "--project", project)  # the last abstract's decisions
    assert command("search", "--disagreement", "--project", project).code == ExitCode.DONE
    left = differences(command)
    assert left == [
        difference for difference in before if difference["number"] == before[-1]["number"]
    ]


def test_a_merge_that_was_undone_leaves_nothing_to_decide(
    command: Command, project: Path, ben: Path
) -> None:
    command("merge", ben, "--project", project)
    waiting = differences(command)
    command("undo", "--project", project)
    assert differences(command) == []
    assert command("search", "--disagreement", "--project", project).code == ExitCode.FAILED
    command("redo", "--project", project)
    assert differences(command) == waiting
    command("undo", "--project", project)
    command("merge", ben, "--project", project)
    assert differences(command) == waiting


def test_refused_decisions_say_why(command: Command, project: Path, ben: Path) -> None:
    command("merge", ben, "--project", project)
    relation = next(
        difference
        for difference in differences(command)
        if difference["layer"] == "relation" and difference["theirs"] and difference["mine"] is None
    )
    words = ("adjudicate", "--project", project, "--key", relation["key"], "--take", "theirs")
    before = view(project)
    result = command(*words)
    assert result.code == ExitCode.FAILED
    assert relation["key"] in result.err and "entities first" in result.err
    assert view(project) == before


def test_unknown_keys_and_sources(command: Command, project: Path, ben: Path) -> None:
    command("merge", ben, "--project", project)
    log = command("log", "--project", project).out
    for words in (
        ["--key", f"nosuch{ESCAPE}"],
        ["--key", "nosuch", "--take", "mine"],
        ["--source", "model:nosuch"],
    ):
        result = command("adjudicate", "--project", project, *words)
        assert result.code == ExitCode.USAGE
        assert ESCAPE not in result.err
    assert command("log", "--project", project).out == log


def test_a_model_can_be_the_other_side(command: Command, project: Path, fake: object) -> None:
    command("annotate", "--project", project)
    assert differences(command) == []
    found = differences(command, "--source", "model:fake")
    assert {difference["source"].partition("@")[0] for difference in found} == {"model:fake"}
