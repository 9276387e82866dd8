"""PubMed XML (efetch, baseline and update files): articles and books."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from sciextract.documents.bibliography import bare_doi, pmid_of, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bibliographic import make_record
from sciextract.formats.markup import first_text, running_text, texts_of
from sciextract.formats.record_check import is_placeholder
from sciextract.formats.safe_xml import read_elements

_RECORDS = frozenset({"PubmedArticle", "PubmedBookArticle", "MedlineCitation"})
_JOURNAL, _ISSUE = "Article/Journal", "Article/Journal/JournalIssue"
_DATES = (
    *(f"{_ISSUE}/PubDate/Year", f"{_ISSUE}/PubDate/MedlineDate"),
    *("Article/ArticleDate/Year", "Book/PubDate/Year", "ContributionDate/Year"),
)
_VENUES = (f"{_JOURNAL}/Title", f"{_JOURNAL}/ISOAbbreviation", "MedlineJournalInfo/MedlineTA")
_OTHER_TITLE = "Article/VernacularTitle"
#: Fields that are kept under the name of their element, and where they stand.
_SINGLE = {
    "VernacularTitle": _OTHER_TITLE,
    "ISOAbbreviation": "Article/Journal/ISOAbbreviation",
    "Volume": "Article/Journal/JournalIssue/Volume",
    "Issue": "Article/Journal/JournalIssue/Issue",
    "MedlinePgn": "Article/Pagination/MedlinePgn",
    "CopyrightInformation": "Article/Abstract/CopyrightInformation",
    "PublisherName": "Book/Publisher/PublisherName",
}
_REPEATED = {
    "Language": "Article/Language",
    "PublicationType": "Article/PublicationTypeList/PublicationType",
    "Grant": "Article/GrantList/Grant/GrantID",
    "NameOfSubstance": "ChemicalList/Chemical/NameOfSubstance",
    "GeneSymbol": "GeneSymbolList/GeneSymbol",
}


def read_pubmed_xml(source: Source) -> Iterator[ReadItem]:
    """Read articles and books one at a time.

    Sections of an abstract are joined by one space, each as ``LABEL: text``, which is what PubMed's own text
    export does: the same paper has the same text here and in ``nbib``.
    """
    nothing = f"the file holds no record; elements read: {', '.join(sorted(_RECORDS))}"
    return read_elements(source, _RECORDS, _document, nothing)


def _document(element: Element, place: Place) -> AnnotatedDocument:
    found = element.find("MedlineCitation")
    citation = element.find("BookDocument") if found is None else found
    citation = element if citation is None else citation
    pmid = pmid_of(first_text(citation, "PMID"))
    # The record's own ids: those of its references lie deeper.
    ids = element.findall("PubmedData/ArticleIdList/ArticleId")
    ids += citation.findall("ArticleIdList/ArticleId")
    locations = citation.findall("Article/ELocationID") + citation.findall("ELocationID")
    valid = [location for location in locations if location.get("ValidYN") != "N"]
    dois = [location for location in valid if location.get("EIdType") == "doi"]
    doi = bare_doi(texts_of([*dois, *(known for known in ids if known.get("IdType") == "doi")]))
    place = replace(place, doc_key=pmid or doi or place.doc_key)
    book_title = first_text(citation, "Book/BookTitle")
    # "[Not Available]." where only the original one is known.
    places = ("Article/ArticleTitle", "ArticleTitle", _OTHER_TITLE)
    titles = [first_text(citation, place) for place in places]
    title = next((title for title in titles if not is_placeholder(title)), "")
    # Books have their abstracts one level higher than articles.
    sections = citation.findall("Article/Abstract/AbstractText")
    sections = sections or citation.findall("Abstract/AbstractText")
    fields = {
        "year": year_of([first_text(citation, path) for path in _DATES]),
        "doi": doi,
        "pmid": pmid,
        "venue": first_text(citation, *_VENUES) or (book_title if title else ""),
        "authors": [*filter(None, _authors(citation))],
        "keywords": texts_of(citation.findall("KeywordList/Keyword")),
        **{name: first_text(citation, path) for name, path in _SINGLE.items()},
        **{name: texts_of(citation.findall(path)) for name, path in _REPEATED.items()},
        # Descriptor/qualifier, a star before major topics, as in nbib.
        "MeshHeading": [
            "/".join(
                ("*" if part.get("MajorTopicYN") == "Y" else "") + running_text(part)
                for part in element
            )
            for element in citation.findall("MeshHeadingList/MeshHeading")
        ],
        "OtherAbstract": [
            {**element.attrib, "text": _join_sections(element.findall("AbstractText"))}
            for element in citation.findall("OtherAbstract")
        ],
        "ArticleId": {
            article_id.get("IdType", ""): running_text(article_id)
            for article_id in ids
            if article_id.get("IdType") not in ("doi", "pubmed")
        },
    }
    return make_record(place, title or book_title, _join_sections(sections), fields)


def _join_sections(sections: Iterable[Element]) -> str:
    """The sections of an abstract, each as ``LABEL: text``."""
    parts = []
    for section in sections:
        text, label = running_text(section), section.get("Label", "").strip()
        parts.append(f"{label}: {text}" if label and text else text)
    return " ".join(filter(None, parts))


def _authors(citation: Element) -> Iterator[str]:
    places = ("Article/AuthorList", "AuthorList", "Book/AuthorList")
    lists = next(filter(None, map(citation.findall, places)), [])
    for author in (author for authors in lists for author in authors.findall("Author")):
        family = " ".join(texts_of([*author.findall("LastName"), *author.findall("Suffix")]))
        given = first_text(author, "ForeName", "FirstName", "Initials")
        whole = f"{family}, {given}" if family and given else family
        yield whole or first_text(author, "CollectiveName")
