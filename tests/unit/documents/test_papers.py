"""Which records are one paper, and which only look like it."""

from __future__ import annotations

from typing import Any

import pytest

from sciextract.documents.papers import Sameness, compare, first_of_each, paper_of, without_rights
from sciextract.text.analyse import make_document

TITLE = "Tree kernels for dependency parsing"
ABSTRACT = (
    "We use tree kernels for dependency parsing. They improve parsing on the Harbour treebank."
)
OTHER = "Ship logs of two centuries are digitised by volunteers, who correct each other's readings."
LOVELACE: dict[str, Any] = {"authors": ["Lovelace, Ada"], "year": 2019}


def paper(title: str = TITLE, abstract: str = ABSTRACT, **fields: Any) -> Any:
    text = f"{title}\n{abstract}".strip()
    return paper_of(make_document("k", text, {"title": title, **fields} if title else fields))


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        # The numbers say it, however they are written, unless the titles contradict.
        (paper(doi="10.5555/AB"), paper("Tree kernels", OTHER, DOI="https://doi.org/10.5555/ab"), Sameness.SAME),
        (paper(pmid="31"), paper("", OTHER, PMID=31), Sameness.SAME),
        (paper(doi="10.5555/ab"), paper("Ship logs as a source", OTHER, doi="10.5555/ab"), Sameness.NUMBER_ONLY),
        (paper("Parsing, part I", doi="10.5555/a"), paper("Parsing, part II", OTHER, doi="10.5555/a"), Sameness.NUMBER_ONLY),
        # So does the text without its rights.
        (paper("", ABSTRACT), paper("", ABSTRACT + " © 2019 Elsevier B.V."), Sameness.SAME),
        # Or title, year and author together; a preprint has another DOI.
        (
            paper(doi="10.1101/1", **LOVELACE),
            paper(TITLE.upper() + ".", "", doi="10.5555/ab", AU="Lovelace A", PY="2020"),
            Sameness.SAME,
        ),
        (paper(**LOVELACE), paper(abstract="", authors=["Moss, L"], year=2019), Sameness.OTHER),
        (paper(**LOVELACE), paper(abstract="", **LOVELACE | {"year": 2022}), Sameness.OTHER),
        (paper(**LOVELACE), paper(abstract=OTHER, **LOVELACE), Sameness.OTHER),
        (paper(abstract=""), paper(abstract="", **LOVELACE), Sameness.OTHER),
        (paper("Parsing with kernels, part 1", **LOVELACE), paper("Parsing with kernels, part 2", "", **LOVELACE), Sameness.OTHER),
        (paper("Letter to the editor", "", **LOVELACE), paper("Letter to the Editor.", "", **LOVELACE), Sameness.OTHER),
        (paper("Editorial", "", **LOVELACE), paper("Editorial", OTHER, **LOVELACE), Sameness.OTHER),
    ],
)  # fmt: skip
def test_verdicts(one: Any, other: Any, verdict: Sameness) -> None:
    assert compare(one, other) is compare(other, one) is verdict


@pytest.mark.parametrize(
    "rights",
    [
        *(" © 2019 Elsevier B.V. All rights reserved.", " Copyright (c) 2019. All rights reserved."),
        *(" Published by Elsevier Ltd.", " (C) 2019 The Authors.", "\nCopyright 2001 Academic Press."),
        *(" 2019 Wiley Periodicals, Inc.", " (PsycINFO Database Record (c) 2016 APA)", " [ABSTRACT FROM AUTHOR]"),
    ],
)  # fmt: skip
def test_rights_are_no_part_of_a_text(rights: str) -> None:
    assert without_rights(ABSTRACT + rights) == ABSTRACT
    topic = "We ask who holds the copyright. Rights differ."
    assert without_rights(topic) == topic


def test_a_proceedings_doi_joins_nothing_and_costs_little() -> None:
    documents = [
        make_document(f"k{n}", f"{n} ships log {n * 7} storms.\n{OTHER}", {"title": f"Storms {n} of {n * 7}", "doi": "10.5555/all"})
        for n in range(300)
    ]  # fmt: skip
    again = make_document("again", documents[7].text.upper(), documents[7].fields)
    assert first_of_each([*documents, again]) == [*range(300), 7]
