"""BioC: the real samples."""

from __future__ import annotations

from pathlib import Path

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, open_writer, read
from tests.shared_data import shared_path


def test_the_shifted_document_of_the_cdr_sample_is_named() -> None:
    items = list(read([shared_path("formats/bioc/CDR_sample-1.xml")]))
    (bad,) = [item for item in items if isinstance(item, BadRecord)]
    assert len(items) == 12
    assert "passages[1].annotations[0].text: " in bad.error.message


def test_offsets_relative_to_the_sentence_are_refused() -> None:
    (bad,) = read([shared_path("formats/bioc/example-with-sentences.xml")])
    assert isinstance(bad, BadRecord)
    assert "offset 0 found, the passages go from 10 to 41" in bad.error.message


def test_relations_between_concepts_of_the_cdr_sample_come_back(tmp_path: Path) -> None:
    source = shared_path("formats/bioc/CDR_sample-1.xml")
    writer, other = (open_writer(each, tmp_path / each) for each in ("bioc", "brat"))
    for item in read([source]):
        if isinstance(item, AnnotatedDocument):
            writer.write(item)
            other.write(item)
    writer.close()
    other.close()
    again = [item for item in read([tmp_path / "bioc"]) if isinstance(item, AnnotatedDocument)]
    relations = sum(len(each.document.fields["bioc"]["unread"]) for each in again)
    assert (len(again), relations, dict(writer.losses)) == (11, 18, {})
    assert relations in other.losses.values()
