"""BioC XML: its collection, broken places, files that are unusable."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import ReadItem, Source
from sciextract.formats.bioc import read_bioc_xml


def xml_items(tmp_path: Path, content: str | bytes) -> list[ReadItem]:
    path = tmp_path / "made.xml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read([path]))


XML = """<?xml version="1.0"?><collection><source>made</source><document><id>X</id>
<passage><infon key="type">abstract</infon><offset>0</offset><text>A &lt;b&gt; β</text>
<annotation id="1"><infon key="type">Task</infon><location offset="2" length="3"/><text>&lt;b&gt;</text>
</annotation></passage></document>%s</collection>"""


def test_xml_is_read(tmp_path: Path) -> None:
    (item,) = xml_items(tmp_path, XML % "")
    assert isinstance(item, AnnotatedDocument)
    assert [entity.label for entity in item.annotations.entities] == ["Task"]
    assert [entity.text_of(item.document.text) for entity in item.annotations.entities] == ["<b>"]


def test_good_documents_around_a_bad_one_are_read(tmp_path: Path) -> None:
    bad = "<document><id>Y</id><passage><offset>x</offset><text>a</text></passage></document>"
    good = "<document><id>Z</id><passage><offset>0</offset><text>a</text></passage></document>"
    first, error, last = xml_items(tmp_path, XML % f"\n{bad}{good}")
    assert isinstance(first, AnnotatedDocument) and isinstance(last, AnnotatedDocument)
    assert isinstance(error, BadRecord)
    assert "made.xml:5: doc_key 'Y': passages[0].offset: 'x' found" in error.error.message


def test_documents_in_front_of_a_broken_place_are_read(tmp_path: Path) -> None:
    path = tmp_path / "made.xml"
    path.write_text((XML % "")[:-12], encoding="utf-8")
    items = read_bioc_xml(Source(str(path)))
    assert isinstance(next(items), AnnotatedDocument)
    with pytest.raises(FormatError, match="broken XML"):
        next(items)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<collection></collection>", "no document found"),
        (b"<collection>\xff</collection>", "broken XML"),
        ('<!DOCTYPE c [<!ENTITY a "b">]><collection/>', "declares the entity 'a'"),
        ("<collection>" + "<a>" * 5000, "nested deeper"),
    ],
)
def test_unusable_xml(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        xml_items(tmp_path, content)
    assert message in caught.value.message
