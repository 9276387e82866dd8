"""BibTeX: LaTeX is decoded before the text is made, and a broken entry harms no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.bibliography import Bibliography, bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from tests.unit.formats.bibliographic_records import (
    NO_ABSTRACT,
    bad_and_good,
    document,
    read_items,
    read_sample,
)

ENTRY = r"""
@Article{kuegelgen20,
  Title     = {{Semi}-supervised $\alpha$-learning},
  author    = {von K\"{u}gelgen, Julius and Ludwig van Beethoven and {World Health Organization}},
  JOURNAL   = "Journal of Invented Results",
  year      = 2020,
  doi       = {https://doi.org/10.1000/AB\_1},
  url       = {https://example.org/~a_b},
  keywords  = {graphs, causal inference; SSL},
  pages     = {1--10},
  abstract  = {We show that 5% of the
               {DNA} in \textit{E. coli} follows Sch\"olkopf ($p < 0.05$), i.e. $\frac{1}{n}$.}
}
"""


def test_an_entry_becomes_text_and_fields(tmp_path: Path) -> None:
    found = document(tmp_path, "bibtex", ENTRY).document
    assert found.doc_key == "kuegelgen20"
    assert found.text == (
        "Semi-supervised α-learning\n"
        "We show that 5% of the DNA in E. coli follows Schölkopf (p < 0.05), i.e. $\\frac{1}{n}$."
    )
    assert found.fields == {
        "title": "Semi-supervised α-learning",
        "year": 2020,
        "doi": "10.1000/ab_1",
        "venue": "Journal of Invented Results",
        "authors": ["von Kügelgen, Julius", "van Beethoven, Ludwig", "World Health Organization"],
        "url": "https://example.org/~a_b",
        "keywords": ["graphs", "causal inference", "SSL"],
        "entry_type": "article",
        "pages": "1–10",
    }
    assert bibliography_of(found.fields) == Bibliography(
        "10.1000/ab_1",
        None,
        "Semi-supervised α-learning",
        2020,
        "Journal of Invented Results",
        ("von Kügelgen, Julius", "van Beethoven, Ludwig", "World Health Organization"),
    )


def test_the_title_is_a_sentence_of_its_own(tmp_path: Path) -> None:
    content = "@misc{a, title={Graphs}, abstract={and tables are parsed}}"
    found = document(tmp_path, "bibtex", content).document
    sentences = [
        found.tokens.char_span(sentence).of(found.text) for sentence in found.tokens.sentences
    ]
    assert sentences == ["Graphs", "and tables are parsed"]


def test_strings_comments_and_heads_are_no_records(tmp_path: Path) -> None:
    content = """Free text is a comment.
@string{jir = "Journal of " # {Invented Results}}
@preamble{"\\newcommand{\\x}{y}"}
@comment{@article{not, title={never}}}
@proceedings{head, title={Proceedings}}
@article(a, title="Graphs {"}and{"} tables", journal=jir # ", Part " # 2, month=jan, abstract={x})
@proceedings{other, title={Proceedings}, abstract={with an abstract}}
@collection{c, title={Essays on graphs}}
@mvbook{m, title={Graphs in three volumes}}
"""
    errors, keys = bad_and_good(read_items(tmp_path, "bibtex", content))
    assert (errors, keys) == ([], ["a", "other", "c", "m"])
    found = read_items(tmp_path, "bibtex", content)[0].document  # type: ignore[union-attr]
    assert found.fields["venue"] == "Journal of Invented Results, Part 2"
    assert found.fields["month"] == "jan" and found.fields["title"] == 'Graphs "and" tables'


def test_names_that_double_themselves_are_refused_before_they_fill_the_memory(
    tmp_path: Path,
) -> None:
    doubled = "".join(f"@string{{s{n} = s{n - 1} # s{n - 1}}}\n" for n in range(1, 21))
    content = f"""@string{{s0 = "{"x" * 64}"}}
{doubled}@article{{a, title={{T}}, abstract=s20}}
@article{{b, title={{T}}, abstract={{We parse}}, journal=s0}}
"""
    errors, keys = bad_and_good(read_items(tmp_path, "bibtex", content))
    assert "stands for" in errors[0].message
    assert keys == ["a", "b"]
    texts = [
        item.document.text
        for item in read_items(tmp_path, "bibtex", content)
        if isinstance(item, AnnotatedDocument)
    ]
    assert max(map(len, texts)) < 2 << 20


def test_a_child_takes_venue_and_year_from_its_parent_below(tmp_path: Path) -> None:
    content = """@inproceedings{a, title={T}, abstract={x}, crossref={Head}}
@inproceedings{b, title={T}, abstract={x}, crossref={absent}, year={1999}}
@proceedings{head, title={Proc. of Nothing}, year={2020}, publisher={Nobody}}"""
    first, second = (item.document.fields for item in read_items(tmp_path, "bibtex", content))  # type: ignore[union-attr]
    assert (first["venue"], first["year"], first["publisher"]) == (
        "Proc. of Nothing",
        2020,
        "Nobody",
    )
    assert "venue" not in second and second["year"] == 1999 and second["crossref"] == "absent"


def test_an_entry_without_abstract_is_its_title(tmp_path: Path) -> None:
    found = document(tmp_path, "bibtex", "@book{a, title={Only a title}, abstract={ }}")
    assert found.document.text == "Only a title" and found.warnings == (NO_ABSTRACT,)


def test_a_key_that_occurs_twice_is_a_warning(tmp_path: Path) -> None:
    entry = "@article{same, title={T}, abstract={x}}\n"
    first, second = read_items(tmp_path, "bibtex", entry * 2)
    assert first.warnings == ()  # type: ignore[union-attr]
    assert second.warnings == ("the key 'same' occurs a second time",)  # type: ignore[union-attr]


def test_a_field_that_occurs_twice_is_a_warning(tmp_path: Path) -> None:
    content = (
        "@article{a, title={T}, abstract={x}, url={u1}, URL={u2}, note={n}, note={n}, note={m}}"
    )
    found = document(tmp_path, "bibtex", content)
    assert found.document.fields["url"] == "u1"
    assert found.warnings == (
        "the field 'url' occurs twice, the first one is used",
        "the field 'note' occurs twice, the first one is used",
    )


def test_repeated_keywords_are_all_kept(tmp_path: Path) -> None:
    content = "@article{a, title={T}, abstract={x}, keywords={kernels}, keywords={trees}}"
    found = document(tmp_path, "bibtex", content)
    assert (found.document.fields["keywords"], found.warnings) == (["kernels", "trees"], ())


def test_what_cannot_be_used_is_kept(tmp_path: Path) -> None:
    content = "@article{a, title={T}, abstract={x}, year={in press}, doi={n/a}, date={2019-03}}"
    fields = document(tmp_path, "bibtex", content).document.fields
    assert fields["year"] == 2019 and fields["date"] == "2019-03"
    assert fields["bibtex"] == {"doi": "n/a"}


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("@article{b, title={never closed", "broken entry"),
        ("@article{b, title={a}\n abstract={no comma}}", "broken entry"),
        ("@article{b, title}", "broken entry"),
        ('@article{b, title="never closed}', "broken entry"),
        ("@article b, title={a}}", "no opening brace after '@article'"),
        ("@article{b, year={2020}}", "doc_key 'b': no text"),
        ("@article{b, title={}, abstract={ }}", "no text"),
    ],
)
def test_a_broken_entry_is_named_and_the_others_are_read(
    tmp_path: Path, broken: str, words: str
) -> None:
    good = "@article{%s, title={T}, abstract={x}}\n"
    content = good % "a" + "\n" + broken + "\n" + good % "c" + good % "d"
    errors, keys = bad_and_good(read_items(tmp_path, "bibtex", content))
    assert keys == ["a", "c", "d"]
    assert [error.line for error in errors] == [3] and words in errors[0].message


def test_a_truncated_file_keeps_what_was_whole(tmp_path: Path) -> None:
    content = "@article{a, title={T}, abstract={x}}\n" + ENTRY[: len(ENTRY) // 2]
    errors, keys = bad_and_good(read_items(tmp_path, "bibtex", content))
    assert keys == ["a"] and errors[0].line == 3


def test_a_wrong_encoding_spoils_one_entry(tmp_path: Path) -> None:
    lines = ["@article{a, title={T},", "abstract={caf\u00e9}}", "@misc{b, title={T}, abstract={x}}"]
    content = "\n".join(lines).encode("latin1")
    errors, keys = bad_and_good(read_items(tmp_path, "bibtex", content))
    assert keys == ["b"] and errors[0].line == 2 and "not UTF-8" in errors[0].message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"no entry at all", "holds no BibTeX entry"),
        (b'{"title": "x"}', "holds no BibTeX entry"),
        (b"%PDF-1.5", "a PDF file"),
        ("@article{a}".encode("utf-16"), "utf-16"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_items(tmp_path, "bibtex", content)


def test_hostile_text_is_kept(tmp_path: Path) -> None:
    text = "[12] \x1b[31mred\x1b[0m e\u0301 🧬 \u00a0 H\u2082O \u2028 =1+1 <b>&"
    content = f"@article{{a, title={{T}}, abstract={{x {text} y}}}}"
    assert document(tmp_path, "bibtex", content).document.text == f"T\nx {text} y"


def test_line_ends_brace_positions_and_marks_do_not_matter(tmp_path: Path) -> None:
    content = "\ufeff@article\r\n{a,\r\ntitle = {A\r\n  title},\r\nabstract = {x\r\n\r\ny}\r\n}\r\n"
    found = document(tmp_path, "bibtex", content).document
    assert (found.doc_key, found.text) == ("a", "A title\nx y")


def test_nesting_without_end_is_one_bad_entry(tmp_path: Path) -> None:
    content = "@misc{a, title={" + "{" * 50_000 + "\n@misc{b, title={T}, abstract={x}}"
    errors, keys = bad_and_good(read_items(tmp_path, "bibtex", content))
    assert keys == ["b"] and len(errors) == 1


def test_real_proceedings() -> None:
    items = read_sample("formats/bibtex/uai2020.bib", "bibtex")
    assert len(items) == 39 and not any(item.warnings for item in items)
    assert items[0].document.fields["authors"][0] == "von Kügelgen, Julius"
    assert "Schölkopf et al. (2012)" in items[0].document.text
    assert not any('\\"' in item.document.text for item in items)


def test_nothing_is_said_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read_items(tmp_path, "bibtex", "@article{b, title={never closed")
    assert capsys.readouterr().err == ""
