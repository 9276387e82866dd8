"""The examples of docs/formats/tools.md are recognised and read as they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.formats import read
from sciextract.formats.label_studio import labelling_config
from tests.shared_data import ROOT
from tests.unit.formats.tool_files import mentions, triples

PAGE = (ROOT / "docs" / "formats" / "tools.md").read_text("utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return str(found)


@pytest.mark.parametrize(("tool", "count"), [("prodigy", 1), ("doccano", 2), ("labelstudio", 1)])
def test_the_examples(tool: str, count: int, tmp_path: Path) -> None:
    decoder, rest, lines = json.JSONDecoder(), block(tool).strip(), []
    while rest:
        value, end = decoder.raw_decode(rest)
        lines.append(json.dumps(value))
        rest = rest[end:].strip()
    path = tmp_path / "made.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    items = list(read([path]))
    assert len(items) == count
    for item in items:
        assert isinstance(item, AnnotatedDocument), item
        assert mentions(item) == [("Method", "Tree kernels"), ("Material", "proteins")]
    assert isinstance(items[-1], AnnotatedDocument)
    assert triples(items[-1]) == [("Tree kernels", "Used-for", "proteins")]


def test_the_labelling_configuration() -> None:
    example = ElementTree.fromstring(block("xml"))
    config = ElementTree.fromstring(labelling_config(load_schema("scierc")))
    assert [element.tag for element in example] == [element.tag for element in config]
    assert {element.tag for element in example.iter()} == {element.tag for element in config.iter()}
