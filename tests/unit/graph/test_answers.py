from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.bibliography import Bibliography, bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read
from sciextract.graph.answers import bibtex
from sciextract.graph.queries.papers import NamingSentence, Paper

HOSTILE = (
    "} , note = {x}\n@article{evil, title={y}}",
    "TI\nER  - \nTY  - JOUR",
    r"\input{/etc/passwd} 50% of C# & $x_1^2$ ~ --- ``quoted'' {A}",
    "\x1b[31mred\x1b[0m\u2028next\u202e",
    '=HYPERLINK("http://x")',
    "5 %",
    "A \\",
)


def paper_of(key: str, published: Bibliography, quoted: str = "") -> Paper:
    sentences = (NamingSentence(0, len(quoted), quoted, ()),) if quoted else ()
    return Paper(0, key, published, 1, (), sentences)


def read_back(citations: list[Paper], folder: Path) -> list[AnnotatedDocument]:
    path = folder / "papers.bib"
    path.write_text("\n".join(bibtex(citations)), encoding="utf-8")
    items = list(read([str(path)]))
    assert all(isinstance(item, AnnotatedDocument) for item in items)
    return [item for item in items if isinstance(item, AnnotatedDocument)]


def plain(text: str) -> str:
    """A text without signs that steer, and without the difference between spaces."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def test_papers_are_read_back_as_they_were(tmp_path: Path) -> None:
    paper = Bibliography(
        "10.1000/a_b(1)", "123", "On Graphs of 5 % & {More}", 2020, "Proc. of the 3rd Workshop",
        ("Lovelace, Ada", "Ludwig van Beethoven", "The Graph Consortium", "Bourbaki"),
    )  # fmt: skip
    (found,) = read_back([paper_of("arXiv:1", paper)], tmp_path)
    names = ("Lovelace, Ada", "van Beethoven, Ludwig", "The Graph Consortium", "Bourbaki")
    known = bibliography_of(found.document.fields)
    assert (known.doi, known.pmid, known.year) == (paper.doi, paper.pmid, paper.year)
    assert (known.title, known.venue, known.authors) == (paper.title, paper.venue, names)


def test_hostile_text_stays_in_its_field(tmp_path: Path) -> None:
    citations = [
        paper_of(text, Bibliography(title=text, venue=text, authors=(text,), year=2000), text)
        for text in HOSTILE
    ]
    found = read_back(citations, tmp_path)
    assert len(found) == len(HOSTILE)
    for annotated, text in zip(found, HOSTILE, strict=True):
        title = bibliography_of(annotated.document.fields).title or ""
        assert plain(title.replace("␛", " ")).split()[0] == plain(text).split()[0]
        assert annotated.document.fields["year"] == 2000
    content = (tmp_path / "papers.bib").read_text("utf-8")
    assert "\x1b" not in content and "\u202e" not in content and "\u2028" not in content


def test_every_entry_has_a_key_of_its_own() -> None:
    entries = list(bibtex([paper_of(key, Bibliography()) for key in ("a b", "a,b", "A_b", "}{")]))
    assert [entry.split("{")[1].split(",")[0] for entry in entries] == [
        "a_b", "a_b-2", "A_b-3", "paper",
    ]  # fmt: skip


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1))
def test_any_title_survives_bibtex(title: str) -> None:
    """The value alone, without a file: nothing in it opens or closes a brace, and it decodes to the title."""
    from sciextract.formats.latex import decode_latex

    (entry,) = bibtex([paper_of("k", Bibliography(title=title))])
    (line,) = [line for line in entry.splitlines() if line.startswith("  title = ")]
    value = line.removeprefix("  title = ").removesuffix(",")
    depth = 0
    for place, sign in enumerate(value):
        depth += (sign == "{") - (sign == "}")
        assert depth > 0 or place == len(value) - 1
    assert depth == 0
    if title.strip():
        assert decode_latex(value[2:-2]) == " ".join(title.split())
