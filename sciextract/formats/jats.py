"""JATS XML, the articles of PubMed Central, publishers and preprint servers: title and abstract."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from sciextract.documents.bibliography import bare_doi, pmid_of, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bibliographic import make_record
from sciextract.formats.markup import first_text, running_text, texts_of
from sciextract.formats.safe_xml import read_elements

_META = "{*}article-meta"
_VENUES = (
    "{*}journal-meta/{*}journal-title-group/{*}journal-title",
    "{*}journal-meta/{*}journal-title",
    "{*}journal-meta/{*}abbrev-journal-title",
)
_SINGLE = ("volume", "issue", "fpage", "lpage", "elocation-id")
_PRINTED = ("ppub", "collection")
_NO_ABSTRACT = re.compile(
    r"graphic|visual|video|audio|image|toc|teaser|highlight|key-?points|precis|web-?feature"
)


def read_jats(source: Source) -> Iterator[ReadItem]:
    """Read the front matter of articles one at a time; bodies, references and sub-articles are left out.

    Sections of an abstract are joined by one space, each as ``TITLE: text``, as in ``pubmed-xml``.
    """
    nothing = "the file holds no article: there is no element 'front'"
    return read_elements(source, {"front"}, _document, nothing)


def _document(front: Element, place: Place) -> AnnotatedDocument:
    ids = {
        element.get("pub-id-type", ""): running_text(element)
        for element in front.findall(f"{_META}/{{*}}article-id")
    }
    pmid, doi = pmid_of(ids.pop("pmid", "")), bare_doi([ids.pop("doi", "")])
    pmc = ids.get("pmc") or ids.get("pmcid") or ""
    place = replace(place, doc_key=pmid or pmc or doi or place.doc_key)
    titles = front.findall(f"{_META}/{{*}}title-group/{{*}}article-title")
    titles += front.findall(f"{_META}/{{*}}title-group/{{*}}subtitle")
    given = front.findall(f"{_META}/{{*}}abstract")
    # Graphical, plain-language and other further abstracts have a type; some articles have no other.
    chosen = min(given, key=_rank_of, default=None)
    others = [abstract for abstract in given if abstract is not chosen]
    others += front.findall(f"{_META}/{{*}}trans-abstract")
    # An article that appears online first has a date of its own: that of the issue counts.
    dates = front.findall(f"{_META}/{{*}}pub-date")
    dates.sort(key=lambda date: (date.get("pub-type") or date.get("date-type")) not in _PRINTED)
    fields: dict[str, Any] = {
        "year": year_of([first_text(date, "{*}year") for date in dates]),
        "doi": doi,
        "pmid": pmid,
        "venue": first_text(front, *_VENUES),
        "authors": [*filter(None, _authors(front))],
        "keywords": texts_of(front.findall(f"{_META}/{{*}}kwd-group/{{*}}kwd")),
        **{name: first_text(front, f"{_META}/{{*}}{name}") for name in _SINGLE},
        "subject": texts_of(front.findall(f"{_META}/{{*}}article-categories//{{*}}subject")),
        "OtherAbstract": [
            {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
            | {"text": running_text(element)}
            for element in others
        ],
        "ArticleId": ids,
    }
    abstract = "" if chosen is None else running_text(chosen)
    return make_record(place, ": ".join(texts_of(titles)), abstract, fields)


def _rank_of(abstract: Element) -> int:
    """How far an abstract is from one of prose by its kind: none, a summary, another, a picture or a list."""
    kind = abstract.get("abstract-type", "")
    is_summary = "summary" in kind or "abstract" in kind
    return 3 if _NO_ABSTRACT.search(kind) else 2 - is_summary if kind else 0


def _authors(front: Element) -> Iterator[str]:
    for person in front.findall(f"{_META}/{{*}}contrib-group/{{*}}contrib"):
        if person.get("contrib-type", "author") != "author":
            continue
        name = person.find(".//{*}name")
        if name is None:
            name = person.find(".//{*}string-name")
        if name is None:
            yield first_text(person, "{*}collab")
            continue
        family = " ".join(texts_of([*name.findall("{*}surname"), *name.findall("{*}suffix")]))
        given = first_text(name, "{*}given-names")
        yield f"{family}, {given}" if family and given else family or running_text(name)
