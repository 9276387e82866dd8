"""JATS XML, the articles of PubMed Central, publishers and preprint servers: title and abstract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from sciextract.documents.bibliography import bare_doi, pmid_of, year_of
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source, read_each
from sciextract.formats.bibliographic import make_record, unwrapped
from sciextract.formats.safe_xml import local_name, numbered_elements

_META = "{*}article-meta"
#: Notes, their marks, and the second notation of a formula are no part of the running text.
_SKIPPED = frozenset(
    {"fn", "fn-group", "xref", "tex-math", "object-id", "label", "fig", "table-wrap"}
)
_BLOCKS = frozenset({"p", "sec", "list", "list-item", "title", "break", "disp-formula"})
_VENUES = ("journal-title-group/{*}journal-title", "journal-title", "abbrev-journal-title")
_SINGLE = ("volume", "issue", "fpage", "lpage", "elocation-id")
_PRINTED = ("ppub", "collection")


def read_jats(source: Source) -> Iterator[ReadItem]:
    """Read the front matter of articles one at a time; bodies, references and sub-articles are left out.

    Sections of an abstract are joined by one space, each as ``TITLE: text``, as in ``pubmed-xml``.

    Raises:
        FormatError: The file is empty or broken (see :func:`sciextract.formats.safe_xml.numbered_elements`), or
            holds no article.
    """

    def read(numbered: tuple[int, Element], number: int) -> ReadItem:
        line, front = numbered
        ids = {
            each.get("pub-id-type", ""): _text(each)
            for each in front.findall(f"{_META}/{{*}}article-id")
        }
        pmid, doi = pmid_of(ids.pop("pmid", "")), bare_doi([ids.pop("doi", "")])
        pmc = ids.get("pmc") or ids.get("pmcid") or ""
        place = Place(source.path, line, pmid or pmc or doi or f"{source.stem}:{number}")
        titles = [
            *front.findall(f"{_META}/{{*}}title-group/{{*}}article-title"),
            *front.findall(f"{_META}/{{*}}title-group/{{*}}subtitle"),
        ]
        given = front.findall(f"{_META}/{{*}}abstract")
        # Graphical, plain-language and other further abstracts have a type.
        untyped = [each for each in given if not each.get("abstract-type")]
        chosen = next(iter([*untyped, *given]), None)
        others = [each for each in given if each is not chosen]
        others += front.findall(f"{_META}/{{*}}trans-abstract")
        # An article that appears online first has a date of its own: that of the issue counts.
        dates = front.findall(f"{_META}/{{*}}pub-date")
        dates.sort(key=lambda each: (each.get("pub-type") or each.get("date-type")) not in _PRINTED)
        venues = (_first(front, f"{{*}}journal-meta/{{*}}{each}") for each in _VENUES)
        fields: dict[str, Any] = {
            "year": year_of([_first(each, "{*}year") for each in dates]),
            "doi": doi,
            "pmid": pmid,
            "venue": next(filter(None, venues), ""),
            "authors": [*filter(None, _authors(front))],
            "keywords": _texts(front.findall(f"{_META}/{{*}}kwd-group/{{*}}kwd")),
            **{name: _first(front, f"{_META}/{{*}}{name}") for name in _SINGLE},
            "subject": _texts(front.findall(f"{_META}/{{*}}article-categories//{{*}}subject")),
            "OtherAbstract": [
                {name.rpartition("}")[2]: value for name, value in each.attrib.items()}
                | {"text": _abstract(each)}
                for each in others
            ],
            "ArticleId": ids,
        }
        abstract = "" if chosen is None else _abstract(chosen)
        return make_record(place, ": ".join(_texts(titles)), abstract, fields)

    problem = "the file holds no article: there is no element 'front'"
    nothing = FormatError(problem, path=source.path)
    return read_each(numbered_elements(source, {"front"}), read, nothing)


def _abstract(element: Element) -> str:
    """Paragraphs and sections, without the heading of the abstract itself."""
    parts = []
    for child in element:
        if local_name(child) == "sec":
            heading = _first(child, "{*}title").removesuffix(":")
            text = _abstract(child)
            parts.append(f"{heading}: {text}" if heading and text else text)
        elif local_name(child) not in ("title", *_SKIPPED):
            parts.append(_text(child))
    return " ".join(filter(None, parts))


def _authors(front: Element) -> Iterator[str]:
    for person in front.findall(f"{_META}/{{*}}contrib-group/{{*}}contrib"):
        if person.get("contrib-type", "author") != "author":
            continue
        name = person.find(".//{*}name")
        if name is None:
            name = person.find(".//{*}string-name")
        if name is None:
            yield _first(person, "{*}collab")
            continue
        family = " ".join(_texts([*name.findall("{*}surname"), *name.findall("{*}suffix")]))
        given = _first(name, "{*}given-names")
        yield f"{family}, {given}" if family and given else family or _text(name)


def _first(element: Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else _text(found)


def _texts(elements: Iterable[Element]) -> list[str]:
    return [text for element in elements if (text := _text(element))]


def _text(element: Element) -> str:
    """The running text below an element, on one line."""
    return unwrapped("".join(_pieces(element)))


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if local_name(child) not in _SKIPPED:
            yield from _pieces(child)
        if local_name(child) in _BLOCKS:
            yield "\n"
        yield child.tail or ""
