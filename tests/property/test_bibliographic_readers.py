"""Any text comes through the bibliographic readers, and damaged files never give anything but a FormatError."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape, unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem, Source
from sciextract.formats.registry import get_format
from sciextract.text.analyse import join_title
from tests.tiers import examples

WORDS = (
    "graph",
    "e\u0301",
    "α-β",
    "H₂O",
    "😀",
    "[12]",
    "95%",
    "=1+1",
    "&amp;",
    "\u00a0",
    "\u2028",
    "'s",
    " ~5",
)
LINES = st.lists(st.sampled_from((*WORDS, " ", ". ")), min_size=1, max_size=12).map(
    lambda words: "x" + "".join(words) + "y"
)
CONTROLS = st.sampled_from(["\x1b[31m", "\x00", "\x07", "\x9b", "\ufffe"])
BREAKS = st.sampled_from(["\n", "\r\n  ", " \n\n"])


def read(format_id: str, content: bytes) -> list[ReadItem]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lib")
        path.write_bytes(content)
        return list(get_format(format_id).load_reader()(Source(str(path))))


def text_of(format_id: str, content: str) -> str:
    (item,) = read(format_id, content.encode())
    assert isinstance(item, AnnotatedDocument)
    found = item.document
    assert not found.tokens.problems(len(found.text))
    return found.text


@given(LINES, LINES, CONTROLS)
def test_text_on_one_line_is_kept_exactly(title: str, line: str, control: str) -> None:
    abstract = f"{line}{control}z"
    expected = unescape(join_title(title, abstract))
    assert text_of("ris", f"TY  - JOUR\nTI  - {title}\nAB  - {abstract}\nER  - \n") == expected
    assert text_of("nbib", f"PMID- 1\nTI  - {title}\nAB  - {abstract}\n") == expected
    assert text_of("wos", f"PT J\nTI {title}\nAB {abstract}\nER\n") == expected
    assert text_of("endnote", f"%0 Book\n%T {title}\n%X {abstract}\n") == expected
    assert text_of("bibtex", f"@misc{{a, title={{{title}}}, abstract={{{abstract}}}}}") == expected
    record = json.dumps({"id": "1", "title": title, "abstract": abstract})
    for format_id in ("csl", "s2", "arxiv"):
        assert text_of(format_id, record) == expected


@given(LINES, LINES, LINES, BREAKS)
def test_wrapped_text_is_joined_where_breaks_are_layout(
    title: str, first: str, second: str, line_break: str
) -> None:
    joined = unescape(join_title(title, f"{first} {second}"))
    wrapped = f"{first}{line_break}{second}"
    assert text_of("bibtex", f"@misc{{a, title={{{title}}}, abstract={{{wrapped}}}}}") == joined
    assert text_of("arxiv", json.dumps({"title": title, "abstract": wrapped})) == joined
    assert text_of("csl", json.dumps([{"title": title, "abstract": wrapped}])) == unescape(
        join_title(title, wrapped)
    )
    assert text_of("nbib", f"PMID- 1\nTI  - {title}\nAB  - {first}\n      {second}\n") == joined
    assert text_of("wos", f"PT J\nTI {title}\nAB {first}\n   {second}\nER\n") == joined
    assert text_of("endnote", f"%0 Book\n%T {title}\n%X {first}\n\n{second}\n") == joined
    assert text_of("ris", f"TY  - JOUR\nTI  - {title}\nAB  - {first}\n{second}\nER  - ") == joined


@given(LINES, LINES, LINES)
def test_sections_give_the_same_text_in_xml_and_nbib(title: str, first: str, second: str) -> None:
    xml = (
        f"<PubmedArticle><MedlineCitation><Article><ArticleTitle>{escape(title)}</ArticleTitle><Abstract>"
        f'<AbstractText Label="AIM">{escape(first)}</AbstractText>\n'
        f'<AbstractText Label="RESULT">{escape(second)}</AbstractText>'
        "</Abstract></Article></MedlineCitation></PubmedArticle>"
    )
    nbib = f"PMID- 1\nTI  - {title}\nAB  - AIM: {first} RESULT:\n      {second}\n"
    assert text_of("pubmed-xml", xml) == text_of("nbib", nbib)


WHOLE = {
    "bibtex": '@string{j = "J" # {K}}\n@article{a, author={A and {B C}}, title={T $x$}, journal=j, abstract="x"}\n'
    "@article{b, crossref={c}, title={T}}\n@proceedings{c, title={P}}\n",
    "ris": "Provider: X\nTY  - JOUR\nTI  - T\nAB  - x\ny\nPY  - 2019//\nER  - \n\nTY  - JOUR\nT1  - U\nER  - \n",
    "wos": "FN Clarivate\nVR 1.0\nPT J\nAU B, C\n   D, E\nTI T\nAB x\n   y\nDI 10.1000/x\nUT 1\nER\n\nEF",
    "endnote": "%0 Book\n%A B, C\n%T T\n%X x\ny\n%R 10.1000/x\n\n%0 Book\n%T U\n",
    "nbib": "PMID- 1\nTI  - T\n      t\nAB  - x\nLID - 10.1000/x [doi]\nAU  - B C\n\nPMID- 2\nTI  - U\n",
    "csl": json.dumps(
        [{"id": "a", "title": "T", "issued": {"date-parts": [[2019]]}, "author": [{"family": "A"}]}]
        * 2
    ),
    "s2": json.dumps(
        {"total": 2, "data": [{"paperId": "a", "title": "T", "authors": [{"name": "A B"}]}] * 2}
    ),
    "arxiv": "\n".join(
        [json.dumps({"id": "1", "title": "T", "authors": "A B, C D", "versions": [{}]})] * 2
    ),
    "pubmed-xml": "<S><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle>"
    "</Article></MedlineCitation></PubmedArticle></S>",
}
SCRAPS = st.sampled_from(
    [
        "",
        "{",
        "}",
        '"',
        "@",
        "\n",
        "\\",
        "[",
        "]",
        ",",
        "<",
        ">",
        "&",
        "- ",
        "TY  - ",
        "#",
        "=",
        "null",
        "and ",
    ]
) | st.text(max_size=3)


@pytest.mark.parametrize("format_id", list(WHOLE))
@settings(max_examples=examples(150))
@given(st.data())
def test_damaged_files_give_nothing_but_format_errors(format_id: str, data: st.DataObject) -> None:
    content = WHOLE[format_id]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(start + 6, len(content))))
        content = content[:start] + data.draw(SCRAPS) + content[end:]
    try:
        items = read(format_id, content.encode("utf-8", "surrogatepass"))
    except FormatError:
        return
    for item in items:
        assert isinstance(item, AnnotatedDocument | BadRecord)
        if isinstance(item, AnnotatedDocument):
            assert item.document.text and re.search(r"\S", item.document.text)
            json.dumps(item.document.fields)
