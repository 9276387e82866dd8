"""Abstracts that are removed, and new texts that take the place of earlier ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.annotations import Layer, Span
from sciextract.errors import ExitCode
from sciextract.store import open_project
from sciextract.store.queries import SavedQueue, read_queue, save_queue
from sciextract.store.queries import present as present_numbers
from sciextract.store.text_versions import Alignment
from tests.cli.conftest import Command
from tests.cli.projects import documents, write_lines

OLD = "Shallow nets parse rivers. Deep nets use graphs for lakes. They lack maps of ponds."
NEW = "Yet shallow  nets parse rivers. Deep forests use graphs for lakes."
RIGHTS = " © 2021 A Press. All rights reserved."


def record(text: str, **more: object) -> dict[str, Any]:
    return {"id": "a", "text": text, **more}


def annotated(text: str = OLD) -> dict[str, Any]:
    def mention(name: str, surface: str, label: str) -> dict[str, Any]:
        start = text.index(surface)
        where = {"fragments": [[start, start + len(surface)]]}
        return {"id": name, **where, "label": label, "state": "accepted"}

    entities = [
        mention("n", "nets", "Method"),
        mention("r", "rivers", "Task"),
        mention("d", "Deep nets", "Method"),
        mention("g", "graphs", "Material"),
        mention("p", "maps of ponds", "Material"),
    ]
    links = [
        {"id": "1", "head": "n", "tail": "r", "label": "USED-FOR", "state": "accepted"},
        {"id": "2", "head": "g", "tail": "d", "label": "USED-FOR", "state": "accepted"},
        {"id": "3", "head": "p", "tail": "d", "label": "PART-OF", "state": "accepted"},
    ]
    groups = [{"id": "c", "mentions": ["n", "d"], "state": "accepted"}]
    about = {"schema_version": 1, "doc_key": "a", "text": text}
    return {**about, "entities": entities, "links": links, "groups": groups}


def items(path: Path) -> dict[str, str]:
    """The states of the only abstract's items by what they say."""
    with open_project(path, read=True) as opened:
        (number,) = opened.numbers()
        doc = opened.document_state(number)
        surfaces = {entity.id: entity.surface(doc.text) for entity in doc.entities}
        return {surfaces[entity.id]: str(entity.state) for entity in doc.entities} | {
            f"{surfaces[relation.head]} > {surfaces[relation.tail]}": str(relation.state)
            for relation in doc.relations
        }


def done_layers(path: Path) -> list[str]:
    with open_project(path, read=True) as opened:
        progress = opened.document_state(opened.numbers()[0]).progress
    return [layer for layer in Layer if getattr(progress, layer) == "done"]


def test_decisions_move_to_a_new_text(command: Command, work: Path) -> None:
    path = work / "p.sciextract"
    command("init", path)
    write_lines(work / "old.jsonl", annotated())
    command("import", "old.jsonl", "--done", "all")
    before = items(path)
    with open_project(path) as opened:
        save_queue(opened, SavedQueue("first", (1,)))

    write_lines(work / "new.jsonl", record(NEW + RIGHTS))
    assert "--update" in command("import", "new.jsonl").err
    told = json.loads(command("import", "new.jsonl", "--update", "--json").out)
    assert told["moved"] == {"kept": 5, "undecided": 3, "gone": 2, "reopened": 1}
    assert items(path) == {
        "nets": "accepted", "rivers": "accepted", "graphs": "accepted", "Deep forests": "undecided",
        "nets > rivers": "accepted", "graphs > Deep forests": "undecided",
    }  # fmt: skip
    assert done_layers(path) == [], "'Yet' and 'forests' have been looked at by nobody"
    with open_project(path, read=True) as opened:
        queue = read_queue(opened, "first")
        assert queue and list(present_numbers(opened.connection, queue.numbers)) == opened.numbers()
    assert command("export", "--former", "--to", "jsonl", "--output", "former.jsonl").code == 0
    former = [json.loads(line) for line in Path("former.jsonl").read_text().splitlines()]
    assert (former[0]["text"], len(former[0]["entities"])) == (OLD, 5)
    assert command("import", "old.jsonl", "--update").code == 0
    assert "Deep forests" in items(path), "an earlier text does not come back"
    assert command("doctor").code == ExitCode.DONE
    assert command("undo", "--steps", "2").code == ExitCode.DONE
    assert items(path) == before
    assert done_layers(path) == [*Layer]


