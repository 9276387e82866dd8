"""Annotations in the JSON of other tools: spaCy's ``Doc.to_json``, PubAnnotation."""

from __future__ import annotations

from collections.abc import Iterator

from sciextract.documents.annotations import Entity, Span
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats.alignment import are_sound, token_table
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.items import CorpusItems
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    key_of,
    label_at,
    list_at,
    object_at,
    objects_at,
    string_at,
    unknown_fields,
)
from sciextract.text.offsets import CODE_POINTS, OffsetMap

_SPACY_FIELDS = frozenset({"text", "ents", "spans", "tokens", "sents", "cats", "_"})


def read_spacy_json(source: Source) -> Iterator[ReadItem]:
    """Read what ``Doc.to_json`` gives: one object a line, or a list of them.

    Entities are those of the span group ``sc``, else ``ents``, else those of the only span group.
    """
    return read_objects(source, _spacy_documents)


def _spacy_documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    text = string_at(record.get("text"), "text", place)
    items = CorpusItems(place, source.provenance)
    groups = object_at(record.get("spans") or {}, "spans", place)
    layers = {f"spans.{name}": listed for name, listed in groups.items()}
    layers["ents"] = record.get("ents")
    chosen = "spans.sc" if layers.get("spans.sc") else "ents"
    if not layers[chosen] and len(layers) == 2:
        chosen = next(iter(layers))
    known, offsets = set(), OffsetMap(text)

    def span_of(value: Record, field: str) -> Span:
        start, end = value.get("start"), value.get("end")
        return items.span_at(start, end, None, CODE_POINTS, offsets, field)

    for name in sorted(layers, key=lambda layer: layer != chosen):
        for value, field in items.objects(layers[name], name):
            with items.leaving_out():
                span = span_of(value, field)
                label = label_at(value.get("label"), f"{field}.label", place)
                if name == chosen:
                    items.entity([span], label)
                    known.add((span, label))
                    linked = bool(value.get("kb_id"))
                    items.unread["link of an entity to a knowledge base"] += linked
                elif (span, label) not in known:
                    items.unread[f"entity of {name} that is not in {chosen}"] += 1
    items.unread["category of the document"] += len(record.get("cats") or ())
    items.unread["user data of spaCy"] += bool(record.get("_"))

    def spans_of(name: str) -> list[Span]:
        spans = [span_of(*item) for item in objects_at(record.get(name), name, place)]
        return spans if are_sound(spans) else []

    fields = unknown_fields(record, {key_field, *_SPACY_FIELDS}, place)
    tokens = spans_of("tokens")
    items.bare_offsets = not tokens
    table = token_table(text, tokens, spans_of("sents"), items.spans)
    yield items.annotate(Document(key, text, table, fields))


_PUBANNOTATION_FIELDS = {
    *("text", "denotations", "relations", "attributes"),
    *("modifications", "blocks", "tracks", "namespaces"),
}


def read_pubannotation(source: Source) -> Iterator[ReadItem]:
    """Read PubAnnotation JSON: one document, a list of them, or one a line; of several tracks all items."""
    return read_objects(source, _pubannotation_documents)


def _pubannotation_documents(
    record: Record, source: Source, line: int
) -> Iterator[AnnotatedDocument]:
    key, key_field = key_of(record, source, line)
    names = [str(record[field]) for field in ("sourcedb", "sourceid", "divid") if record.get(field)]
    key = key if key_field else ":".join(names) or key
    place = Place(source.path, line, key)
    text = string_at(record.get("text"), "text", place)
    items = CorpusItems(place, source.provenance)
    offsets = OffsetMap(text)
    for track, field in [(record, ""), *objects_at(record.get("tracks"), "tracks", place)]:
        _add_track(items, track, f"{field}." if field else "", offsets, place)
    fields = unknown_fields(record, {key_field, *_PUBANNOTATION_FIELDS}, place)
    if record.get("sourcedb") == "PubMed" and record.get("sourceid"):
        fields["pmid"] = str(record["sourceid"])
    yield items.document(text, fields)


def _add_track(
    items: CorpusItems, track: Record, prefix: str, offsets: OffsetMap, place: Place
) -> None:
    by_id: dict[str, Entity] = {}
    for value, field in items.objects(track.get("denotations"), f"{prefix}denotations"):
        with items.leaving_out():
            # A mention of several fragments has a list.
            given = value.get("span")
            given = given if isinstance(given, list) else [given]
            parts = objects_at(given, f"{field}.span", place)
            spans = {
                items.span_at(part.get("begin"), part.get("end"), None, CODE_POINTS, offsets, where)
                for part, where in parts
            }
            label = value.get("obj") or ""
            entity = items.entity(sorted(spans), string_at(label, f"{field}.obj", place))
            by_id.setdefault(str(value.get("id")), entity)
    listed = track.get("relations")
    items.read_relations(listed, f"{prefix}relations", ("subj", "obj"), "pred", by_id)
    for kind in ("attributes", "modifications", "blocks"):
        listed = list_at(track.get(kind), f"{prefix}{kind}", place)
        items.unread[f"{kind.rstrip('s')} of pubannotation"] += len(listed)
