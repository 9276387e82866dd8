"""Mentions that cut words all over a file: their offsets count something else than characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TypeGuard

from sciextract.documents.annotations import Entity, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem
from sciextract.formats.items import title_length_of
from sciextract.text.analyse import analyse
from sciextract.text.offsets import CODE_POINTS, UNITS, OffsetMap, Unit, cuts_word

_SAMPLE = 20
_MOST_WAITING = 200


def with_fitting_offsets(items: Iterable[ReadItem]) -> Iterator[ReadItem]:
    """The items of a file; where the mentions of most cut words, with the offsets in the only unit in which none does.

    The first annotated documents decide, and wait until there are enough of them.
    """
    items, waiting = iter(items), list[ReadItem]()
    annotated: list[AnnotatedDocument] = []
    failure: FormatError | None = None
    try:
        while len(annotated) < _SAMPLE and len(waiting) < _MOST_WAITING:
            if (item := next(items, None)) is None:
                break
            if _is_annotated(item):
                annotated.append(item)
            if annotated:
                waiting.append(item)
            else:
                yield item
    except FormatError as error:
        failure = error
    unit, remark = _unit_of(annotated)
    del annotated
    for item in chain(_take_all(waiting), items):
        yield _mend(item, unit, remark) if remark and _is_annotated(item) else item
    if failure is not None:
        raise failure


def _take_all(waiting: list[ReadItem]) -> Iterator[ReadItem]:
    """Each from the front, so that none is kept longer than needed."""
    while waiting:
        yield waiting.pop(0)


def _is_annotated(item: ReadItem) -> TypeGuard[AnnotatedDocument]:
    """Whether an item has mentions whose reader could not tell what their offsets count."""
    if isinstance(item, BadRecord) or not item.bare_offsets:
        return False
    return bool(item.annotations.entities)


def _unit_of(documents: Sequence[AnnotatedDocument]) -> tuple[Unit, str]:
    """What the offsets of a file count, and a remark where that is not characters or not known."""
    cut = sum(_cuts_words(item.document.text, item.annotations.entities) for item in documents)
    if 2 * cut <= len(documents):
        return CODE_POINTS, ""
    found: dict[tuple[object, ...], Unit] = {}
    for unit in UNITS[1:]:
        read = [_entities_in(unit, item) for item in documents]
        texts = [item.document.text for item in documents]
        if all(read) and all(map(_fits, texts, read)):
            found.setdefault(tuple(read), unit)
    share = f"read as characters, mentions in {cut} of {len(documents)} records cut words"
    if len(found) != 1:
        return CODE_POINTS, f"{share}: their offsets may count something else"
    [unit] = found.values()
    return unit, f"{unit.remark} ({share})"


def _mend(item: AnnotatedDocument, unit: Unit, remark: str) -> AnnotatedDocument:
    document, given = item.document, item.annotations
    entities = _entities_in(unit, item)
    if unit is CODE_POINTS or not entities:
        is_odd = _cuts_words(document.text, given.entities)
        return replace(item, warnings=(*item.warnings, remark)) if is_odd else item
    if entities == given.entities:
        return item
    title_length = title_length_of(document.text, document.fields)
    spans = [entity.span for entity in entities]
    tokens = analyse(document.text, spans, title_length=title_length)
    return replace(
        item,
        document=replace(document, tokens=tokens),
        annotations=replace(given, entities=entities),
        warnings=(*item.warnings, remark),
    )


def _entities_in(unit: Unit, item: AnnotatedDocument) -> tuple[Entity, ...]:
    """The entities with the offsets that were read as characters taken for those of a unit; none where they are not."""
    offsets, entities = OffsetMap(item.document.text), []
    with suppress(FormatError):
        for entity in item.annotations.entities:
            fragments = []
            for span in entity.fragments:
                start, end = (offsets.from_unit(unit, edge) for edge in span)
                if start >= end:
                    return ()
                fragments.append(Span(start, end))
            entities.append(replace(entity, fragments=tuple(fragments)))
        return tuple(entities)
    return ()


def _cuts_words(text: str, entities: Iterable[Entity]) -> bool:
    spans = chain.from_iterable(entity.fragments for entity in entities)
    return any(cuts_word(text, edge) for edge in chain.from_iterable(spans))


def _fits(text: str, entities: Sequence[Entity]) -> bool:
    mentions = [span.of(text) for entity in entities for span in entity.fragments]
    return not _cuts_words(text, entities) and mentions == [*map(str.strip, mentions)]
