"""displaCy HTML: what is shown, and that nothing hostile gets into the markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from tests.tiers import examples

pytest.importorskip("spacy")

from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import Annotations, Entity, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.interop.spacy_docs import render_html
from sciextract.text.analyse import make_document
from tests.unit.interop.builders import sample

ALLOWED_TAGS = {"!doctype", "html", "head", "title", "body", "figure", "div", "span", "br"}
ALLOWED_ATTRIBUTES = {"lang", "style", "class", "dir"}


class _Found(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def _parsed(markup: str) -> _Found:
    found = _Found()
    found.feed(markup)
    found.close()
    return found


def _words(text: str) -> str:
    return "".join(text.split())


def test_nested_entities_and_their_labels_are_shown() -> None:
    markup = render_html(sample())
    text = _words(_parsed(markup).text)
    assert "Ourparser" in text.replace("Method", "")
    assert markup.count("Method") == 2 and markup.count("Generic") == 1
    assert markup.startswith("<!DOCTYPE html>")
    assert not render_html(sample(), page=False).startswith("<!DOCTYPE")


def test_rejected_entities_are_not_shown() -> None:
    assert _parsed(render_html(sample())).text.count("Task") == 1


def test_colours_come_from_the_schema() -> None:
    schema = load_schema("scierc")
    assert schema.entity("Method").colour in render_html(sample(), schema=schema)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "'><svg onload=alert(1)>",
        "&lt;b&gt; {bg} {0} %s",
        "</span></div><script>",
        "<!-- ",
        "\x1b[31mred\x07\x9b",
        "\u202etxet",
    ],
)
def test_hostile_text_and_labels_stay_text(hostile: str) -> None:
    entities = (Entity("E1", (Span(0, len(hostile)),), hostile),)
    text = f"{hostile} and {hostile}"
    markup = render_html(AnnotatedDocument(make_document(hostile, text), Annotations(entities)))
    found = _parsed(markup)
    assert found.tags <= ALLOWED_TAGS and found.attributes <= ALLOWED_ATTRIBUTES
    assert not set("\x1b\x07\x9b\u202e") & set(markup)
    if hostile.isprintable():
        assert _words(found.text).count(_words(hostile)) >= 2


@settings(max_examples=examples(40), deadline=None)
@given(
    st.text(st.one_of(st.sampled_from("<>&\"'{}!-/ a\x1b"), st.characters()), max_size=30),
    st.text(),
)
def test_no_tag_ever_comes_from_the_document(text: str, label: str) -> None:
    spans = (Span(0, len(text)),)
    entities = (Entity("E1", spans, label),) if text else ()
    found = _parsed(render_html(AnnotatedDocument(make_document("a", text), Annotations(entities))))
    assert found.tags <= ALLOWED_TAGS and found.attributes <= ALLOWED_ATTRIBUTES


def test_an_empty_document() -> None:
    assert "<html" in render_html(AnnotatedDocument(make_document("a", "")))
