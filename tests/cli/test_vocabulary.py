"""Vocabularies by commands: import from three formats, candidates, and links that no vocabulary has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sciextract.cli.main import make_app
from sciextract.documents.annotations import Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import parse_schema
from sciextract.errors import FormatError, SchemaError
from sciextract.store import Project, create_project, open_project
from sciextract.store.ingest import Import
from sciextract.text.analyse import make_document
from sciextract.vocabulary.file import VocabularyError
from sciextract.vocabulary.links import find_candidates

TABLE = """id\tname\tsynonyms
B:1\tbasalt\tbasaltic rock|flood basalts
B:2\tgneiss, banded\t
B:3\tcolor zoning\t
B:4\tmid-ocean ridge basalt\tmorb\u001b[31m
"""
OBO = r"""format-version: 1.2
[Term]
id: B:1
name: basalt ! the rock
synonym: "basaltic \"rock\"" EXACT []

[Term]
id: B:9
name: phlogiston
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""
SKOS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://example.org/rocks/1> a skos:Concept ;
    skos:prefLabel "basalt"@en, "Basalt"@de ; skos:altLabel "basaltic rock"@en .
"""
TEXT = "Mid-ocean ridge basalt (MORB) was sampled. MORB and banded gneisses show colour zoning."


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def project(home: Path) -> Project:
    (home / "rocks.tsv").write_text(TABLE, "utf-8")
    run("vocabulary", "import", str(home / "rocks.tsv"), "--name", "B")
    return linked_project(home / "rocks.sciextract")


def linked_project(path: Path) -> Project:
    """A project of two abstracts whose rocks are linked to the vocabulary B."""
    made = create_project(path, parse_schema(SCHEMA, "test"), "ann")
    texts = (TEXT, "MORB is a rock.")
    items = [AnnotatedDocument(make_document(f"r{n}", text, {})) for n, text in enumerate(texts)]
    Import(made, "import:t", {}).add([(item, ()) for item in items])
    return made


SCHEMA = {
    "name": "rocks",
    "entities": [{"label": "Rock", "key": "r", "colour": "#112233"}],
    "attributes": [
        {"label": "link", "key": "l", "on": ["Rock"], "kind": "link", "vocabularies": ["B"]}
    ],
}


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(make_app(), words, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def found(name: str, mention: str) -> list[str]:
    lines = run("vocabulary", "find", name, mention, "--json").splitlines()
    return [json.loads(line)["link"] for line in lines]


@pytest.mark.parametrize(
    ("suffix", "content", "link"),
    [(".tsv", TABLE, "R:B:1"), (".obo", OBO, "R:B:1"), (".ttl", SKOS, "R:1")],
)
def test_formats(home: Path, suffix: str, content: str, link: str) -> None:
    if suffix == ".ttl":
        pytest.importorskip("rdflib")
    file = home / f"rocks{suffix}"
    file.write_text(content, "utf-8")
    run("vocabulary", "import", str(file), "--name", "R")
    assert found("R", "Basaltic rocks")[0] == link
    assert run("vocabulary", "find", "R", "basalt").split()[2] == "basalt"
    assert "phlogiston" not in run("vocabulary", "find", "R", "phlogiston basalt")


def test_candidates(project: Project) -> None:
    names = {"colour zonings": "B:3", "banded gneisses": "B:2", "flood-basalts": "B:1"}
    assert {name: found("B", name)[0] for name in names} == names
    assert found("B", "basaltt")[0] == "B:1", "letters that are alike"
    text = project.document_state(1).text
    assert find_candidates(project, "MORB", text.replace("MORB", "XQZB"), 3) != []
    [first, *_] = find_candidates(project, "MORB", text, 3)
    assert (first.link, first.name) == ("B:4", "mid-ocean ridge basalt")


def test_what_a_string_was_linked_to_comes_first(project: Project) -> None:
    project.actions.add_entity(2, [Span(0, 4)], "Rock")
    [morb] = project.document_state(2).entities
    project.actions.set_attribute(2, morb.id, "link", "B:1")
    assert [one.link for one in find_candidates(project, "MORB", TEXT, 9)][:2] == ["B:1", "B:4"]


def test_links_outlive_what_they_lead_to(project: Project, home: Path) -> None:
    project.actions.add_entity(2, [Span(0, 4)], "Rock")
    [morb] = project.document_state(2).entities
    project.actions.set_attribute(2, morb.id, "link", "B:4")
    project.close()
    path = str(home / "rocks.sciextract")
    assert json.loads(run("vocabulary", "check", "--project", path, "--json"))["missing"] == []
    (home / "rocks.tsv").write_text(TABLE.replace("B:4", "B:5"), "utf-8")
    again = ("vocabulary", "import", str(home / "rocks.tsv"), "--name", "B")
    assert CliRunner().invoke(make_app(), again).exit_code != 0, "not without --force"
    assert json.loads(run(*again, "--force", "--json"))["gone"] == 1
    checked = run("vocabulary", "check", "--project", path, "--json", code=3)
    assert json.loads(checked)["missing"] == ["B:4"]
    run("vocabulary", "remove", "B")
    with pytest.raises(VocabularyError) as raised:
        run("vocabulary", "check", "--project", path)
    assert "--name B" in raised.value.hint
    with open_project(path, read=True) as opened:
        assert [row.value for row in opened.document_state(2).attributes] == ["B:4"]


def test_one_id_twice(home: Path) -> None:
    (home / "rocks.tsv").write_text("B:1\tbasalt\nB:1\ttrap rock\n", "utf-8")
    made = json.loads(run("vocabulary", "import", str(home / "rocks.tsv"), "--name", "R", "--json"))
    assert (made["concepts"], made["repeated"]) == (1, 1)
    assert found("R", "trap rock")[0] == "R:B:1"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("rocks.xyz", b"B:1\tbasalt", "no format"),
        ("rocks.tsv", b"", "empty"),
        ("rocks.tsv", b"# nothing\n", "no concept"),
        ("rocks.tsv", b"basalt\n", "rocks.tsv:1"),
        ("rocks.tsv", b"B:1\tbasalt\nB:2\t\xff\n", "rocks.tsv:2.*UTF-8"),
        ("rocks.obo", b"\x00\x00", "rocks.obo"),
        ("rocks.ttl", b"@prefix <", "no turtle"),
        ("rocks.rdf", b'<!DOCTYPE a [<!ENTITY b SYSTEM "/etc/passwd">]><a>&b;</a>', "rocks.rdf"),
    ],
)
def test_what_is_no_vocabulary(home: Path, name: str, content: bytes, problem: str) -> None:
    (home / name).write_bytes(content)
    with pytest.raises(FormatError, match=problem):
        run("vocabulary", "import", str(home / name), "--name", "R")
    assert run("vocabulary", "list") == ""


def test_no_escape_reaches_a_project(project: Project) -> None:
    assert "\x1b" not in run("vocabulary", "find", "B", "morb", "--json")
    assert all("\x1b" not in one.matched for one in find_candidates(project, "morb", "", 9))


@pytest.mark.parametrize(
    "wrong",
    [{"label": "means"}, {"vocabularies": []}, {"on": ["abstract"]}, {"kind": "text"}],
)
def test_links_in_schemas(wrong: dict[str, object]) -> None:
    [kind] = SCHEMA["attributes"]
    with pytest.raises(SchemaError):
        parse_schema({**SCHEMA, "attributes": [{**kind, **wrong}]}, "test")  # type: ignore[dict-item]
