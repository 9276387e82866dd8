"""UIMA CAS, written as XMI; :mod:`~sciextract.formats.xmi` reads it.

The layers that are written are those of INCEpTION's project template "basic annotation" (``custom.Span`` and
``custom.Relation`` with the feature ``label``) and DKPro Core's coreference chains, so that INCEpTION imports them.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import cassis

from sciextract.documents.annotations import NOT_REJECTED, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import ABSTRACT, RELATION_PREFIX, AttributeKind, LabelSchema
from sciextract.formats.layers import (
    entities_in_text,
    fitting_mentions,
    fitting_relations,
    named_attributes,
)
from sciextract.formats.safe_xml import xml_safe
from sciextract.formats.sink import FolderWriter
from sciextract.formats.xmi import (
    CHAIN,
    LINK,
    METADATA,
    RELATION_LAYER,
    SENTENCE,
    SPAN_LAYER,
    TOKEN,
)

_ANNOTATION = "uima.tcas.Annotation"
_STRING, _BOOLEAN = "uima.cas.String", "uima.cas.Boolean"
#: What UIMA lets features be called; the names of others are taken.
_FEATURE = re.compile(
    "(?!(?:sofa|begin|end|value|label|identifier|Governor|Dependent)$)[A-Za-z][A-Za-z0-9_]*"
)
_DOCUMENT = "uima.tcas.DocumentAnnotation"
_ENDS = {"Governor": SPAN_LAYER, "Dependent": SPAN_LAYER}
_TYPES: dict[str, tuple[str, dict[str, str]]] = {
    METADATA: (_DOCUMENT, {"documentId": _STRING, "documentTitle": _STRING}),
    TOKEN: (_ANNOTATION, {}),
    SENTENCE: (_ANNOTATION, {}),
    SPAN_LAYER: (_ANNOTATION, {"label": _STRING}),
    RELATION_LAYER: (_ANNOTATION, {**_ENDS, "label": _STRING}),
    LINK: (_ANNOTATION, {"next": LINK, "referenceType": _STRING, "referenceRelation": _STRING}),
    CHAIN: ("uima.cas.AnnotationBase", {"first": LINK}),
}
"""By type what it is made from, and its features with their types."""


class XmiWriter(FolderWriter):
    """Writes ``KEY.xmi`` for each document, and ``TypeSystem.xml``.

    A span has one range in UIMA, so discontinuous entities are lost and counted, with the relations and
    mentions that hang on them. Characters that XML cannot hold become visible ones and are counted.
    """

    def __init__(self, destination: Path | str, *, schema: LabelSchema | None = None) -> None:
        super().__init__(destination)
        self._types = _type_system(schema)
        self._save("TypeSystem.xml", self._types.to_xml())

    def write(self, document: AnnotatedDocument) -> None:
        cas = CasBuilder(document, self.losses, self._types).cas
        name = self._names.name_of(document.document.doc_key)
        self._save(f"{name}.xmi", cas.to_xmi())


@cache
def _type_system(schema: LabelSchema | None) -> cassis.TypeSystem:
    """The types, with a feature of the layer for each attribute of the schema that may stand on its items."""
    types = cassis.TypeSystem()
    for name, (supertype, _) in _TYPES.items():
        types.create_type(name, supertype)
    for name, (_, features) in _TYPES.items():
        for feature, range_type in features.items():
            types.create_feature(name, feature, range_type)
    for kind in schema.attributes if schema else ():
        targets = [target for target in kind.on if target != ABSTRACT]
        layers = [(SPAN_LAYER, RELATION_LAYER)[t.startswith(RELATION_PREFIX)] for t in targets]
        for layer in dict.fromkeys(layers if _FEATURE.fullmatch(kind.label) else ()):
            range_type = _BOOLEAN if kind.kind is AttributeKind.FLAG else _STRING
            types.create_feature(layer, kind.label, range_type)
    return types


class CasBuilder:
    """Puts one document into a CAS; code-point offsets become UTF-16 units when it is written."""

    def __init__(
        self, document: AnnotatedDocument, losses: Counter[str], types: cassis.TypeSystem
    ) -> None:
        self._losses = losses
        self._types = types
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
        links: dict[str, Any] = {}
        for head, tail, relation in fitting_relations(annotations, spans, self._losses):
            features = {"Governor": head, "Dependent": tail, "label": self._safe(relation.label)}
            made = self._add(RELATION_LAYER, Span(tail.begin, tail.end), **features)
            links[relation.id] = made
        items = spans | links
        said = named_attributes(document, dict(zip(items, items, strict=True)), self._losses)
        for (target, label), attribute in said.items():
            feature = items[target].type.get_feature(label) if _FEATURE.fullmatch(label) else None
            if feature and (feature.rangeType.name == _BOOLEAN) == (not attribute.value):
                items[target][label] = self._safe(attribute.value) or True
            else:
                self._losses["attribute without a feature in the schema"] += 1
        for cluster in annotations.clusters:
            # Each link knows the next one, so they are made from the last to the first.
            link = None
            for mention in reversed(fitting_mentions(cluster, spans, self._losses)):
                place = Span(mention.begin, mention.end)
                link = self._add(LINK, place, next=link, referenceType=mention.label)
            if link is not None:
                self.cas.add(self._types.get_type(CHAIN)(first=link))

    def _safe(self, text: str) -> str:
        return xml_safe(text, self._losses)

    def _add(self, type_name: str, span: Span, **features: Any) -> Any:
        made = self._types.get_type(type_name)(begin=span.char_start, end=span.char_end, **features)
        self.cas.add(made)
        return made
