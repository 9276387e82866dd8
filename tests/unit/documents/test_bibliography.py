"""Bibliographic fields of any input get one form; what cannot be used is left out and never raises."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.bibliography import (
    Bibliography,
    authors_of,
    bare_doi,
    bibliography_of,
    family_first,
    pmid_of,
    year_of,
)

WANTED = Bibliography("10.1000/ab.1", "123", "A title", 2019, "A journal", ("Lovelace, Ada",))


@pytest.mark.parametrize(
    "fields",
    [
        {
            "doi": "10.1000/ab.1",
            "pmid": "123",
            "title": "A title",
            "year": 2019,
            "venue": "A journal",
            "authors": ["Lovelace, Ada"],
        },
        {
            "DOI": "https://doi.org/10.1000/AB.1",
            "PMID": 123,
            "Title": " A\n title",
            "issued": {"date-parts": [["2019", 3]]},
            "container-title": "A journal",
            "author": [{"family": "Lovelace", "given": "Ada"}],
        },
        {
            "DO": "doi:10.1000/ab.1",
            "PMID": "PMID: 123",
            "TI": "A title",
            "PY": "2019///",
            "T2": "A journal",
            "AU": "Lovelace, Ada",
        },
        {
            "Article Title": "A title",
            "Publication Title": "A journal",
            "Publication Year": 2019.0,
            "Digital Object Identifier": "DOI 10.1000/AB.1.",
            "PubMed ID": 123.0,
            "Authors": "Lovelace, Ada;",
        },
        {
            "externalIds": {"DOI": "10.1000/ab.1", "PubMed": "123", "CorpusId": 9},
            "title": "A title",
            "year": None,
            "publicationDate": "2019-03-01",
            "venue": "",
            "publicationVenue": {"name": "A journal"},
            "authors": [{"authorId": "1", "name": "Lovelace, Ada"}],
        },
        {
            "LID": ["S1-2 [pii]", "10.1000/ab.1 [doi]"],
            "pmid": "https://pubmed.ncbi.nlm.nih.gov/123/",
            "title": ["A title"],
            "DP": "2019 Mar-Apr",
            "booktitle": "A journal",
            "author": "Lovelace, Ada",
        },
    ],
)
def test_all_inputs_give_the_same(fields: dict[str, Any]) -> None:
    assert bibliography_of(fields) == WANTED


def test_nothing_gives_nothing() -> None:
    assert bibliography_of({}) == Bibliography(None, None, None, None, None, ())
    useless = {"doi": "n/a", "pmid": "PMC12", "title": " ", "year": "in press", "venue": 3, 4: 5}
    assert bibliography_of(useless) == Bibliography()  # type: ignore[arg-type]


def test_an_unusable_value_leaves_room_for_the_next_name() -> None:
    found = bibliography_of({"year": "n.d.", "date": "1999-01", "doi": "", "DOI": "10.1000/x"})
    assert (found.year, found.doi) == (1999, "10.1000/x")


@pytest.mark.parametrize(
    ("value", "doi"),
    [
        ("http://dx.doi.org/10.1000/X", "10.1000/x"),
        ("10.1016/S0021-9258(19)77020-6", "10.1016/s0021-9258(19)77020-6"),
        ("(see 10.1000/x)", "10.1000/x"),
        ("https://doi.org/10.1000%2Fab%2Fc", "10.1000/ab/c"),
        ("10.1000/x, 10.1000/y", "10.1000/x"),
        ("10.1/x", None),
        (10.1, None),
        (None, None),
    ],
)
def test_dois(value: object, doi: str | None) -> None:
    assert bare_doi(value) == doi


@pytest.mark.parametrize(
    ("value", "year"),
    [
        ("2019-03-01", 2019),
        ("2018 Apr", 2018),
        ("1998 Dec-1999 Jan", 1998),
        ("20190301", 2019),
        ("2019.0", 2019),
        ("Mon, 2 Apr 2007 19:18:42 GMT", 2007),
        ([2019, 3], 2019),
        ({"raw": "March 2019"}, 2019),
        ({"date-parts": [[]]}, None),
        ("12019", None),
        ("", None),
        (True, None),
        (0, None),
        (2019.5, None),
        (math.nan, None),
        (math.inf, None),
        (10**400, None),
        ([[[[[[2019]]]]]], None),
    ],
)
def test_years(value: object, year: int | None) -> None:
    assert year_of(value) == year


@pytest.mark.parametrize("value", ["", "0", "12345678901", "a1", -3, 1.5, True, None, {}, math.nan])
def test_no_pmids(value: object) -> None:
    assert pmid_of(value) is None


@pytest.mark.parametrize(
    ("value", "authors"),
    [
        ("A, B; C, D", ("A, B", "C, D")),
        ("A, B\nC, D", ("A, B", "C, D")),
        ("Anderson, Sandy", ("Anderson, Sandy",)),
        ([{"lastName": "A", "firstName": "B"}, {"literal": "Group"}, 7, {}], ("A, B", "Group")),
        (
            [{"family": "Beethoven", "given": "L", "non-dropping-particle": "van"}],
            ("van Beethoven, L",),
        ),
        (7, ()),
    ],
)
def test_authors(value: object, authors: tuple[str, ...]) -> None:
    assert authors_of(value) == authors


@pytest.mark.parametrize(
    ("name", "turned"),
    [
        ("Ada B. Lovelace", "Lovelace, Ada B."),
        ("Vincent van der Berg", "van der Berg, Vincent"),
        ("Lovelace, Ada", "Lovelace, Ada"),
        ("ATLAS Collaboration", "ATLAS Collaboration"),
        ("Plato", "Plato"),
        ("", ""),
    ],
)
def test_names_in_natural_order_are_turned(name: str, turned: str) -> None:
    assert family_first(name) == turned


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(
    ["DOI", "pmid", "Title", "year", "issued", "venue", "author", "externalIds", "x"]
)


@given(st.dictionaries(names, anything, max_size=6))
def test_no_value_raises(fields: dict[str, Any]) -> None:
    found = bibliography_of(fields)
    assert found.year is None or 1400 <= found.year < 2200
    assert found.doi is None or found.doi.startswith("10.")
    assert found.pmid is None or found.pmid.isdigit()
