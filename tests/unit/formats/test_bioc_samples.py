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


def test_relations_between_concepts_of_the_cdr_sample_are_counted(tmp_path: Path) -> None:
    writer = open_writer("bioc", tmp_path / "bioc")
    for item in read([shared_path("formats/bioc/CDR_sample-1.xml")]):
        if isinstance(item, AnnotatedDocument):
            writer.write(item)
    writer.close()
    assert writer.losses["bioc relation that is not a pair of mentions"] == 18
    assert len([*read([tmp_path / "bioc"])]) == 11
