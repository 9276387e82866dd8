"""BioC: the real samples."""

from __future__ import annotations

from pathlib import Path

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.items import MISFIT
from tests.shared_data import shared_path


def test_the_shifted_mentions_of_the_cdr_sample_are_named() -> None:
    items = list(read([shared_path("formats/bioc/CDR_sample-1.xml")]))
    assert not any(isinstance(item, BadRecord) for item in items)
    (shifted,) = [
        item for item in items if isinstance(item, AnnotatedDocument) and MISFIT in item.unread
    ]
    assert any("passages[1].annotations[0].text: " in warning for warning in shifted.warnings)


def test_mentions_at_offsets_relative_to_the_sentence_are_left_out() -> None:
    (found,) = read([shared_path("formats/bioc/example-with-sentences.xml")])
    assert isinstance(found, AnnotatedDocument)
    assert found.unread[MISFIT] == 2 and not found.annotations.entities
    assert any(
        "offset 0 found, the passages go from 10 to 41" in warning for warning in found.warnings
    )


def test_relations_between_concepts_of_the_cdr_sample_are_counted(tmp_path: Path) -> None:
    writer = open_writer("bioc", tmp_path / "bioc")
    for item in read([shared_path("formats/bioc/CDR_sample-1.xml")]):
        if isinstance(item, AnnotatedDocument):
            writer.write(item)
    writer.close()
    assert writer.losses["bioc relation that is not a pair of mentions"] == 25
    assert len([*read([tmp_path / "bioc"])]) == 12
