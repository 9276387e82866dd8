"""``sciextract table``."""

from __future__ import annotations

import csv
import io
import json
import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas
import pytest
from openpyxl import load_workbook
from sqlite_utils import Database

from sciextract.errors import ExitCode
from sciextract.inference.model_folder import open_folder
from sciextract.resources import bundled_models
from sciextract.store import open_project
from sciextract.store.actions.editing import EntityRef
from tests.cli.conftest import Command
from tests.cli.projects import GOLD, PLAIN, STRANGE, write_lines

TITLE = "<script>alert(1)</script> \x1b[31m\u202e _x0041_"
HOSTILE: dict[str, Any] = {
    **GOLD,
    "doc_key": "=1+1",
    "title": TITLE,
    "authors": ["@SUM(1)"],
    "sentences": [["=Parsing", "x" * 40_000, "."]],
    "ner": [[[0, 0, "Task"], [1, 1, "Method"]]],
    "relations": [[[0, 0, 1, 1, "USED-FOR"]]],
    "clusters": [],
}


def rows_of(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def test_a_row_a_paper_tells_what_is_none_from_what_nobody_looked_for(
    command: Command, project: Path
) -> None:
    gold, plain = rows_of(command("table", "--with-sentences", project).out)
    assert (gold["Method"], gold["Task"], gold["Material"]) == (
        "Lattice parsing",
        "translation",
        "",
    )
    assert gold["Method: sentence"] == "Lattice parsing helps translation ."
    assert (plain["title"], plain["year"], plain["Method"]) == ("Kernels", "2020", "?")
    Path("keys.txt").write_text("plain\n")
    assert command("done", "--keys", "keys.txt", "--layers", "entities").code == ExitCode.DONE
    assert rows_of(command("table").out)[1]["Method"] == ""
    # A type that came later was not looked for by whoever finished the abstract.
    strange = write_lines(Path("strange.jsonl"), STRANGE)
    assert command("import", strange, "--add-labels").code == ExitCode.DONE
    assert [(row["Method"], row["Gene"]) for row in rows_of(command("table").out)[1:]] == [
        ("", "?"),
        ("", "Genes"),
    ]
    summary = json.loads(command("table", "--output", "t.csv", "--json").out)
    assert (summary["papers"], summary["cells"]["not looked at"] > 0) == (3, True)


def test_rows_are_mentions_with_what_is_related_or_relations(
    command: Command, project: Path
) -> None:
    (mention,) = rows_of(command("table", "--rows", "mention:Method").out)
    assert (mention["mention"], mention["USED-FOR →"]) == ("Lattice parsing", "translation")
    (relation,) = rows_of(command("table", "--rows", "relation").out)
    ends = relation["head"], relation["relation"], relation["tail"]
    assert ends == ("Lattice parsing", "USED-FOR", "translation")
    for rows in ("mention:Gene", "method", "paper:Method"):
        assert command("table", "--rows", rows).code == ExitCode.USAGE


def test_undecided_items_come_in_as_asked_for(command: Command, work: Path) -> None:
    model = {"name": "sci", "hash": open_folder(bundled_models() / "sci", hashes=False).hash}
    text, made = "Lattice parsing helps translation.", {"label": "Method", "state": "undecided"}
    entities = [
        {**made, "id": "A", "fragments": [[0, 15]], "score": 0.999},
        {**made, "id": "B", "fragments": [[22, 33]], "score": 0.001},
    ]
    record = {"schema_version": 1, "doc_key": "p", "text": text, "entities": entities}
    path = write_lines(work / "p.jsonl", {**record, "links": [], "groups": [], "model": model})
    plain = command("table", path)
    assert "Method" not in rows_of(plain.out)[0]
    assert "2 undecided items" in plain.err
    (promised,) = rows_of(command("table", path, "--promise", "entity=0.8").out)
    assert promised["Method"] == "Lattice parsing"
    (all_of_them,) = rows_of(command("table", path, "--undecided").out)
    assert all_of_them["Method"] == "Lattice parsing; translation"
    unknown = write_lines(work / "u.jsonl", {**record, "links": [], "groups": []})
    assert command("table", unknown, "--promise", "entity=0.8").code == ExitCode.USAGE


def test_what_somebody_joined_is_one_name(command: Command, work: Path) -> None:
    joined = {**GOLD, "ner": [[[0, 0, "Method"]], [[7, 7, "Method"]]], "relations": [[], []]}
    joined["sentences"] = [["ParserX", "helps", "translation", "."], ["We", "call", "it", "TreeY"]]
    path = write_lines(work / "j.jsonl", {**joined, "clusters": [[[0, 0], [7, 7]]]})
    assert rows_of(command("table", path).out)[0]["Method"] == "ParserX"
    apart = write_lines(work / "a.jsonl", {**joined, "clusters": []})
    assert rows_of(command("table", apart).out)[0]["Method"] == "ParserX; TreeY"


class _Scripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.scripts += tag == "script"


def test_hostile_words_steer_nothing_and_long_ones_are_cut_where_they_must(
    command: Command, work: Path
) -> None:
    # Two papers with one key stay two rows.
    path = write_lines(work / "h.jsonl", HOSTILE, {**GOLD, "doc_key": "=1+1"})
    for name in ("t.csv", "t.md", "t.html", "t.xlsx", "t.db"):
        made = command("table", path, "--with-sentences", "--excel", "--output", name)
        assert made.code == ExitCode.DONE
        assert ("cut" in made.err) == (name == "t.xlsx")
    assert (work / "t.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    table = pandas.read_csv("t.csv")
    assert list(table["key"]) == ["'=1+1", "'=1+1"]
    assert (table["authors"][0], table["Task"][0]) == ("'@SUM(1)", "'=Parsing")
    assert len(table["Method"][0]) == 40_000
    page = (work / "t.html").read_text("utf-8")
    (parser := _Scripts()).feed(page)
    assert parser.scripts == 1
    for text in (page, (work / "t.md").read_text("utf-8")):
        assert not {"\x1b", "\u202e"} & {*text}
    book = load_workbook("t.xlsx")
    assert book.sheetnames == ["papers", "mentions", "relations", "about"]
    sheet = book["papers"]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", f"A1:{sheet.dimensions[3:]}")
    cells = dict(zip([cell.value for cell in sheet[1]], sheet[2], strict=True))
    assert (cells["key"].value, cells["key"].data_type) == ("=1+1", "s")
    assert len(cells["Method"].value) == 32_767
    assert cells["Task"].comment is not None
    database = Database("t.db")
    assert database["papers"].count == 2
    assert not list(database.query("PRAGMA foreign_key_check"))
    assert "translation" in {
        row["name"] for row in database.table("mentions").search("translation")
    }


def test_the_database_tells_who_decided_what(command: Command, project: Path) -> None:
    with open_project(project, "ben") as opened:
        entities = opened.document(1).annotations.entities
        (task,) = (entity.id for entity in entities if entity.label == "Task")
        opened.actions.set_label(1, EntityRef(task), "Material")
    assert command("table", "--output", "t.db").code == ExitCode.DONE
    decisions = list(Database("t.db")["decisions"].rows)
    assert "person:ben" in {row["author"] for row in decisions}
    query = "SELECT m.name, m.type FROM decisions d JOIN mentions m ON m.id = d.mention"
    assert [*Database("t.db").query(query)] == [{"name": "translation", "type": "Material"}]


def test_what_cannot_be_written_is_refused_before_and_leaves_nothing(
    command: Command, project: Path, work: Path
) -> None:
    (work / "there.csv").write_text("mine")
    before = {*work.iterdir()}
    assert command("table", "--output", "there.csv").code == ExitCode.FAILED
    assert command("table", "--output", "t.pdf").code == ExitCode.USAGE
    assert command("table", "--to", "xlsx").code == ExitCode.USAGE
    assert command("table", "--output", project, "--to", "csv", "--force").code != ExitCode.DONE
    if os.geteuid():
        work.chmod(0o500)
        assert command("table", "--output", "t.xlsx").code == ExitCode.FAILED
        work.chmod(0o700)
    assert {*work.iterdir()} == before
    assert (work / "there.csv").read_text() == "mine"
    for name in ("there.csv", "there.db", "there.db"):
        assert command("table", "--output", name, "--force").code == ExitCode.DONE
    assert command("table", "--output", "there.db").code == ExitCode.FAILED


@pytest.mark.parametrize("schema", ["empty", "scierc"])
def test_projects_without_abstracts_or_types(command: Command, work: Path, schema: str) -> None:
    command("init", "p.sciextract", "--schema", schema)
    assert command("table").code == ExitCode.USAGE
    command("import", write_lines(work / "plain.jsonl", PLAIN))
    for name in ("t.csv", "t.md", "t.html", "t.xlsx", "t.db"):
        assert command("table", "--output", name).code == ExitCode.DONE


def test_quantities_stand_as_number_and_unit(command: Command, work: Path) -> None:
    quantities = {
        **GOLD,
        "sentences": [
            ["Mortars", "bore", "5", "to", "10", "MPa", "at", "room", "temperature", "."]
        ],
        "ner": [[[0, 0, "Mortar"], [2, 5, "Value"], [7, 8, "Value"]]],
        "relations": [[[0, 0, 2, 5, "HAS"]]],
        "clusters": [],
    }
    single = {**quantities, "doc_key": "one", "sentences": [["Slag", "bore", "3.5", "per", "cent"]]}
    single |= {"ner": [[[2, 4, "Value"]]], "relations": [[]], "year": "2012"}
    path = write_lines(work / "q.jsonl", quantities, single)
    first, second = rows_of(command("table", path, "--values", "Value").out)
    assert (first["Value: number"], first["Value: unit"]) == ("5–10; room temperature", "MPa; ")
    assert (second["Value: number"], second["Value: unit"]) == ("3.5", "%")
    assert command("table", path, "--values", "Mass").code == ExitCode.USAGE
    command("table", path, "--values", "Value", "--output", "t.xlsx")
    rows = load_workbook("t.xlsx")["papers"].values
    cells = dict(zip(next(rows), [*rows][1], strict=True))
    assert (cells["Value: number"], cells["year"]) == (3.5, 2012)
    command("table", path, "--values", "Value", "--output", "t.db")
    query = "SELECT number, upper, unit FROM mentions WHERE words LIKE '5%'"
    assert [*Database("t.db").query(query)] == [{"number": 5.0, "upper": 10.0, "unit": "MPa"}]
