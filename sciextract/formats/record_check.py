"""What is looked at in every record, whatever its format: placeholders, missing and overlong abstracts, annotations not read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import BadRecord, ReadItem, list_names
from sciextract.formats.markup import plain_text
from sciextract.text.analyse import make_document

NO_ABSTRACT = "the record has no abstract: its text is the title only"
_LONGEST_ABSTRACT = 20_000

_GIVEN = r"(?:available|provided|given|found|supplied|applicable|present|entered)"
_THIS = r"this\ (?:article|paper|record|item|document|publication|title|entry)"
_PLACEHOLDER = re.compile(
    rf"""\W*(?:n\s?[./]?\s?a|nan|na_character_|null|none|nil|undefined|unknown|missing|unavailable|tb[ad]
    |not\ (?:yet\ )?{_GIVEN}
    |(?:there\ is\ |{_THIS}\ has\ )?no\ (?:abstract|summary|description|title)s?(?:\ (?:is\ |was\ )?(?:yet\ )?{_GIVEN})?(?:\ (?:for|of|in)\ {_THIS})?
    |(?:abstract|summary|title)(?:\ (?:is\ |was\ )?(?:not\ (?:yet\ )?{_GIVEN}|unavailable|missing))?
    )?\W*""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_PLACEHOLDER = 60


def is_placeholder(text: str) -> bool:
    """Whether a text says that there is none, or is punctuation only.

    >>> is_placeholder("[No abstract available]"), is_placeholder("N/A"), is_placeholder(".")
    (True, True, True)
    >>> is_placeholder("None of the sheets folds."), is_placeholder("NaCl")
    (False, False)
    """
    return len(text) <= _LONGEST_PLACEHOLDER and _PLACEHOLDER.fullmatch(text) is not None


def given_text(text: str) -> str:
    """A title or an abstract without markup; empty where it is a placeholder."""
    text = plain_text(text)
    return "" if is_placeholder(text) else text


def document_of(
    doc_key: str,
    text: str,
    fields: Mapping[str, Any],
    title_length: int,
    warnings: tuple[str, ...] = (),
) -> AnnotatedDocument:
    """The document of a record without annotations; one whose text is its title only gets a warning."""
    if 0 < len(text) == title_length:
        names = [
            name
            for name, value in fields.items()
            if value and value != text and _may_be_abstract(name, value)
        ]
        more = f"; not read: {list_names(names)}" if names else ""
        warnings = (*warnings, NO_ABSTRACT + more)
    document = make_document(doc_key, text, fields, title_length=title_length)
    return AnnotatedDocument(document, warnings=warnings)


_ABSTRACT_NAME = re.compile(r"(?i)abstract|summary|synopsis|descri|tl_?dr|zusammenfassung|r[eé]sum")
_OTHER_NAME = re.compile(r"(?i)author|affil|address|refer|cit|fund|keyword|note|url|link|copyright")
_SHORTEST_PROSE = 150
_SENTENCE_END = re.compile(r"[^\W\d_]{3,}[\])\"”]?[.!?] +\w|[。！？]")


def _may_be_abstract(name: str, value: object) -> bool:
    is_prose = isinstance(value, str) and len(value) >= _SHORTEST_PROSE
    is_prose = is_prose and _SENTENCE_END.search(str(value)) is not None
    return bool(_ABSTRACT_NAME.search(name)) or (is_prose and not _OTHER_NAME.search(name))


@dataclass(frozen=True, slots=True)
class CheckedParser:
    """A parser of single records whose documents are checked; picklable, and equal to its copies, where ``parse`` is."""

    parse: Callable[..., AnnotatedDocument]

    def __call__(self, *record: Any) -> AnnotatedDocument:
        return check(self.parse(*record))


def check_item(item: ReadItem) -> ReadItem:
    """An item of a reader, with what is to be said of it."""
    return item if isinstance(item, BadRecord) else check(item)


def check(item: AnnotatedDocument) -> AnnotatedDocument:
    """The document with warnings about its length and about fields that look like annotations."""
    document, warnings = item.document, []
    names = [
        name
        for name, value in document.fields.items()
        if _names_annotations(name) and value and _holds_items(value)
    ]
    if names:
        warnings.append(f"not read, although they look like annotations: {list_names(names)}")
    if len(document.text) > _LONGEST_ABSTRACT and not item.annotations.entities:
        warnings.append(f"a text of {len(document.text):,} characters is hardly an abstract")
    # Exchange records bring the warnings of their first reading along.
    new = [warning for warning in warnings if warning not in item.warnings]
    return replace(item, warnings=(*item.warnings, *new)) if new else item


_ANNOTATIONS = re.compile(
    r"(?i)(?:.*[_.-])?(?:ents|entit(?:y|ies)|(?:char)?spans?|labels?|annotations?|predictions?|completions?|suggestions"
    r"|responses|denotations|relations|rels|triples?|mentions|vertexset|clusters|coref(?:erences?)?|events|extractions"
    r"|(?:ner|bio|iob)(?:[_-]?tags)?)"
)


@cache
def _names_annotations(name: str) -> bool:
    return _ANNOTATIONS.fullmatch(name) is not None


def _holds_items(value: object) -> bool:
    """Whether a value has a structure, also as JSON in a cell; words for the whole document are no annotations."""
    if isinstance(value, str):
        return value.startswith(("[{", "[[", "[(", '{"'))
    is_list = isinstance(value, list) and not isinstance(value[0], str | None)
    return is_list or isinstance(value, dict)
