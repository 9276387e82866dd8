"""XML is streamed; what is hostile or broken is refused with its place, after what was good."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest

from sciextract.errors import FormatError, InputMissingError
from sciextract.formats.base import Source
from sciextract.formats.safe_xml import LOSS, local_name, numbered_elements, parse, xml_safe

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY lol "lol">
 <!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
]>
<set><a>&lol2;</a></set>"""


def source(folder: Path, content: str | bytes) -> Source:
    path = folder / "file.xml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Source(str(path))


def iter_elements(file: Source, tag: str) -> Iterator[Element]:
    return (element for _, element in numbered_elements(file, {tag}))


def until_error(elements: Iterator[Element]) -> tuple[list[str], FormatError]:
    texts = []
    with pytest.raises(FormatError) as caught:
        for element in elements:
            texts.append("".join(element.itertext()))
    return texts, caught.value


def test_elements_come_complete_with_attributes_and_mixed_text(tmp_path: Path) -> None:
    xml = '<set><a id="1">x <i>y</i> z</a>between<b>no</b><a id="2"/></set>'
    first, second = iter_elements(source(tmp_path, xml), "a")
    assert first.attrib == {"id": "1"} and "".join(first.itertext()) == "x y z"
    assert first.tail is None
    assert second.attrib == {"id": "2"} and second.text is None


def test_names_keep_their_namespace_and_are_found_without_it(tmp_path: Path) -> None:
    xml = '<f xmlns="urn:one" xmlns:o="urn:two"><e o:k="v"><o:t>x</o:t></e></f>'
    (entry,) = iter_elements(source(tmp_path, xml), "e")
    assert entry.tag == "{urn:one}e" and local_name(entry) == "e"
    assert entry.attrib == {"{urn:two}k": "v"}
    assert entry.findtext("{urn:two}t") == "x"
    assert parse(source(tmp_path, xml)).tag == "{urn:one}f"


def test_of_nested_elements_of_one_name_the_outermost_is_given(tmp_path: Path) -> None:
    (outer,) = iter_elements(source(tmp_path, "<r><a>1<a>2</a>3</a></r>"), "a")
    assert "".join(outer.itertext()) == "123"


def test_several_names_come_in_file_order_with_their_lines(tmp_path: Path) -> None:
    xml = "<r>\n<a/>\n\n<b>\n</b><a\n/></r>"
    found = [
        (line, element.tag) for line, element in numbered_elements(source(tmp_path, xml), "ab")
    ]
    assert found == [(2, "a"), (4, "b"), (5, "a")]


@pytest.mark.parametrize("before", ["\n\n", "\n \n\ufeff", "\ufeff\ufeff\n\n", "ï»¿\n\n "])
def test_blanks_and_marks_before_the_declaration_are_skipped(tmp_path: Path, before: str) -> None:
    content = f'{before}<?xml version="1.0"?><set><a>x</a>\n<b>'
    elements = numbered_elements(source(tmp_path, content), {"a"})
    assert next(elements)[0] == 3
    with pytest.raises(FormatError) as caught:
        next(elements)
    assert caught.value.line == 4


def test_the_root_itself_can_be_asked_for(tmp_path: Path) -> None:
    assert [e.tag for e in iter_elements(source(tmp_path, "<a><b/></a>"), "a")] == ["a"]
    assert list(iter_elements(source(tmp_path, "<a><b/></a>"), "c")) == []


def test_comments_instructions_and_sections_do_not_split_text(tmp_path: Path) -> None:
    xml = "<r>one<!-- no --> two<?no no?><![CDATA[ <three>]]> &lt;&#945;&gt;</r>"
    assert parse(source(tmp_path, xml)).text == "one two <three> <α>"


def test_a_doctype_without_entities_is_no_reason_to_refuse(tmp_path: Path) -> None:
    xml = '<?xml version="1.0" ?>\n<!DOCTYPE s PUBLIC "-//X//Y" "https://example.org/x.dtd">\n<s>x</s>'
    assert parse(source(tmp_path, xml)).text == "x"
    inside = "<!DOCTYPE s [<!ELEMENT s (#PCDATA)><!ATTLIST s k CDATA #IMPLIED>]><s>x</s>"
    assert parse(source(tmp_path, inside)).text == "x"


