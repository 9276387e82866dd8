"""Prodigy tasks, in and out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Cluster, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import OutputError
from sciextract.formats import open_writer, read
from sciextract.formats.registry import recognise
from tests.unit.formats.tool_files import (
    TEXT,
    documents_of,
    entity,
    groups,
    items_of,
    made,
    mentions,
    problem_of,
    triples,
    written,
)

WORDS = [(0, 2), (3, 8), (9, 10), (11, 17), (17, 18), (19, 23), (24, 28), (28, 29)]


def span(first: int, last: int, label: str | None = None, **more: Any) -> dict[str, Any]:
    where = {"start": WORDS[first][0], "end": WORDS[last][1]}
    return where | {"token_start": first, "token_end": last, "label": label} | more


def task(**changes: Any) -> dict[str, Any]:
    tokens = [
        {"text": TEXT[start:end], "start": start, "end": end, "id": number, "ws": True}
        for number, (start, end) in enumerate(WORDS)
    ]
    record: dict[str, Any] = {
        "text": TEXT,
        "tokens": tokens,
        "spans": [span(1, 3, "Task"), span(3, 3, "Material", text="graphs", score=0.5), span(5, 5)],
        "relations": [
            {
                "head": 3,
                "child": 3,
                "label": "Part-of",
                "head_span": span(3, 3, "Material"),
                "child_span": span(1, 3, "Task"),
            },
            {
                "head": 5,
                "child": 3,
                "head_span": span(5, 5),
                "child_span": span(3, 3),
                "label": "COREF",
            },
        ],
        "answer": "accept",
        "meta": {"source": "made", "doc_key": "gk-1", "year": 2020},
        "_input_hash": 1,
    }
    return {key: value for key, value in (record | changes).items() if value is not ...}


def test_spans_relations_and_clusters(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "prodigy", task())
    assert mentions(found) == [("Task", "parse 😀 graphs"), ("Material", "graphs"), ("", "They")]
    assert triples(found) == [("graphs", "Part-of", "parse 😀 graphs")]
    assert groups(found) == [["graphs", "They"]]
    items = found.annotations
    assert [entity.score for entity in items.entities] == [None, 0.5, None]
    assert {entity.state for entity in items.entities} == {State.IMPORTED}
    assert {entity.source for entity in items.entities} == {"import:made.jsonl"}
    assert [len(sentence) for sentence in found.document.tokens.sentences] == [5, 3]
    assert found.document.doc_key == "gk-1" and found.document.fields["year"] == 2020
    assert found.document.fields["_input_hash"] == 1 and found.warnings == ()


def test_a_rejected_task_is_explicit_negatives(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "prodigy", task(answer="reject"))
    items = found.annotations
    states = [entity.state for entity in items.entities]
    states += [relation.state for relation in items.relations] + [
        cluster.state for cluster in items.clusters
    ]
    assert states == [State.REJECTED] * 5


def test_an_ignored_task_has_no_items_but_a_warning(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "prodigy", task(answer="ignore"))
    assert found.annotations.entities == () and found.document.text == TEXT
    assert found.unread == {"span of an ignored task": 3, "relation of an ignored task": 2}


def test_binary_tasks_of_one_text_stay_several_records(tmp_path: Path) -> None:
    one, two = task(spans=[span(1, 1, "Task")], relations=...), task(spans=..., relations=...)
    found = documents_of(tmp_path, "prodigy", one, two | {"answer": "reject"})
    assert [len(item.annotations.entities) for item in found] == [1, 0]


def test_relations_by_token_alone(tmp_path: Path) -> None:
    relations = [
        {"head": 3, "child": 1, "label": "A"},
        {"head": 6, "child": 3, "label": None},
    ]
    (found,) = documents_of(tmp_path, "prodigy", task(relations=relations))
    graphs = "parse 😀 graphs"
    assert triples(found) == [(graphs, "A", graphs), ("help", "relation", graphs)]
    assert mentions(found)[-1] == ("", "help")
    assert found.warnings == ("relation without a label, read as 'relation' (once)",)


def test_without_tokens_and_answer_they_are_derived(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "prodigy", task(tokens=..., answer=..., meta=...))
    assert found.document.doc_key == "made:1"
    assert found.document.tokens.problems(len(TEXT)) == []


def test_equal_spans_are_two_entities_with_two_ids(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "prodigy", task(spans=[span(1, 1, "T")] * 2, relations=...))
    first, second = found.annotations.entities
    assert first.id != second.id
    assert documents_of(tmp_path, "prodigy", task(spans=[span(1, 1, "T")] * 2, relations=...)) == [
        found
    ]


def test_token_indices_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    wrong = span(1, 1, "Task") | {"token_end": 4}
    (found,) = documents_of(tmp_path, "prodigy", task(spans=[wrong], relations=...))
    assert mentions(found) == [("Task", "parse")]
    assert found.warnings == ("span whose token indices do not fit its characters (once)",)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"text": ...}, r"no text: the task has 'tokens', 'spans'"),
    ({"text": 7}, r"text: 7 found; expected a string"),
    ({"answer": "maybe"}, r"answer: 'maybe' found; expected accept, reject, ignore"),
    ({"answer": ["accept"]}, r"answer: \['accept'\] found"),
    ({"spans": {}}, r"spans: \{\} found; expected a list"),
]


@pytest.mark.parametrize(("changes", "problem"), BAD)
def test_a_bad_task_names_its_place_and_the_others_are_read(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    first, second, third = items_of(tmp_path, "prodigy", task(), task(**changes), task())
    assert isinstance(first, AnnotatedDocument) and isinstance(third, AnnotatedDocument)
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(problem_of(second))
    assert "made.jsonl:2: doc_key 'gk-1'" in problem_of(second)


ODD: list[tuple[dict[str, Any], str]] = [
    ({"spans": [7]}, r"spans\[0\]: 7 found; expected an object"),
    ({"spans": [{"start": 3}]}, r"spans\[0\]: start 3 and end None found"),
    ({"spans": [{"start": 3, "end": 99}]}, r"spans\[0\]: 3 99 found; expected offsets in the text"),
    ({"spans": [{"start": 5, "end": 5}]}, r"start 5 and end 5 found"),
    ({"spans": [{"start": 0, "end": 2, "label": 7}]}, r"spans\[0\]\.label: 7 found"),
    ({"spans": [span(1, 1, "T", text="graph")]}, r"'graph' found, but the text has 'parse'"),
    ({"tokens": [{"start": 0}]}, r"tokens\[0\]: start 0 and end None found"),
    ({"tokens": [{"text": "x", "start": 0, "end": 2}]}, r"tokens\[0\]: 'x' found"),
    ({"tokens": [{"start": 3, "end": 8}, {"start": 0, "end": 2}]}, r"tokens: they overlap"),
    ({"relations": [{"head": 99, "child": 1}]}, r"relations\[0\]\.head: 99 found; .* 8 tokens"),
    ({"relations": [{"head": "1", "child": 1}]}, r"relations\[0\]\.head: '1' found"),
    ({"relations": [{"head": 1, "child": 2}], "tokens": ...}, r"one of the 0 tokens"),
    ({"relations": [{"head_span": 7, "child": 1}]}, r"head_span: 7 found; expected an object"),
]


@pytest.mark.parametrize(("changes", "problem"), ODD)
def test_an_odd_item_is_left_out_and_named(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    (found,) = documents_of(tmp_path, "prodigy", task(**changes))
    assert found.document.text == TEXT and found.unread
    assert re.search(problem, "; ".join(found.warnings))


def test_a_task_is_written_with_tokens_that_fit_its_spans() -> None:
    nested = made(
        entity("A", (3, 8)),
        entity("B", (4, 17), label="Method", score=0.25),
        entity("C", (18, 23), label=""),
        relations=(Relation("R", "B", "A", "Used-for"),),
        clusters=(Cluster("K", ("A", "C")),),
    )
    ((record,), losses) = written("prodigy", nested)
    tokens = record["tokens"]
    assert [token["text"] for token in tokens][:5] == ["We", "p", "arse", "😀", "graphs"]
    assert "".join(token["text"] + " " * token["ws"] for token in tokens) == TEXT
    for found in record["spans"]:
        assert tokens[found["token_start"]]["start"] == found["start"]
        assert tokens[found["token_end"]]["end"] == found["end"]
    assert record["spans"][1] == record["relations"][0]["head_span"]
    assert record["spans"][1]["score"] == 0.25 and "label" not in record["spans"][2]
    assert [relation["label"] for relation in record["relations"]] == ["Used-for", "COREF"]
    assert record["meta"] == {"title": "Graphs", "year": 2020, "doc_key": "d"}
    assert "_task_hash" not in record and losses == {}


@pytest.mark.parametrize(
    ("states", "done", "answer"),
    [
        ([State.UNDECIDED, State.UNDECIDED], None, None),
        ([State.UNDECIDED, State.ACCEPTED], None, None),
        ([State.REJECTED, State.ACCEPTED], None, "accept"),
        ([State.REJECTED], None, "accept"),
        ([State.IMPORTED], None, "accept"),
        ([], None, None),
        ([State.ACCEPTED], False, None),
        ([], True, "accept"),
    ],
)
def test_only_what_was_decided_has_an_answer(
    states: list[State], done: bool | None, answer: str | None
) -> None:
    items = [entity(str(index), (0, 2), state=state) for index, state in enumerate(states)]
    ((record,), _) = written("prodigy", replace(made(*items), done=done))
    assert record.get("answer") == answer


@pytest.mark.parametrize("answer", ["accept", "reject", "ignore"])
def test_chosen_options_are_attributes_of_the_abstract(answer: str, tmp_path: Path) -> None:
    options = [
        {"id": name, "text": name} for name in ("relevant", "Design: cohort", "Design: trial")
    ]
    given = task(answer=answer, options=options, accept=["relevant", "Design: cohort"])
    (found,) = documents_of(tmp_path, "prodigy", given)
    state = State.REJECTED if answer == "reject" else State.IMPORTED
    said = {(item.label, item.value, item.state) for item in found.annotations.attributes}
    expected = {("relevant", "", state), ("Design", "cohort", state)}
    assert said == (expected if answer != "ignore" else set())
    ((record,), _) = written("prodigy", found)
    assert record.get("accept", []) == (given["accept"] if answer != "ignore" else [])
    assert record["answer"] == answer


@pytest.mark.parametrize("answer", ["accept", "reject", "ignore", None])
@pytest.mark.parametrize("empty", [False, True])
def test_answers_come_back(answer: str | None, empty: bool, tmp_path: Path) -> None:
    given = task(answer=answer, **({"spans": [], "relations": []} if empty else {}))
    (found,) = documents_of(tmp_path, "prodigy", given)
    ((record,), losses) = written("prodigy", found)
    expected = None if empty and answer == "reject" else answer
    assert (record.get("answer"), losses) == (expected, found.unread)
    assert len(record["spans"]) == (0 if empty or answer == "ignore" else 3)
    (again,) = documents_of(tmp_path, "prodigy", record)
    assert (mentions(again), triples(again)) == (mentions(found), triples(found))
    if answer in ("reject", "ignore"):
        added = replace(made(entity("A", (0, 2), state=State.ADDED)), document=found.document)
        ((record,), _) = written("prodigy", added)
        assert (record["answer"], len(record["spans"])) == ("accept", 1)


def test_what_the_format_cannot_hold_is_counted() -> None:
    ((record,), losses) = written(
        "prodigy",
        made(
            entity("A", (0, 2), (3, 8)),
            entity("B", (3, 8)),
            entity("C", (3, 8)),
            entity("D", (11, 17)),
            entity("E", (19, 23), state=State.REJECTED),
            relations=(
                Relation("R", "A", "B", "X"),
                Relation("S", "C", "D", "X"),
                Relation("T", "B", "D", "COREF"),
                Relation("U", "E", "D", "X"),
            ),
            clusters=(
                Cluster("K", ("B", "D")),
                Cluster("L", ("D", "A")),
                Cluster("M", ("B", "C", "E")),
            ),
        ),
    )
    assert losses == {
        "discontinuous entity": 1,
        "second entity in the same place": 1,
        "relation of an entity that does not fit": 1,
        "relation COREF, which stands for coreference": 1,
        "mention of a second cluster": 3,
        "mention of an entity that does not fit": 1,
        "cluster of fewer than two mentions": 2,
    }
    assert [relation["label"] for relation in record["relations"]] == ["X", "COREF"]


def test_an_entity_outside_of_the_text_is_an_internal_error(tmp_path: Path) -> None:
    writer = open_writer("prodigy", tmp_path / "made.jsonl")
    with pytest.raises(OutputError, match=r"doc_key 'd': entity A: \[3, 99\) found"):
        writer.write(made(entity("A", (3, 99))))


def test_an_export_of_ours_that_keeps_its_fields_is_still_ours(tmp_path: Path) -> None:
    (found,) = documents_of(tmp_path, "prodigy", task())
    path = tmp_path / "own.jsonl"
    writer = open_writer("jsonl", path)
    writer.write(found)
    writer.close()
    assert recognise(str(path), path.read_text("utf-8")).id == "jsonl"
    assert [item.annotations for item in read([path]) if isinstance(item, AnnotatedDocument)] == [
        found.annotations
    ]
