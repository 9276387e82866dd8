"""JATS: the front matter of articles, streamed, whatever stands around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read

ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.2//EN" "JATS-journalpublishing1.dtd">
<article xmlns:mml="http://www.w3.org/1998/Math/MathML" article-type="research-article">
<front>
 <journal-meta><journal-title-group><journal-title>Journal of Invented Results</journal-title></journal-title-group></journal-meta>
 <article-meta>
  <article-id pub-id-type="pmid">99000001</article-id><article-id pub-id-type="pmc">PMC99</article-id>
  <article-id pub-id-type="doi">10.5555/Lattice</article-id>
  <title-group><article-title>Lattices for <italic>everything</italic><xref ref-type="fn">*</xref></article-title>
   <subtitle>a review</subtitle></title-group>
  <contrib-group><contrib contrib-type="author"><name><surname>Okafor</surname><given-names>Tomi</given-names></name></contrib>
   <contrib contrib-type="author"><collab>The Sheet Group</collab></contrib>
   <contrib contrib-type="editor"><name><surname>Not</surname></name></contrib></contrib-group>
  <pub-date pub-type="epub"><year>2018</year></pub-date><pub-date pub-type="ppub"><year>2019</year></pub-date>
  <abstract abstract-type="graphical"><p>A picture.</p></abstract>
  <abstract><title>Abstract</title><sec><title>Aim:</title><p>We fold
   <inline-formula><mml:math><mml:mi>n</mml:mi></mml:math><tex-math>$n$</tex-math></inline-formula> sheets.</p><p>Fast.</p></sec>
   <sec><title>Results</title><p>They stay folded.</p></sec></abstract>
  <kwd-group><kwd>folding</kwd><kwd>sheets</kwd></kwd-group>
 </article-meta>
</front>
<body><p>A body that is not read.</p></body>
<back><ref-list><ref><mixed-citation><article-title>Cited</article-title></mixed-citation></ref></ref-list></back>
<sub-article><front-stub><article-id pub-id-type="doi">10.5555/other</article-id></front-stub></sub-article>
</article>"""


def read_all(path: Path, content: str) -> list[AnnotatedDocument | BadRecord]:
    path.write_text(content, "utf-8")
    return list(read([path]))


@pytest.mark.parametrize("name", ["a.nxml", "a.xml", "a"])
def test_an_article_is_known_and_read(tmp_path: Path, name: str) -> None:
    [found] = read_all(tmp_path / name, ARTICLE)
    assert isinstance(found, AnnotatedDocument)
    assert found.document.doc_key == "99000001"
    assert found.document.text == (
        "Lattices for everything: a review\nAim: We fold n sheets. Fast. Results: They stay folded."
    )
    wanted = {
        "title": "Lattices for everything: a review",
        "year": 2019,
        "doi": "10.5555/lattice",
        "pmid": "99000001",
        "venue": "Journal of Invented Results",
        "authors": ["Okafor, Tomi", "The Sheet Group"],
        "keywords": ["folding", "sheets"],
        "OtherAbstract": [{"abstract-type": "graphical", "text": "A picture."}],
        "ArticleId": {"pmc": "PMC99"},
    }
    assert found.document.fields == wanted


def test_where_all_abstracts_have_a_type_a_summary_is_the_text(tmp_path: Path) -> None:
    kinds = ("graphical", "key-points", "summary", "executive-summary")
    abstracts = "".join(f'<abstract abstract-type="{k}"><p>A {k}.</p></abstract>' for k in kinds)
    title = "<title-group><article-title>Sheets</article-title></title-group>"
    path = tmp_path / "made.xml"
    path.write_text(
        f"<article><front><article-meta>{title}{abstracts}</article-meta></front></article>"
    )
    (found,) = read([path], "jats")
    assert isinstance(found, AnnotatedDocument)
    assert found.document.text == "Sheets\nA summary."
    assert len(found.document.fields["OtherAbstract"]) == 3


def test_sets_namespaces_and_articles_without_text(tmp_path: Path) -> None:
    article = "<article><front><article-meta>{}</article-meta></front></article>"
    title = "<title-group><article-title>On sheets</article-title></title-group>"
    articles = article.format(title) + article.format("<article-id>7</article-id>")
    content = f'<pmc-articleset xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/">{articles}</pmc-articleset>'
    found, bad = read_all(tmp_path / "set.xml", content)
    assert isinstance(found, AnnotatedDocument) and isinstance(bad, BadRecord)
    assert (found.document.doc_key, found.document.text) == ("set:1", "On sheets")
    assert "no abstract" in found.warnings[0]
    assert "neither a title nor an abstract" in bad.error.message


def test_entities_are_refused(tmp_path: Path) -> None:
    bomb = ARTICLE.replace('1.dtd">', '1.dtd" [<!ENTITY a "bbbb">]>')
    with pytest.raises(FormatError, match="declares the entity 'a'"):
        read_all(tmp_path / "a.xml", bomb)
