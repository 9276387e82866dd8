"""Which format a file has: by its content, its name, its id."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, UsageError
from sciextract.formats import BadRecord, open_writer, read, registry
from sciextract.formats.base import ReadItem, Source
from sciextract.formats.inputs import read_inputs
from sciextract.formats.registry import FormatSpec, recognise
from tests.unit.formats.test_inputs import ABSTRACT, keys, write

FIELDS = (
    "{0}1\n\nTITLE\nLattices\n\nAUTHOR NAMES\nOkafor T.\n\nSOURCE\nJ Inv\n\nABSTRACT\nWe fold.\n"
)
PUBMED = (
    "1. J Inv. 2019 Apr;12(3):4-9.\n\nLattices.\n\nOkafor T(1).\n\nWe fold.\n\nPMID: 99000001\n"
)
STRUCTURED = "Background: We fold.\nData source: none.\nResults: 5.\nKeywords: a\nYear: none\n"


CONLLU = "# sent_id = 1\n# text = We parse\n1\tWe\twe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"


def read_upper(source: Source) -> Iterator[ReadItem]:
    error = FormatError("", path="read " + Path(source.path).name)
    yield BadRecord(error)


@pytest.mark.parametrize(
    ("name", "first_line", "expected"),
    [
        ("a.jsonl", '{"text": "x"}', "jsonl"),
        ("a.txt", '{"text": "x"}', "jsonl"),
        ("-", '  {"sentences": []}', "jsonl"),
        ("a.dat", '{"text": "x"}', "jsonl"),
        ("a.csv", "id,Title,Abstract\r\n", "csv"),
        ("a.csv", "nothing known", "csv"),
        ("-", "id;title;abstract", "csv"),
        ("-", "id\tabstract\tyear", "tsv"),
        ("a.tsv", "id\tabstract", "tsv"),
        ("a.txt", "We parse graphs, text, and tables.", "text"),
        ("a.txt", "Abstract", "text"),
        ("-", "Text, tables and graphs are parsed.", "text"),
        ("README", "[12] shows that brackets are no JSON", "text"),
        ("savedrecs.txt", "FN Clarivate Analytics Web of Science", "wos"),
        ("-", "PT J", "wos"),
        ("a.ciw", "nothing known", "wos"),
        ("a.txt", "%0 Journal Article", "endnote"),
        ("savedrecs.txt", "PT\tAU\tTI\tSO\tAB\tUT\n", "tsv"),
        ("a.txt", "# newdoc\n# text = x\nx NN O B-A\ny VB O O\n", "conll"),
        ("a.txt", "1.\nTY  - JOUR\nTI  - T\n", "ris"),
        ("a.tex", "% my refs\n@article{a, title={T}}", "bibtex"),
        ("a.txt", "% of patients were treated", "text"),
        ("a.txt", "# Background\nWe parse graphs.\n", "text"),
        ("a.txt", "<p>We parse graphs.</p>", "text"),
        ("a.txt", "\\textbf{Aim.} We parse.", "text"),
        ("a.txt", "RT PCR finds them", "text"),
        ("a.txt", "5 of 20 patients died.", "text"),
        ("a.json", '{\n "text": "x"\n}', "json"),
        ("a.jsonl", '{"id": 1,\r\n "text": "x"}', "json"),
        ("a.jsonl", '[{"text": "x"}]', "json"),
        ("a.jsonl", '{"text": "cut\n{"text": "x"}\n', "jsonl"),
    ],
)
def test_the_content_decides_the_format(name: str, first_line: str, expected: str) -> None:
    assert recognise(name, first_line).id == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (STRUCTURED, "text"),
        ("Provider: Invented\nDatabase: X\n\nTY  - JOUR\nTI  - T\n", "ris"),
        ("Record #1 of 2\nProvider: Invented\n\nTY  -  JOUR\nTI  -  T\n", "ris"),
        ("Exported today\n\n@article{a, title={T}}\n", "bibtex"),
        ("Name\tKind\tPlace\nLattices\tpaper\tX\n", "tsv"),
        ("\n<1>\nUnique Identifier\n  9\nTitle\n  Lattices\n", "an Ovid tagged export"),
        ("My search, 2024\n\nid,title,abstract\n1,A,We fold.\n", "csv"),
        ("Record #1 of 2\nID: CN-1\nTI: Lattices\n", "the Cochrane Library"),
        (FIELDS.format("RECORD "), "title, author names, source, abstract"),
        ("references:\n- title: T\n  author: A\n  issued: 1\n  DOI: 10.5555/x\n", "doi"),
        ("AU  Okafor T\nTI  Lattices\nSO  J Inv\nAB  We fold.\n", "au, ti, so, ab"),
        (PUBMED, "a text export of PubMed"),
    ],
)
def test_an_export_is_no_plain_text(tmp_path: Path, content: str, expected: str) -> None:
    def records(_: Source, spec: FormatSpec) -> Iterator[ReadItem]:
        raise FormatError(spec.id)

    with pytest.raises(FormatError) as caught:
        list(read_inputs([write(tmp_path / "a.txt", content)], None, records))
    assert expected in caught.value.message
    if " " in expected:
        assert "--from text" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.txt", CONLLU, "a CoNLL-U treebank"),
        ("a.conll", CONLLU, "a CoNLL-U treebank"),
        ("a.conllu", "nothing known", "a CoNLL-U treebank"),
        ("a.txt", "<!DOCTYPE html>\n<html>", "an HTML page"),
        ("login.bib", "\n<!-- x -->\n<HTML lang='en'>", "an HTML page"),
        ("a.txt", "% draft\n\n\\RequirePackage{x}\n\\documentclass{article}\n", "a TeX document"),
        ("a.tex", "We parse graphs.", "a TeX document"),
        ("a.txt", "{\\rtf1\\ansi We parse.}", "an RTF document"),
        ("a.xml", "<?xml version='1.0'?><xml><records><record>", "an EndNote XML export"),
        ("a.txt", "RT Journal Article\nT1 Graphs\n", "a RefWorks tagged export"),
        ("a.txt", "<1. >\nVN  - Ovid Technologies\n", "an Ovid tagged export"),
        ("a.txt", "<?xml version='1.0'?>\n<thing>x</thing>", "XML of a kind that is not read"),
        ("a.txt", b"%PDF-1.7\n%\xff\n", "a PDF file"),
        ("a.docx", b"PK\x03\x04\x14\x00", "an office document"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1", "a document of an older Office"),
    ],
)
def test_what_is_not_read_is_refused_by_name(
    name: str, content: str | bytes, kind: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=f"this is {kind}") as caught:
        list(read([write(tmp_path / name, content)]))
    assert caught.value.hint
    if isinstance(content, str):
        (item,) = read([tmp_path / name], "text")
        assert isinstance(item, AnnotatedDocument) and item.document.text == content


def test_an_unknown_format_lists_the_allowed_ids(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'brut'") as caught:
        read([write(tmp_path / "a.txt", ABSTRACT)], "brut")
    assert "scierc" in caught.value.hint and "paragraphs" in caught.value.hint
    with pytest.raises(UsageError, match="cannot write the format 'bibtex'"):
        open_writer("bibtex", io.StringIO())


def test_a_later_format_joins_by_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    joining = ModuleType("joining_formats")
    joining.read_upper = read_upper  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "joining_formats", joining)
    reader = "joining_formats:read_upper"
    made = FormatSpec("upper", "for this test", (".up",), reader=reader, opening="UP ")
    whole = FormatSpec("box", "a folder", (".box",), kind="folder", reader=reader)
    monkeypatch.setattr(registry, "FORMATS", [made, whole, *registry.FORMATS])
    write(tmp_path / "x/y.box", "anything")
    assert keys(read([write(tmp_path / "a.txt", "UP one")])) == ["read a.txt"]
    assert keys(read([tmp_path / "x"])) == ["read x"]
    with pytest.raises(UsageError) as caught:
        read([tmp_path], "none")
    assert "upper" in caught.value.hint


def test_every_registered_format_can_be_loaded() -> None:
    pytest.importorskip("datasets")
    for spec in registry.readable():
        assert callable(spec.load_reader())
    for spec in registry.writable():
        assert callable(spec.load_writer())
