"""Markup in titles and abstracts as running text: XML elements, and strings that hold tags and entities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import unescape
from itertools import pairwise
from xml.etree.ElementTree import Element, TreeBuilder

from sciextract.formats.safe_xml import local_name

#: Notes, their marks, and the second notation of a formula are no part of the running text.
_SKIPPED = {
    *("fn", "fn-group", "xref", "tex-math", "annotation"),
    *("object-id", "label", "fig", "table-wrap"),
}
_HEADINGS = {"title", "h1", "h2", "h3", "h4", "h5", "h6"}
_EMPTY = {"br", "break", "hr"}
_BLOCKS = _EMPTY | {
    *("p", "sec", "list", "list-item", "disp-formula", "div", "section"),
    *("ul", "ol", "li", "tr", "td", "th"),
}
_ABSTRACT = {"abstract", "summary", "zusammenfassung", "résumé", "resumen", "resumo", "riassunto"}
_PREFIXES = {"jats", "mml"}
_INLINE = re.compile(
    "[abiu]|em|strong|su[bp]|inf|italic|bold|underline|roman|monospace|sc|small|big|tt|font|span|abstract|table|tbody"
    "|blockquote|inline-formula|alternatives|ext-link|(?:styled|named)-content|semantics"
    "|m(?:ath|row|[ions]|su[bp]|subsup|frac|text|space|sqrt|root|over|under|underover|fenced|table|t[rd]|style|padded)"
)
# Behind a heading, which is left out where no text follows; XML cannot hold this character.
_MARK = "\x1f"
_SINGLE_TERM = re.compile(r"[\w.,]*")


def running_text(element: Element) -> str:
    """The text below an element on one line, sections as ``HEADING: text``, without the heading of the whole."""
    lines = "".join(_pieces(element, [*_own_headings(element)])).split("\n")
    blocks = [block for line in lines if (block := line.strip(" \t\r"))]
    kept = [
        block
        for block, following in pairwise([*blocks, _MARK])
        if not (block.endswith(_MARK) and following.endswith(_MARK))
    ]
    return " ".join(kept).replace(_MARK, "")


def texts_of(elements: Iterable[Element]) -> list[str]:
    return [text for element in elements if (text := running_text(element))]


def first_text(element: Element, *paths: str) -> str:
    """The running text at the first of some paths where there is any; "" for none."""
    found = (inner for path in paths if (inner := element.find(path)) is not None)
    return next(filter(None, map(running_text, found)), "")


def _own_headings(element: Element) -> Iterator[Element]:
    titles = [child for child in element if local_name(child) in _HEADINGS]
    # Of a heading that says more than "Abstract" nobody knows that it heads the whole.
    if titles and running_text(titles[0]).lower().rstrip(":. ") in _ABSTRACT:
        yield titles[0]


def _pieces(element: Element, left_out: list[Element]) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = local_name(child)
        line_end = "\n" if name in _BLOCKS or name in _HEADINGS else ""
        yield line_end
        if name == "mfrac" and _are_terms(child):
            terms = [running_text(term) for term in child]
            yield "/".join([t if _SINGLE_TERM.fullmatch(t) else f"({t})" for t in terms])
        elif name in _HEADINGS and child not in left_out:
            heading = running_text(child).removesuffix(":")
            yield f"{heading}:{_MARK}" if heading else ""
        elif name not in _SKIPPED and name not in _HEADINGS:
            yield from _pieces(child, left_out)
        yield line_end + (child.tail or "")


def _are_terms(fraction: Element) -> bool:
    """Whether it is numerator and denominator and nothing else, as broken markup may have it."""
    between = [fraction.text, *(term.tail for term in fraction)]
    return len(fraction) == 2 and not any(text and text.strip() for text in between)


_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_ATTRIBUTE = r"""\s++[\w:.-]++\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=]++)"""
_TAG = re.compile(
    rf"<(?P<end>/?)(?:(?P<prefix>\w{{1,9}}):)?(?P<name>[A-Za-z][A-Za-z0-9-]{{0,19}})(?>(?:{_ATTRIBUTE})*)\s*+(?P<empty>/?)>"
)
_DEEPEST = 40
_OFTEN_ESCAPED = 3


def plain_text(text: str) -> str:
    """A string without the tags of HTML, JATS and MathML, its entities as characters.

    A tag counts where its other half stands as well, or where it can have none: any other ``<`` is text.

    >>> plain_text("<p>CO<sub>2</sub> if a<b, p &lt; 0.05 and <i>n</i> > 3.<br/>R&amp;amp;D</p>")
    'CO2 if a<b, p < 0.05 and n > 3. R&D'
    """
    for _ in range(_OFTEN_ESCAPED):
        if "&" in text and ";" in text:
            text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    tags = [*_TAG.finditer(text)] if "<" in text else []
    if not tags:
        return text
    first = {_name(tag): tag.start() for tag in reversed(tags) if not tag["end"]}
    last = {_name(tag): tag.start() for tag in tags if tag["end"]}
    builder, position, opened = TreeBuilder(), 0, ["abstract"]
    builder.start("abstract", {})
    for tag in tags:
        name, has_prefix = _name(tag), tag["prefix"] in _PREFIXES
        is_empty = bool(tag["empty"]) or name in _EMPTY
        is_end = bool(tag["end"])
        other = first.get(name, len(text)) if is_end else last.get(name, -1)
        is_paired = other < tag.start() if is_end else other > tag.start()
        if not (has_prefix or (_is_known(name) and (is_paired or is_empty))):
            continue
        builder.data(text[position : tag.start()])
        position = tag.end()
        if is_empty:
            builder.start(name, {})
            builder.end(name)
        elif not is_end and is_paired and len(opened) < _DEEPEST:
            builder.start(name, {})
            opened.append(name)
        elif is_end and name in opened[1:]:
            while (inner := opened.pop()) != name:
                builder.end(inner)
            builder.end(name)
    if not position:
        return text
    builder.data(text[position:])
    for name in reversed(opened):
        builder.end(name)
    root = builder.close()
    # Line ends are layout only where blocks stand for lines.
    has_blocks = any(element.tag in _BLOCKS | _HEADINGS for element in root.iter())
    if not has_blocks:
        return "".join(_pieces(root, []))
    # The heading of the whole may stand in an element around all of it; a title may be nothing but a heading.
    while len(root) == 1 and not "".join(filter(None, (root.text, root[0].tail))).strip():
        root = root[0]
    return running_text(root)


@cache
def _is_known(name: str) -> bool:
    return name in _SKIPPED | _HEADINGS | _BLOCKS or _INLINE.fullmatch(name) is not None


def _name(tag: re.Match[str]) -> str:
    return tag["name"].lower()
