"""PubMed XML (efetch, baseline and update files): articles and books."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from sciextract.documents.bibliography import bare_doi, pmid_of, year_of
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source, read_each
from sciextract.formats.bibliographic import make_record, unwrapped
from sciextract.formats.safe_xml import numbered_elements

_RECORDS = frozenset({"PubmedArticle", "PubmedBookArticle", "MedlineCitation"})
_DATES = (
    *(
        "Article/Journal/JournalIssue/PubDate/Year",
        "Article/Journal/JournalIssue/PubDate/MedlineDate",
    ),
    *("Article/ArticleDate/Year", "Book/PubDate/Year", "ContributionDate/Year"),
)
_VENUES = (
    "Article/Journal/Title",
    "Article/Journal/ISOAbbreviation",
    "MedlineJournalInfo/MedlineTA",
)
#: Fields that are kept under the name of their element, and where they stand.
_SINGLE = {
    "VernacularTitle": "Article/VernacularTitle",
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

    Raises:
        FormatError: The file is empty or broken (see :func:`sciextract.formats.safe_xml.iter_elements`), or
            holds no record.
    """
    allowed = ", ".join(sorted(_RECORDS))
    nothing = FormatError(f"the file holds no record; elements read: {allowed}", path=source.path)
    return read_each(numbered_elements(source, _RECORDS), partial(_record, source=source), nothing)


def _record(numbered: tuple[int, Element], number: int, source: Source) -> ReadItem:
    line, element = numbered
    found = element.find("MedlineCitation")
    citation = element.find("BookDocument") if found is None else found
    citation = element if citation is None else citation
    pmid = pmid_of(_text(citation.find("PMID")))
    doi = _doi(citation, element)
    place = Place(source.path, line, pmid or doi or f"{source.stem}:{number}")
    book_title = _text(citation.find("Book/BookTitle"))
    title = _text(citation.find("Article/ArticleTitle")) or _text(citation.find("ArticleTitle"))
    fields = {
        "year": year_of([_text(citation.find(path)) for path in _DATES]),
        "doi": doi,
        "pmid": pmid,
        "venue": _first(citation, _VENUES) or (book_title if title else ""),
        "authors": _authors(citation),
        "keywords": _texts(citation.findall("KeywordList/Keyword")),
        **_others(citation, element),
    }
    return make_record(place, title or book_title, _abstract(citation), fields)


def _abstract(citation: Element) -> str:
    sections = citation.findall("Article/Abstract/AbstractText") or citation.findall(
        "Abstract/AbstractText"
    )
    return " ".join(part for section in sections if (part := _section(section)))


def _section(section: Element) -> str:
    text, label = _text(section), section.get("Label", "").strip()
    return f"{label}: {text}" if label and text else text


def _others(citation: Element, element: Element) -> dict[str, Any]:
    found: dict[str, Any] = {name: _text(citation.find(path)) for name, path in _SINGLE.items()}
    found |= {name: _texts(citation.findall(path)) for name, path in _REPEATED.items()}
    found["MeshHeading"] = [
        _heading(each) for each in citation.findall("MeshHeadingList/MeshHeading")
    ]
    found["OtherAbstract"] = [
        {**each.attrib, "text": " ".join(filter(None, map(_section, each.findall("AbstractText"))))}
        for each in citation.findall("OtherAbstract")
    ]
    found["ArticleId"] = {
        each.get("IdType", ""): _text(each)
        for each in _ids(citation, element)
        if each.get("IdType") not in ("doi", "pubmed")
    }
    return found


def _heading(heading: Element) -> str:
    """``Descriptor/qualifier``, a star before major topics, as in nbib."""
    return "/".join(
        ("*" if part.get("MajorTopicYN") == "Y" else "") + _text(part) for part in heading
    )


def _doi(citation: Element, element: Element) -> str | None:
    locations = [
        each
        for each in citation.findall("Article/ELocationID") + citation.findall("ELocationID")
        if each.get("EIdType") == "doi" and each.get("ValidYN") != "N"
    ]
    ids = [each for each in _ids(citation, element) if each.get("IdType") == "doi"]
    return bare_doi(_texts([*locations, *ids]))


def _ids(citation: Element, element: Element) -> list[Element]:
    """The record's own ids, not those of its references."""
    return [
        *element.findall("PubmedData/ArticleIdList/ArticleId"),
        *citation.findall("ArticleIdList/ArticleId"),
    ]


def _authors(citation: Element) -> list[str]:
    lists = citation.findall("Article/AuthorList") or citation.findall("AuthorList")
    if not lists:
        lists = citation.findall("Book/AuthorList")
    return [
        name for each in lists for author in each.findall("Author") if (name := _author(author))
    ]


def _author(author: Element) -> str:
    family = " ".join(filter(None, (_text(author.find("LastName")), _text(author.find("Suffix")))))
    given = _first(author, ("ForeName", "FirstName", "Initials"))
    return (
        f"{family}, {given}" if family and given else family or _first(author, ("CollectiveName",))
    )


def _first(element: Element, paths: Iterable[str]) -> str:
    return next((text for path in paths if (text := _text(element.find(path)))), "")


def _texts(elements: Iterable[Element]) -> list[str]:
    return [text for element in elements if (text := _text(element))]


def _text(element: Element | None) -> str:
    """All text below an element, markup such as ``<i>`` and ``<sub>`` aside, on one line."""
    return "" if element is None else unwrapped("".join(element.itertext()))
