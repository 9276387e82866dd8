"""What is looked at in every record is the same for every format."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, read
from sciextract.formats.lazy import read_lazily
from sciextract.formats.markup import plain_text
from sciextract.formats.record_check import NO_ABSTRACT, is_placeholder


def bibtex(record: dict[str, Any]) -> str:
    return (
        "@article{k,\n"
        + "".join(f"{name} = {{{value}}},\n" for name, value in record.items())
        + "}\n"
    )


def ris(record: dict[str, Any]) -> str:
    tags = {"title": "TI", "abstract": "AB"}
    return "TY  - JOUR\n" + "".join(f"{tags[n]}  - {v}\n" for n, v in record.items()) + "ER  - \n"


def csv(record: dict[str, Any]) -> str:
    return (
        "\n".join(",".join(f'"{cell}"' for cell in row) for row in (record, record.values())) + "\n"
    )


WRITTEN = {
    "a.jsonl": json.dumps,
    "b.json": lambda record: json.dumps([record]),
    "c.csv": csv,
    "d.ris": ris,
    "e.bib": bibtex,
    "f.parquet": None,
    "csl.json": lambda record: json.dumps([record | {"container-title": "J"}]),
}


def read_one(tmp_path: Path, name: str, record: dict[str, Any]) -> AnnotatedDocument:
    path, write = tmp_path / name, WRITTEN[name]
    if write is None:
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pytest.importorskip("pyarrow").Table.from_pylist([record])
        parquet.write_table(table, path)
    else:
        path.write_text(write(record), "utf-8")
    [found] = read([path])
    assert not isinstance(found, BadRecord), found.error
    return found


@pytest.mark.parametrize("name", WRITTEN)
def test_placeholders_are_no_abstract_in_any_format(name: str, tmp_path: Path) -> None:
    for given_abstract in (
        "NA",
        "n/a",
        "[No abstract available]",
        "null",
        "-",
        ".",
        "[Not Available].",
        "There is no abstract available for this article.",
    ):
        found = read_one(tmp_path, name, {"title": "Lattices", "abstract": given_abstract})
        assert found.document.text == "Lattices", given_abstract
        assert found.warnings == (NO_ABSTRACT,), given_abstract
    found = read_one(tmp_path, name, {"title": "N/A", "abstract": "None of the sheets folds."})
    assert (found.document.text, found.warnings) == ("None of the sheets folds.", ())


@pytest.mark.parametrize("name", WRITTEN)
def test_markup_is_text_in_any_format(name: str, tmp_path: Path) -> None:
    abstract = (
        "<jats:title>Abstract</jats:title><jats:sec><jats:title>Aim</jats:title><jats:p>CO<jats:sub>2</jats:sub>"
        " &lt; 5&#37;.</jats:p></jats:sec><jats:sec><jats:title>Empty</jats:title></jats:sec><jats:title>Methods:</jats:title>"
        "<jats:p>A<br/>ratio of <mml:math><mml:mfrac><mml:mn>1</mml:mn><mml:mi>a + b</mml:mi></mml:mfrac></mml:math>.</jats:p>"
    )
    found = read_one(
        tmp_path, name, {"title": "<i>E. coli</i> &amp;amp; p < 3", "abstract": abstract}
    )
    assert found.document.text == ("E. coli & p < 3\nAim: CO2 < 5%. Methods: A ratio of 1/(a + b).")


def test_fields_that_may_hold_an_abstract_are_named(tmp_path: Path) -> None:
    record: dict[str, Any] = {"title": "Lattices", "plain_summary": "We fold.", "year": 2019}
    record |= {"body": "We fold large sheets. " * 10, "topics": "Lattice; sheet; " * 20}
    for title in ("Lattices", "On lattices vol. 2 and more. " * 10):
        [warning] = read_one(tmp_path, "a.jsonl", record | {"title": title}).warnings
        assert warning == f"{NO_ABSTRACT}; not read: 'plain_summary', 'body'"


def test_a_placeholder_gives_way_to_another_name_of_the_same(tmp_path: Path) -> None:
    record = {"title": "Lattices", "abstract": "NA", "paperAbstract": "We fold."}
    assert read_one(tmp_path, "a.jsonl", record).document.text == "Lattices\nWe fold."
    (tmp_path / "a.ris").write_text(
        "TY  - JOUR\nT1  - Lattices\nAB  - NA\nN2  - We fold.\nER  - \n"
    )
    (tmp_path / "a.nbib").write_text(
        "PMID- 1\nTI  - [Not Available].\nTT  - Redes.\nAB  - We fold.\n"
    )
    (tmp_path / "a.xml").write_text(
        "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>[Not Available].</ArticleTitle><Abstract>"
        "<AbstractText>We fold.</AbstractText></Abstract><VernacularTitle>Redes.</VernacularTitle></Article>"
        "</MedlineCitation></PubmedArticle>"
    )
    found = read([tmp_path / name for name in ("a.ris", "a.nbib", "a.xml")])
    texts = [item.document.text for item in found if not isinstance(item, BadRecord)]
    assert texts == ["Lattices\nWe fold.", "Redes.\nWe fold.", "Redes.\nWe fold."]


def test_annotations_in_a_cell_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\nWe fold.,\"[(3, 7, 'M')]\"\n")
    [found] = read([tmp_path / "a.csv"])
    assert not isinstance(found, BadRecord) and "'label'" in found.warnings[0]


@pytest.mark.parametrize(
    "field", ["gold_entities", "annotations", "spans", "relations", "coref_clusters"]
)
def test_fields_that_look_like_annotations_are_named(field: str, tmp_path: Path) -> None:
    record = {"text": "We fold sheets.", field: [{"start": 3, "end": 7}], "labels": ["cs.CL"]}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps({"text": "Empty.", field: []}), "utf-8")
    lazily = [item.read() for item in read_lazily([str(path)], None)]
    for found, empty in ([*read([path])], lazily):
        assert not isinstance(found, BadRecord) and not isinstance(empty, BadRecord)
        [warning] = found.warnings
        assert field in warning and "'labels'" not in warning
        assert not empty.warnings


def test_a_text_that_is_no_abstract_is_named_with_its_length(tmp_path: Path) -> None:
    (tmp_path / "whole.txt").write_text("We fold sheets. " * 2000, "utf-8")
    [found] = read([tmp_path / "whole.txt"])
    assert not isinstance(found, BadRecord) and "32,000" in found.warnings[0]


WORDS = st.sampled_from(
    ["<p>", "</p>", "<b", "</i>", "<i>", "<br/>", "<jats:fn>", "<mml:mfrac>", "</mml:mfrac>", "&lt;", "&", "x", " < ", ">"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=30).map("".join))
def test_broken_markup_loses_no_word(text: str) -> None:
    assert plain_text(text).count("x") == text.count("x")


def test_what_is_no_markup_stays() -> None:
    for text in (
        "p < 0.05 and n > 3",
        "if a <b and c> d",
        "x <i> y",
        "AT&T; R&D;",
        "a\n\n b  c",
        "<unk> </s>",
        "<s> and </s> frame it",
    ):
        assert plain_text(text) == text
    assert plain_text("<h1>On <i>x</i></h1>") == "On x"
    assert plain_text("<div><h2>Abstract</h2><p>A.</p><h2>Aim</h2> <p>B.</p></div>") == "A. Aim: B."
    assert plain_text("<i>" * 10_000 + "x" + "</i>" * 10_000).count("x") == 1


def test_true_texts_are_no_placeholders() -> None:
    for text in (
        "NaCl",
        "Null results in ecology",
        "Unknown unknowns",
        "No",
        "摘要",
        "No abstract thinking in crows",
    ):
        assert not is_placeholder(text), text


def test_a_heading_that_stands_alone_is_kept() -> None:
    for text in ("<jats:title>Aim</jats:title>", "<jats:sec><jats:title>Aim</jats:title>"):
        closing = "</jats:sec>" if "sec" in text else ""
        assert plain_text(f"{text}<jats:p>We folded.</jats:p>{closing}") == "Aim: We folded."
    assert (
        plain_text("<jats:title>Abstract</jats:title><jats:p>We folded.</jats:p>") == "We folded."
    )
