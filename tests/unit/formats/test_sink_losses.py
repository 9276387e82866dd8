"""What readers lose, and what a format has no place for: counted."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import open_writer, read
from sciextract.formats.registry import writable
from sciextract.text.analyse import make_document
from tests.unit.formats.brat_files import ANN, EVENTS, document_of, pair, written

DYGIE = {
    "doc_key": "d",
    "sentences": [["Kernels", "rank", "proteins", "."]],
    "ner": [[[0, 0, "Method"]]],
    "events": [[[[1, "Rank"], [0, "Agent"]]]],
    "event_clusters": [[[1, 1]]],
    "_sentence_start": [0],
    "weight": 2,
    "predicted_events": [[]],
}
PUBTATOR = "7|t|Aspirin\n7|a|It helps.\n7\t0\t7\tAspirin\tChemical\tD1\n7\tCID\tD1\tD2\n"
CONLL = "# a comment\nKernels NN B-Method\nrank VB O\n"


def losses_of(format_id: str, *documents: AnnotatedDocument) -> dict[str, int]:
    writer = open_writer(format_id, io.StringIO())
    for document in documents:
        writer.write(document)
    writer.close()
    return dict(writer.losses)


def read_one(path: Path, content: str) -> AnnotatedDocument:
    path.write_text(content, "utf-8")
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument), item.error
    return item


def with_fields(**fields: Any) -> AnnotatedDocument:
    return AnnotatedDocument(make_document("d", "Kernels rank proteins.", fields))


def test_unknown_fields_of_annotated_files_are_counted(tmp_path: Path) -> None:
    found = read_one(tmp_path / "d.jsonl", json.dumps(DYGIE))
    names = ("events", "event_clusters", "_sentence_start", "weight")
    expected = {f"field {name!r}": 2 for name in names}
    assert losses_of("scierc", found, found) == expected
    assert losses_of("jsonl", found) == {}
    assert written(found, tmp_path / "out") == dict.fromkeys(expected, 1)


def test_what_a_reader_has_lost_is_counted_by_every_format(tmp_path: Path) -> None:
    pubtator = read_one(tmp_path / "p.pubtator", PUBTATOR)
    conll = read_one(tmp_path / "c.conll", CONLL)
    brat = document_of(tmp_path / "brat", EVENTS)
    for document in (pubtator, conll, brat):
        assert document.unread and not document.document.fields.keys() - {"pmid", "title"}
        assert losses_of("jsonl", document) == document.unread
    assert losses_of("pubtator", pubtator) == {
        "pubtator relation of an identifier without a mention": 1,
    }
    assert written(brat, tmp_path / "out") == brat.unread
    pair(tmp_path / "plain", ANN)
    assert losses_of("scierc", document_of(tmp_path / "plain", ANN)) == {}


def test_what_describes_a_paper_is_no_loss_but_what_refers_to_its_text_is() -> None:
    paper = {"year": 2020, "volume": "7", "MH": ["Mice"], "accessed": {"date-parts": [[2020, 1]]}}
    assert losses_of("scierc", with_fields(**paper)) == {}
    assert losses_of("scierc", with_fields(**paper, spans=[[0, 7]])) == {"field 'spans'": 1}
    assert losses_of("scierc", with_fields(volume="7")) == {"field 'volume'": 1}


def test_hostile_fields_neither_fail_nor_fill_the_memory() -> None:
    wrong = {spec.id: {"x": [1]} for spec in writable()} | {f"n{i}\x1b": "x" for i in range(200)}
    losses = losses_of("conll", with_fields(**wrong))
    assert len(losses) < 60 and losses["other fields"] > 100
    assert not any("\x1b" in kind for kind in losses)
