"""UIMA CAS, written as XMI and JSON, and JSON read; :mod:`~sciextract.formats.xmi` reads XMI.

The layers that are written are those of INCEpTION's project template "basic annotation" (``custom.Span`` and
``custom.Relation`` with the feature ``label``) and DKPro Core's coreference chains, so that INCEpTION imports them.
CAS JSON is what INCEpTION and dkpro-cassis write; one object is one document, and layers mean the same as in XMI.
Reading does not go through ``dkpro-cassis``, for the same reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cassis

from sciextract.documents.annotations import NOT_REJECTED, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import Record, object_at, objects_at
from sciextract.formats.layers import (
    encodable,
    entities_in_text,
    fitting_mentions,
    fitting_relations,
)
from sciextract.formats.safe_xml import xml_safe
from sciextract.formats.sink import FolderWriter
from sciextract.formats.xmi import (
    CHAIN,
    INITIAL_VIEW,
    LINK,
    METADATA,
    RELATION_LAYER,
    SENTENCE,
    SPAN_LAYER,
    TOKEN,
    Cas,
    CasReading,
    GivenStructure,
    TypeSystem,
    find_type_system,
)

Safe = Callable[[str, Counter[str]], str]
"""Replaces the characters of a text that a file cannot hold, and counts them."""

_ANNOTATION = "uima.tcas.Annotation"
_STRING = "uima.cas.String"
_DOCUMENT = "uima.tcas.DocumentAnnotation"
_TYPES: dict[str, tuple[str, dict[str, str]]] = {
    METADATA: (_DOCUMENT, {"documentId": _STRING, "documentTitle": _STRING}),
    TOKEN: (_ANNOTATION, {}),
    SENTENCE: (_ANNOTATION, {}),
    SPAN_LAYER: (_ANNOTATION, {"label": _STRING}),
    RELATION_LAYER: (
        _ANNOTATION,
        {"Governor": SPAN_LAYER, "Dependent": SPAN_LAYER, "label": _STRING},
    ),
    LINK: (_ANNOTATION, {"next": LINK, "referenceType": _STRING, "referenceRelation": _STRING}),
    CHAIN: ("uima.cas.AnnotationBase", {"first": LINK}),
}
"""By type what it is made from, and its features with their types."""


class XmiWriter(FolderWriter):
    """Writes ``KEY.xmi`` for each document, and ``TypeSystem.xml``.

    A span has one range in UIMA, so discontinuous entities are lost and counted, with the relations and
    mentions that hang on them. Characters that XML cannot hold become visible ones and are counted.
    """

    def __init__(self, destination: Path | str) -> None:
        """Write into a folder that is new or empty.

        Raises:
            OutputError: It holds files, or cannot be made.
        """
        super().__init__(destination)
        self._save("TypeSystem.xml", _type_system().to_xml())

    def write(self, document: AnnotatedDocument) -> None:
        """Write one document to a file of its own.

        Raises:
            OutputError: An entity lies outside the text, or the disk is full.
        """
        cas = CasBuilder(document, self.losses).cas
        name = self._names.name_of(document.document.doc_key)
        self._save(f"{name}.xmi", cas.to_xmi())


@cache
def _type_system() -> cassis.TypeSystem:
    types = cassis.TypeSystem()
    for name, (supertype, _) in _TYPES.items():
        types.create_type(name, supertype)
    for name, (_, features) in _TYPES.items():
        for feature, range_type in features.items():
            types.create_feature(name, feature, range_type)
    return types


class CasBuilder:
    """Puts one document into a CAS; code-point offsets become UTF-16 units when it is written."""

    def __init__(
        self, document: AnnotatedDocument, losses: Counter[str], safe: Safe = xml_safe
    ) -> None:
        self._losses = losses
        self._make_safe = safe
        self._types = _type_system()
        self._text = self._safe(document.document.text)
        self.cas = cassis.Cas(self._types)
        self.cas.sofa_string = self._text
        self.cas.sofa_mime = "text"
        key = self._safe(document.document.doc_key)
        about = {"documentId": key, "documentTitle": key, "language": "x-unspecified"}
        self._add(METADATA, Span(0, len(self._text)), **about)
        tokens = document.document.tokens
        for sentence in tokens.sentences:
            self._add(SENTENCE, tokens.char_span(sentence))
        for span in tokens.spans:
            self._add(TOKEN, span)
        spans: dict[str, Any] = {}
        for entity in entities_in_text(document):
            if len(entity.fragments) > 1:
                self._losses["discontinuous entity"] += 1
                continue
            label = self._safe(entity.label)
            spans[entity.id] = self._add(SPAN_LAYER, entity.span, label=label or None)
        annotations = document.annotations.in_states(NOT_REJECTED)
        for head, tail, relation in fitting_relations(annotations, spans, self._losses):
            features = {"Governor": head, "Dependent": tail, "label": self._safe(relation.label)}
            self._add(RELATION_LAYER, Span(tail.begin, tail.end), **features)
        for cluster in annotations.clusters:
            # Each link knows the next one, so they are made from the last to the first.
            link = None
            for mention in reversed(fitting_mentions(cluster, spans, self._losses)):
                place = Span(mention.begin, mention.end)
                link = self._add(LINK, place, next=link, referenceType=mention.label)
            if link is not None:
                self.cas.add(self._types.get_type(CHAIN)(first=link))

    def _safe(self, text: str) -> str:
        return self._make_safe(text, self._losses)

    def _add(self, type_name: str, span: Span, **features: Any) -> Any:
        made = self._types.get_type(type_name)(begin=span.char_start, end=span.char_end, **features)
        self.cas.add(made)
        return made


_SOFA = "uima.cas.Sofa"
_OWN_TYPES = "uima.cas."
_STRINGS = "uima.cas.StringArray"


def read_cas_json(source: Source) -> Iterator[ReadItem]:
    """Read the document of a CAS; types come from the file, else from a type system next to it.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """

    def documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
        place = Place(source.path, line)
        cas = _cas_of(record, place)
        supertypes, features = {}, {}
        given = record.get("%TYPES")
        declared = {} if given is None else object_at(given, "%TYPES", place)
        for name, value in declared.items():
            description = object_at(value, f"%TYPES.{quoted(name)}", place)
            supertypes[name] = _string_of(description.get("%SUPER_TYPE"))
            features[name] = tuple(
                feature
                for feature, range_ in description.items()
                if isinstance(range_, dict) and range_.get("%RANGE") == "uima.cas.String"
            )
        types = TypeSystem(supertypes, features)
        if not supertypes:
            types = find_type_system(source, {each.type_name for each in cas.structures.values()})
        yield CasReading(cas, types, source, place).document()

    return read_objects(source, documents)


def _cas_of(record: Record, place: Place) -> Cas:
    """The content of a CAS in JSON."""
    name = "%FEATURE_STRUCTURES"
    listed = [each for each, _ in objects_at(record.get(name), name, place)]
    sofas = [each for each in listed if each.get("%TYPE") == _SOFA]
    sofas.sort(key=lambda each: each.get("sofaID") != INITIAL_VIEW)
    text = sofas[0].get("sofaString") if sofas else None
    if not isinstance(text, str):
        hint = "export the document with its text (UIMA CAS JSON, as INCEpTION writes it)"
        raise place.error("no text: there is no sofaString", hint=hint)
    sofa_id = sofas[0].get("%ID")
    arrays: dict[str, str] = {}
    for each in listed:
        elements = each.get("%ELEMENTS")
        if isinstance(elements, list):
            # Of a list of strings the first counts, as in XMI.
            words = elements[:1] if each.get("%TYPE") == _STRINGS else elements
            arrays[_string_of(each.get("%ID"))] = " ".join(map(_string_of, words))

    def structures() -> Iterator[GivenStructure]:
        for each in listed:
            type_name = str(each.get("%TYPE", ""))
            if isinstance(each.get("%ELEMENTS"), list) or type_name.startswith(_OWN_TYPES):
                continue
            named: dict[str, Any] = {}
            for name, value in each.items():
                if name.startswith("@"):
                    # A reference; XMI has the elements of an array in its place.
                    named[name[1:]] = arrays.get(_string_of(value), value)
                elif not name.startswith("%"):
                    # "#" begins numbers that JSON has no way to write.
                    named[name.removeprefix("#")] = value
            features = {
                name: shown for name, value in named.items() if (shown := _string_of(value))
            }
            yield (
                _string_of(each.get("%ID")),
                type_name,
                features,
                each.get("@sofa", sofa_id) == sofa_id,
            )

    return Cas(text, structures(), place)


def _string_of(value: Any) -> str:
    """A value as XMI has it; of a list the first."""
    if isinstance(value, list):
        return _string_of(value[0]) if value else ""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or isinstance(value, dict) else str(value)


class CasJsonWriter(FolderWriter):
    """Writes ``KEY.json`` for each document, with its types; the layers are those of the XMI writer.

    A span has one range in UIMA, so discontinuous entities are lost and counted, with the relations and
    mentions that hang on them.
    """

    def write(self, document: AnnotatedDocument) -> None:
        """Write one document to a file of its own.

        Raises:
            OutputError: An entity lies outside the text, or the disk is full.
        """
        cas = CasBuilder(document, self.losses, encodable).cas
        name = self._names.name_of(document.document.doc_key)
        self._save(f"{name}.json", cas.to_json() or "")