def test_a_layer_stays_finished_where_no_word_is_new(command: Command, work: Path) -> None:
    command("init", "p.sciextract")
    write_lines(work / "old.jsonl", annotated())
    command("import", "old.jsonl", "--done", "all")
    write_lines(work / "new.jsonl", record(OLD.replace(" They lack maps of ponds", "").replace(". ", ".  ") + RIGHTS))  # fmt: skip
    told = json.loads(command("import", "new.jsonl", "--update", "--json").out)
    assert (told["updated"], told["moved"]["gone"], "reopened" in told["moved"]) == (1, 2, False)
    assert done_layers(work / "p.sciextract") == [*Layer]


def test_a_text_without_a_common_word_is_refused(command: Command, work: Path) -> None:
    command("init", "p.sciextract")
    write_lines(work / "old.jsonl", annotated())
    command("import", "old.jsonl")
    write_lines(work / "new.jsonl", record("Bees dance."))
    told = command("import", "new.jsonl", "--update", "--json")
    assert (told.code, json.loads(told.out)["refused"]) == (ExitCode.FAILED, 1)
    assert "Deep nets" in items(work / "p.sciextract")


def test_another_paper_of_the_same_key_is_no_new_version(command: Command, work: Path) -> None:
    """Reviews follow a template, so that most words of two are the same; keys of two databases may be, too."""
    text = "Objectives: to assess the effects of {0} compared with placebo. Results: we included {1} trials of {0} in adults."
    papers = [
        {
            "id": "r1",
            "title": f"{drug.title()} for {ill} in adults",
            "abstract": text.format(drug, n),
        }
        for drug, ill, n in (("aspirin", "migraine", "twelve"), ("zinc", "common colds", "nine"))
    ]
    command("init", "p.sciextract")
    for path, paper in zip(("scopus.jsonl", "wos.jsonl"), papers, strict=True):
        done = command("import", write_lines(work / path, paper), "--update")
        assert done.code == ExitCode.DONE and "1 new abstract" in done.err
    titles = {document.document.fields["title"] for document in documents(Path("p.sciextract"))}
    assert titles == {paper["title"] for paper in papers}


def test_removed_abstracts_stay_out(command: Command, work: Path) -> None:
    command("init", "p.sciextract")
    first = {"id": "a", "title": "Nets that parse rivers", "abstract": OLD, "doi": "10.5555/a"}
    write_lines(work / "in.jsonl", first, {"id": "b", "text": "Another text of ponds."})
    command("import", "in.jsonl")
    assert command("remove", "--keys", keys("c")).code == ExitCode.USAGE
    assert command("remove").code == ExitCode.USAGE
    command("remove", "--keys", keys("a"))
    assert command("search", "rivers").out == ""
    again = command("import", "in.jsonl")
    assert again.code == ExitCode.DONE
    assert "1 removed earlier" in again.err
    write_lines(work / "other.jsonl", {**first, "id": "x", "abstract": NEW})
    assert "1 removed earlier" in command("import", "other.jsonl").err
    assert command("export", "--to", "jsonl").out.count("\n") == 1
    assert "1 new abstract" in command("import", "in.jsonl", "--again").err


def keys(*names: str) -> Path:
    path = Path("keys.txt")
    path.write_text("\n".join(names))
    return path


WORDS = st.lists(
    st.sampled_from(["nets", "parse", "deep", "rivers", ",", "."]), min_size=1, max_size=12
)


@given(WORDS, WORDS, st.data())
def test_a_passage_moves_with_its_words(
    old: list[str], new: list[str], data: st.DataObject
) -> None:
    before, after = " ".join(old), "  ".join(new)
    start = data.draw(st.integers(0, len(before) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(before))))
    moved = Alignment(before, after).move(span)
    if moved is not None:
        there, is_whole = moved
        assert 0 <= there.char_start < there.char_end <= len(after)
        assert not is_whole or there.of(after).split() == span.of(before).split()