@pytest.mark.parametrize(
    ("xml", "line", "words"),
    [
        (LAUGHS, 3, "declares the entity 'lol'"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', 1, "entity 'x'"),
        ('<!DOCTYPE a [<!ENTITY % p SYSTEM "http://example.org/p">%p;]><a/>', 1, "entity 'p'"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "x.gif" NDATA gif>]><a/>', 1, "entity 'x'"),
        ('<!DOCTYPE a SYSTEM "a.dtd">\n<a>&nbsp;</a>', 2, "entity 'nbsp' is not defined"),
        ("<a>\n&nbsp;</a>", 2, "undefined entity"),
        ('<!DOCTYPE a [<!ATTLIST a k CDATA "long">]>\n<a/>', 1, "a default for the attribute 'k'"),
    ],
)
def test_entities_and_defaults_are_refused(tmp_path: Path, xml: str, line: int, words: str) -> None:
    for read in (parse, lambda source: list(iter_elements(source, "a"))):
        with pytest.raises(FormatError, match=words) as caught:
            read(source(tmp_path, xml))
        assert caught.value.line == line and caught.value.column is not None


@pytest.mark.parametrize(
    ("tail", "line", "column", "words"),
    [
        (b"<a>third", 4, 9, "the file ends inside the element 'a'"),
        (b"", 4, 1, "the file ends inside the element 'set'"),
        (b"<a>third</b></set>", 4, 11, "mismatched tag"),
        (b"<a>caf\xe9</a></set>", 4, 7, "invalid token"),
        (b"<a>\x01</a></set>", 4, 4, "invalid token"),
        (b"<a k=1/></set>", 4, 6, "not well-formed"),
        (b"</set><set/>", 4, 7, "junk after document element"),
    ],
)
def test_what_is_good_before_a_fault_is_given_first(
    tmp_path: Path, tail: bytes, line: int, column: int, words: str
) -> None:
    good = b"<set>\n<a>first</a>\n<a>second</a>\n"
    texts, error = until_error(iter_elements(source(tmp_path, good + tail), "a"))
    assert texts == ["first", "second"]
    assert (error.line, error.column) == (line, column)
    assert words in error.problem and error.path.endswith("file.xml")


def test_a_wrong_encoding_tells_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        parse(source(tmp_path, "<a>é</a>".encode("latin1")))
    assert "iconv" in caught.value.hint
    with pytest.raises(FormatError) as caught:
        parse(source(tmp_path, "<a>é & b</a>"))
    assert not caught.value.hint


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin1", "cp1252"])
def test_the_encoding_that_a_file_names_is_used(tmp_path: Path, encoding: str) -> None:
    named = encoding.removesuffix("-sig")
    xml = f'<?xml version="1.0" encoding="{named}"?>\n<a>café\n</a>'
    assert parse(source(tmp_path, xml.encode(encoding))).text == "café\n"


@pytest.mark.parametrize("encoding", ["klingon", "gbk", "rot13"])
def test_an_encoding_that_cannot_be_read_is_an_error(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(FormatError, match="encoding") as caught:
        parse(source(tmp_path, f'<?xml version="1.0" encoding="{encoding}"?><a/>'))
    assert caught.value.line == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b" \n", "broken XML"), (b"\x1f\x8b\x08", "gzip"), (b"text", "broken XML")],
)
def test_what_is_no_xml_is_said(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        parse(source(tmp_path, content))


def test_a_missing_file_is_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError):
        parse(Source(str(tmp_path / "absent.xml")))


def test_huge_nesting_is_refused_with_its_place(tmp_path: Path) -> None:
    content = "<a>\n" * 100_000 + "</a>" * 100_000
    with pytest.raises(FormatError, match="deeper than 200 levels") as caught:
        parse(source(tmp_path, content))
    assert caught.value.line == 201


@pytest.mark.parametrize("end", ["\n", ""])
def test_memory_stays_behind(tmp_path: Path, end: str) -> None:
    record = "<a><b>" + "x" * 1000 + "</b></a>" + end
    file = source(tmp_path, "<set>" + record * 3000 + "</set>")
    count = 0
    tracemalloc.start()
    try:
        for _ in iter_elements(file, "a"):
            count += 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 3000
    one_line = 0 if end else 3_100_000
    assert peak < 1_000_000 + 2 * one_line


@pytest.mark.parametrize(
    ("text", "safe", "count"),
    [
        ("a\tb\r\nc", "a\tb\r\nc", 0),
        ("\x00\x1b\x0b", "␀␛␋", 3),
        ("\ud800\ufffe\uffff", "\ufffd" * 3, 3),
        ("\x85\u2028😀\x9b", "\x85\u2028😀\x9b", 0),
    ],
)
def test_characters_that_xml_cannot_hold(text: str, safe: str, count: int) -> None:
    losses: Counter[str] = Counter()
    assert xml_safe(text, losses) == safe
    assert losses[LOSS] == count
    assert len(safe) == len(text)
