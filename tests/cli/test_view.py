"""The readable view."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from sciextract.cli.annotate_screen import ViewWriter
from sciextract.documents.annotations import Annotations, Entity, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.text.analyse import make_document
from tests.cli.conftest import Command

HOSTILE = "Lattice \x1b[31mred\x07 [bold]kernels[/bold] \u202eevil [12] parsing :smile: lattice"


@pytest.mark.usefixtures("fake")
def test_mentions_relations_and_clusters(command: Command) -> None:
    result = command(
        "annotate", "--quiet", stdin="Parsing needs parsers [12]. A parsing of parsers."
    )
    assert "[Parsing|Method] needs [parsers|Method] [12]. A [parsing|Method]" in result.out
    assert "0.75  Parsing -USED-FOR-> parsers" in result.out
    assert "0.50  parsers = parsers" in result.out
    assert "\x1b" not in result.out and result.err == ""


@pytest.mark.usefixtures("fake")
def test_hostile_text_is_shown_and_cannot_steer(command: Command) -> None:
    result = command("annotate", stdin=HOSTILE)
    assert "␛[[31mred|Method]␇" in result.out
    assert "[bold][kernels|Method][/bold]" in result.out
    assert "[12]" in result.out and ":smile:" in result.out
    assert not {"\x1b", "\x07", "\u202e"} & {*result.out, *result.err}


@pytest.mark.usefixtures("fake")
def test_eighty_columns(command: Command, tmp_path: Path) -> None:
    record = {"id": "k" * 200, "text": "漢字 kernels über parsing https://example.org/" + "x" * 300}
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    shown = command("annotate", path).out.splitlines()
    assert all(len(line) <= 80 for line in shown[1:])


@pytest.mark.usefixtures("fake")
def test_no_color(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in command("annotate", stdin="Lattice").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in command("annotate", stdin="Lattice").out


def test_nested_and_discontinuous_mentions() -> None:
    document = make_document("n", "graph neural network")
    entities = (
        Entity("1", (Span(0, 20),), "Method"),
        Entity("2", (Span(6, 20),), "Generic"),
        Entity("3", (Span(0, 5), Span(13, 20)), "Task"),
    )
    stream = io.StringIO()
    writer = ViewWriter(stream, load_schema("scierc"))
    writer.write(AnnotatedDocument(document, Annotations(entities)))
    writer.close()
    expected = "[[graph|Task] [neural [network|Task]|Generic]|Method]"
    assert expected in stream.getvalue()
    assert re.sub(r"\[|\|\w+\]", "", expected) == document.text
