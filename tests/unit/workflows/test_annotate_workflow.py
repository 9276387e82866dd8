from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice

import pytest

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ExitCode, FormatError
from sciextract.formats import BadRecord, ReadItem
from sciextract.text.analyse import make_document
from sciextract.workflows.annotate import (
    OTHER_LANGUAGE,
    Listener,
    RecordProblem,
    RunCounts,
    annotate,
)
from sciextract.workflows.annotate_job import Report
from tests.cli.fakes import MODEL, RuleExtractor

FRENCH = "Nous montrons que les données de la langue sont plus riches dans ce corpus. " * 4
BAD = BadRecord(FormatError("no text", path="x.jsonl", line=3))


class ListWriter:
    def __init__(self, stop_after: int | None = None) -> None:
        self.losses: Counter[str] = Counter()
        self.documents: list[AnnotatedDocument] = []
        self._stop_after = stop_after

    def write(self, document: AnnotatedDocument) -> None:
        self.documents.append(document)
        if len(self.documents) == self._stop_after:
            raise KeyboardInterrupt

    def close(self) -> None:
        pass


class BatchExtractor(RuleExtractor):
    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        source = iter(documents)
        while chunk := list(islice(source, 3)):
            yield from map(self.annotate, chunk)


class Ears(Listener):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def problem(self, problem: RecordProblem) -> None:
        self.heard.append(f"{problem.kind}: {problem.message}")

    def done(self, counts: RunCounts, warned: int, warnings: Sequence[str]) -> None:
        self.heard.append(f"{counts.documents} {warned} {'; '.join(warnings)}")


def item(key: str, text: str = "Lattice parsing.") -> AnnotatedDocument:
    return AnnotatedDocument(make_document(key, text))


@pytest.mark.parametrize("extractor", [RuleExtractor(), BatchExtractor()])
def test_order_counts_and_warnings(extractor: RuleExtractor) -> None:
    items: list[ReadItem] = [
        replace(item("a"), warnings=("from the reader",)),
        BAD,
        item("b", FRENCH),
        item("c", ""),
        replace(item("d", FRENCH), warnings=(OTHER_LANGUAGE,)),
    ]
    writer = ListWriter()
    summary = annotate(items, extractor, writer)
    assert [document.document.doc_key for document in writer.documents] == ["a", "b", "c", "d"]
    expected = [("from the reader",), (OTHER_LANGUAGE,), (), (OTHER_LANGUAGE,)]
    assert [document.warnings for document in writer.documents] == expected
    assert (summary.documents, summary.bad, summary.other_language) == (4, 1, 2)
    entities = sum(len(document.annotations.entities) for document in writer.documents)
    assert summary.entities == entities > 2


def test_the_listener_hears_in_order() -> None:
    ears = Ears()
    second = replace(item("b"), warnings=("odd", "long"))
    annotate([item("a"), BAD, second], RuleExtractor(), ListWriter(), ears)
    assert ears.heard == ["1 0 ", "bad: x.jsonl:3: no text", "2 1 'b': odd; long"]


def test_documents_are_taken_one_batch_at_a_time() -> None:
    taken: list[int] = []

    def endless() -> Iterator[ReadItem]:
        for number in count():
            taken.append(number)
            yield item(str(number))

    writer = ListWriter(stop_after=4)
    with pytest.raises(KeyboardInterrupt):
        annotate(endless(), BatchExtractor(), writer)
    assert len(writer.documents) == 4 and len(taken) == 6


@pytest.mark.parametrize(
    ("documents", "bad", "resumed", "code"),
    [
        (2, 0, 0, ExitCode.DONE),
        (2, 1, 0, ExitCode.PARTIAL),
        (0, 1, 0, ExitCode.FAILED),
        (0, 0, 0, ExitCode.FAILED),
        (0, 0, 5, ExitCode.DONE),
        (0, 1, 5, ExitCode.PARTIAL),
    ],
)
def test_exit_codes(documents: int, bad: int, resumed: int, code: ExitCode) -> None:
    counts = RunCounts(documents=documents, bad=bad)
    report = Report(counts, resumed, (bad, 0), 0.0, MODEL, None, None, {"spans": 1})
    assert report.exit_code == code
    assert report.to_json()["documents_per_second"] == 0.0
    assert report.to_json()["losses"] == {"spans": 1}
