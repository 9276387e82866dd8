"""Entities as one tag a token (IOB1, IOB2, BILOU, IOBES), and the rows of Hugging Face token classification: tokens and ner_tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sciextract.documents.annotations import Entity, TokenRange
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats.base import Place, Source
from sciextract.formats.items import CorpusItems
from sciextract.formats.json_values import Record, key_of, unknown_fields
from sciextract.formats.scierc import sentences_at
from sciextract.text.tokenizer import from_token_lists

OUTSIDE = "O"
TAG = re.compile(r"O|[BIELSU](?:-.+)?")


class TaggedRange(NamedTuple):
    """Tokens of a sentence or document, and their label; empty for tags without one, such as ``B``."""

    tokens: TokenRange
    label: str


def tagged_ranges(tags: Sequence[str]) -> Iterator[TaggedRange]:
    """The entities of one sentence, for IOB1, IOB2, IOE, BILOU and IOBES alike.

    ``B``, ``S`` and ``U`` start an entity, and so does ``I``, ``E`` or ``L`` behind another label or
    outside; ``E``, ``L``, ``S`` and ``U`` end it. This is the rule of the CoNLL-2000 scorer (conlleval).
    """
    start, label = 0, None
    for index, tag in enumerate(tags):
        prefix, _, name = tag.partition("-")
        begins = prefix in "BSU" or (prefix in "IEL" and name != label)
        if label is not None and (prefix == OUTSIDE or begins):
            yield TaggedRange(TokenRange(start, index), label)
            label = None
        if begins:
            start, label = index, name
        if prefix in "ELSU":
            yield TaggedRange(TokenRange(start, index + 1), label or "")
            label = None
    if label is not None:
        yield TaggedRange(TokenRange(start, len(tags)), label)


def tags_of(length: int, ranges: Sequence[TaggedRange], first: int = 0) -> list[str]:
    """IOB2 tags of so many tokens from the ``first`` one on; ``ranges`` are apart."""
    tags = [OUTSIDE] * length
    for tokens, label in ((found.tokens, found.label) for found in ranges):
        inside = [f"I-{label}"] * (len(tokens) - 1)
        tags[tokens.token_start - first : tokens.token_end - first] = [f"B-{label}", *inside]
    return tags


def flat(
    sentence: Sequence[tuple[TokenRange, Entity]], losses: Counter[str]
) -> list[tuple[TokenRange, Entity]]:
    """The entities of a sentence that can stand next to each other, the longest first; the others are counted."""
    chosen: list[tuple[TokenRange, Entity]] = []
    taken: set[int] = set()
    for tokens, entity in sorted(sentence, key=lambda pair: (-len(pair[0]), pair[0].token_start)):
        covered = range(tokens.token_start, tokens.token_end)
        if taken.isdisjoint(covered):
            taken.update(covered)
            chosen.append((tokens, entity))
        else:
            losses["nested or overlapping entity"] += 1
    return chosen


TAG_COLUMNS = ("ner_tags", "tags", "labels", "ner")
"""What the column of tags is called, the usual name first."""


def tagged_document(
    record: Record, source: Source, number: int, *, column: str, names: Sequence[str] | None
) -> AnnotatedDocument:
    """A row of tokens and tags as a document of one sentence.

    Args:
        record: The row.
        source: Its file.
        number: Its line or number.
        column: The field with the tags.
        names: The tags by their numbers; ``None`` where the file does not say.

    Raises:
        FormatError: A field has a wrong shape, or a number has no tag.
    """
    key, key_field = key_of(record, source, number)
    place = Place(source.path, number, key)
    sentences = sentences_at([record.get("tokens") or []], place)
    text, tokens = from_token_lists(sentences)
    tags = []
    for value in record.get(column) or []:
        if type(value) is int and names is None:
            hint = "save the tags as strings, or with ClassLabel names"
            raise place.error(f"the class {value} has no name", field=column, hint=hint)
        if type(value) is int and names and value < len(names):
            # Negative classes stand for tokens that are not scored.
            value = names[value] if value >= 0 else OUTSIDE
        if not isinstance(value, str):
            allowed = "tags such as 'B-Task' or their numbers"
            raise place.unexpected(value, allowed, field=column)
        tags.append(value)
    if len(tags) != len(tokens):
        problem = f"{len(tags)} tags found; expected {len(tokens)}, one a token"
        raise place.error(problem, field=column)
    items = CorpusItems(place, source.provenance)
    for mention, label in tagged_ranges([_with_prefix(tag) for tag in tags]):
        items.entity([tokens.char_span(mention)], label)
    fields = unknown_fields(record, {key_field, "tokens", column}, place)
    return AnnotatedDocument(Document(key, text, tokens, fields), items.annotations())


def _with_prefix(tag: str) -> str:
    """The tag as IOB has it: one without a letter in front is a label of its own.

    >>> [_with_prefix(tag) for tag in ("B-Task", "Task", "X-ray", "B-", "O")]
    ['B-Task', 'I-Task', 'I-ray', 'O', 'O']
    """
    prefix, dash, label = tag.partition("-")
    if not dash or len(prefix) != 1:
        return OUTSIDE if tag in ("", OUTSIDE) else f"I-{tag}"
    if not label:
        return OUTSIDE
    return tag if prefix in "BIELSU" else f"I-{label}"
