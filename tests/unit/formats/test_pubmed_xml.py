"""PubMed XML: sections and markup become one text, the same as in PubMed's own text export."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import FormatError
from tests.unit.formats.bibliographic_records import (
    NO_ABSTRACT,
    bad_and_good,
    document,
    read_items,
    read_sample,
)
from tests.unit.formats.test_tagged_nbib import RECORD as NBIB

ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">123</PMID>
  <Article><Journal><JournalIssue><Volume>5</Volume><PubDate><Year>2018</Year><Month>Apr</Month></PubDate>
  </JournalIssue><Title>Journal of Invented Results</Title></Journal>
  <ArticleTitle>Graphs of everything: a systematic review.</ArticleTitle>
  <ELocationID EIdType="pii">S1</ELocationID><ELocationID EIdType="doi">10.1000/AB.1</ELocationID>
  <Abstract><AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Graphs are everywhere.</AbstractText>
    <AbstractText Label="METHODS">We parse them.</AbstractText>
    <CopyrightInformation>Nobody</CopyrightInformation></Abstract>
  <AuthorList><Author><LastName>Lovelace</LastName><ForeName>Ada B</ForeName><Initials>AB</Initials></Author>
    <Author><LastName>Babbage</LastName><Initials>C</Initials><Suffix>Jr</Suffix></Author>
    <Author><CollectiveName>Graph Group</CollectiveName></Author></AuthorList>
  <Language>eng</Language><VernacularTitle>Graphen von allem.</VernacularTitle></Article>
  <MeshHeadingList><MeshHeading><DescriptorName MajorTopicYN="N">Graphs</DescriptorName>
    <QualifierName MajorTopicYN="Y">methods</QualifierName></MeshHeading></MeshHeadingList>
  <OtherAbstract Type="Publisher" Language="ger"><AbstractText>Graphen sind überall.</AbstractText></OtherAbstract>
  <KeywordList><Keyword>graphs</Keyword><Keyword>tables</Keyword></KeywordList></MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="pmc">PMC7</ArticleId><ArticleId IdType="pubmed">123</ArticleId>
  </ArticleIdList><ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.1000/other</ArticleId>
  </ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>
"""
HEAD = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" "https://example.org/x.dtd">
<PubmedArticleSet>
"""
SET = HEAD + "{}</PubmedArticleSet>"


def article(title: str = "T", abstract: str = "", pmid: str = "9") -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>{title}</ArticleTitle>"
        f"<Abstract>{abstract}</Abstract></Article></MedlineCitation></PubmedArticle>\n"
    )


def test_an_article_becomes_text_and_fields(tmp_path: Path) -> None:
    found = document(tmp_path, "pubmed-xml", SET.format(ARTICLE)).document
    assert found.doc_key == "123"
    assert found.fields == {
        "title": "Graphs of everything: a systematic review.",
        "year": 2018,
        "doi": "10.1000/ab.1",
        "pmid": "123",
        "venue": "Journal of Invented Results",
        "authors": ["Lovelace, Ada B", "Babbage Jr, C", "Graph Group"],
        "keywords": ["graphs", "tables"],
        "VernacularTitle": "Graphen von allem.",
        "Volume": "5",
        "CopyrightInformation": "Nobody",
        "Language": ["eng"],
        "MeshHeading": ["Graphs/*methods"],
        "OtherAbstract": [
            {"Type": "Publisher", "Language": "ger", "text": "Graphen sind überall."}
        ],
        "ArticleId": {"pmc": "PMC7"},
    }


def test_the_text_is_that_of_the_nbib_export(tmp_path: Path) -> None:
    from_xml = document(tmp_path, "pubmed-xml", SET.format(ARTICLE)).document
    from_nbib = document(tmp_path, "nbib", NBIB).document
    assert from_xml.text == from_nbib.text and from_xml.tokens == from_nbib.tokens
    for name in ("title", "year", "doi", "pmid", "venue", "keywords"):
        assert from_xml.fields[name] == from_nbib.fields[name]


@pytest.mark.parametrize(
    ("abstract", "text"),
    [
        (
            "<AbstractText>H<sub>2</sub>O in <i>E. <b>coli</b></i>, 10<sup>5</sup></AbstractText>",
            "H2O in E. coli, 105",
        ),
        (
            '<AbstractText>If <mml:math xmlns:mml="urn:m"><mml:mi>x</mml:mi><mml:mo>=</mml:mo></mml:math>1</AbstractText>',
            "If x=1",
        ),
        ("<AbstractText>\n      On two\n      lines.\n    </AbstractText>", "On two lines."),
        ('<AbstractText Label="AIM"/><AbstractText Label="">x</AbstractText>', "x"),
        (
            "<AbstractText>&lt;5 &#945; [12]</AbstractText><AbstractText> y</AbstractText>",
            "<5 α [12] y",
        ),
    ],
)
def test_markup_and_layout_of_abstracts(tmp_path: Path, abstract: str, text: str) -> None:
    content = SET.format(article("[Graphen <i>von</i> allem].", abstract))
    assert (
        document(tmp_path, "pubmed-xml", content).document.text == f"[Graphen von allem].\n{text}"
    )


def test_book_articles(tmp_path: Path) -> None:
    book = """<PubmedBookArticle><BookDocument><PMID>5</PMID><ArticleIdList>
    <ArticleId IdType="bookaccession">NBK1</ArticleId><ArticleId IdType="doi">10.1000/b</ArticleId></ArticleIdList>
    <Book><Publisher><PublisherName>Nobody</PublisherName></Publisher><BookTitle>The book</BookTitle>
    <PubDate><Year>2001</Year></PubDate><AuthorList Type="editors"><Author><LastName>Ed</LastName></Author></AuthorList>
    </Book>{}<AuthorList Type="authors"><Author><LastName>A</LastName><ForeName>B</ForeName></Author></AuthorList>
    <Abstract><AbstractText>Text.</AbstractText></Abstract></BookDocument></PubmedBookArticle>"""
    chapter, whole = read_items(
        tmp_path,
        "pubmed-xml",
        SET.format(book.format("<ArticleTitle>The chapter</ArticleTitle>") + book.format("")),
    )
    fields = chapter.document.fields  # type: ignore[union-attr]
    assert chapter.document.text == "The chapter\nText."  # type: ignore[union-attr]
    assert (fields["venue"], fields["year"], fields["authors"]) == ("The book", 2001, ["A, B"])
    assert (fields["doi"], fields["ArticleId"]) == ("10.1000/b", {"bookaccession": "NBK1"})
    assert whole.document.text == "The book\nText."  # type: ignore[union-attr]
    assert "venue" not in whole.document.fields  # type: ignore[union-attr]


def test_citations_without_their_frame_and_dates_in_words(tmp_path: Path) -> None:
    content = """<MedlineCitationSet><MedlineCitation><PMID>5</PMID><Article><Journal><JournalIssue><PubDate>
    <MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue></Journal><ArticleTitle>T</ArticleTitle>
    </Article><MedlineJournalInfo><MedlineTA>J Inv</MedlineTA></MedlineJournalInfo></MedlineCitation></MedlineCitationSet>"""
    found = document(tmp_path, "pubmed-xml", content)
    assert (found.document.fields["year"], found.document.fields["venue"]) == (1998, "J Inv")
    assert found.warnings == (NO_ABSTRACT,)


def test_an_article_without_text_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    content = SET.format(article(pmid="1") + article("", "", "2") + article(pmid="3"))
    errors, keys = bad_and_good(read_items(tmp_path, "pubmed-xml", content))
    assert keys == ["1", "3"] and errors[0].line == 5
    assert "doc_key '2': no text" in errors[0].message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (
            b"<PubmedArticleSet></PubmedArticleSet>",
            "holds no record; elements read: MedlineCitation",
        ),
        (b"PMID- 1\n", "broken XML"),
        (b"\x1f\x8b", "gzip archive"),
        (b'<!DOCTYPE a [<!ENTITY x "y">]><a/>', "declares the entity 'x'"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_items(tmp_path, "pubmed-xml", content)


def test_a_truncated_file_gives_what_was_whole_first(tmp_path: Path) -> None:
    from sciextract.formats.base import Source
    from sciextract.formats.pubmed_xml import read_pubmed_xml

    path = tmp_path / "cut.xml"
    path.write_text(HEAD + article(pmid="1") + article(pmid="2")[:70])
    items = read_pubmed_xml(Source(str(path)))
    assert bad_and_good([next(items)]) == ([], ["1"])
    with pytest.raises(FormatError, match="broken XML: the file ends"):
        next(items)


def test_real_articles() -> None:
    for pmid, year in (
        ("19667393", 2011),
        ("20044015", 2010),
        ("20118285", 2011),
        ("20154326", 2011),
    ):
        (item,) = read_sample(f"formats/pubmed-xml/{pmid}.xml", "pubmed-xml")
        fields = item.document.fields
        assert (item.document.doc_key, fields["pmid"], fields["year"]) == (pmid, pmid, year)
        assert fields["doi"].startswith("10.") and fields["venue"] and len(fields["authors"]) > 3
        assert not item.warnings
