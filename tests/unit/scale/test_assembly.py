from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.formats.base import Source
from sciextract.formats.jsonl import parse_record
from sciextract.formats.lazy import UnparsedLine
from sciextract.scale.interface import Chunk
from sciextract.scale.predicting import Done, RecordOutcome, tasks_of
from sciextract.scale.processes import Assembly
from sciextract.workflows.annotate import RunCounts
from tests.tiers import examples


def chunk(number: int, size: int) -> Chunk:
    items = tuple(
        UnparsedLine(Source("x"), row, f"{number}.{row}", parse_record) for row in range(size)
    )
    return Chunk(0, number, items, False, "")


def done(task: object) -> Done:
    outcomes = [
        RecordOutcome(f"{item.line}\n".encode(), RunCounts(documents=1))
        for item in task.items  # type: ignore[attr-defined]
    ]
    return Done(task, outcomes)  # type: ignore[arg-type]


@settings(max_examples=examples(60))
@given(
    sizes=st.lists(st.integers(0, 5), max_size=6),
    task_size=st.integers(1, 3),
    ordered=st.booleans(),
    data=st.data(),
)
def test_chunks_come_whole_whatever_the_order_of_their_records(
    sizes: list[int], task_size: int, ordered: bool, data: st.DataObject
) -> None:
    assembly = Assembly(ordered)
    chunks = [chunk(number, size) for number, size in enumerate(sizes)]
    for piece in chunks:
        assembly.begin(piece)
    assert assembly.records == sum(sizes)
    results = list(assembly.complete())
    tasks = [task for chunk in chunks for task in tasks_of(chunk, task_size)]
    for task in data.draw(st.permutations(tasks)):
        assembly.add(done(task))
        results += assembly.complete()
    assert not assembly and not assembly.records
    numbers = [result.number for result in results]
    assert numbers == sorted(numbers) if ordered else sorted(numbers) == list(range(len(sizes)))
    for result in results:
        lines = [f"{result.number}.{row}\n" for row in range(sizes[result.number])]
        assert result.data.decode() == "".join(lines)
        assert result.counts.documents == sizes[result.number]
