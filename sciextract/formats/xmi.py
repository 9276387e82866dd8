"""UIMA CAS XMI, as INCEpTION, WebAnno and DKPro Core write it; one file is one document.

Reading does not go through ``dkpro-cassis``: it cannot load a file whose type system is absent or incomplete,
lets offsets outside the text pass with a warning, and its errors name no element. The types' meanings are in
:mod:`~sciextract.formats.xmi`. Writing uses it (:mod:`~sciextract.formats.cas`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from xml.etree.ElementTree import Element

from sciextract.documents.annotations import Entity, Relation, Span
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError
from sciextract.formats.alignment import are_sound, token_table
from sciextract.formats.base import STDIN, Place, ReadItem, Source, quoted
from sciextract.formats.items import LOOSE, CorpusItems
from sciextract.formats.json_values import whole_number
from sciextract.formats.safe_xml import local_name, parse
from sciextract.text.offsets import UTF16, OffsetMap

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
NAMED_ENTITY = f"{_DKPRO}.ner.type.NamedEntity"
TOKEN = f"{_DKPRO}.segmentation.type.Token"
SENTENCE = f"{_DKPRO}.segmentation.type.Sentence"
METADATA = f"{_DKPRO}.metadata.type.DocumentMetaData"
CHAIN = f"{_DKPRO}.coref.type.CoreferenceChain"
LINK = f"{_DKPRO}.coref.type.CoreferenceLink"
#: The layers of INCEpTION's project template "basic annotation".
SPAN_LAYER = "custom.Span"
RELATION_LAYER = "custom.Relation"

_ENTITY_PACKAGE = f"{_DKPRO}.ner.type."
_SILENT_PACKAGES = (f"{_DKPRO}.metadata.type.", "uima.tcas.DocumentAnnotation")
_CUSTOM_PACKAGES = ("custom.", "webanno.custom.")
_NAMED = ("TypeSystem.xml", "typesystem.xml")
_ROOT = "typeSystemDescription"
#: The feature that links a mention to a knowledge base.
_CONCEPT = "identifier"


@dataclass(frozen=True, slots=True)
class TypeSystem:
    """Types that are declared next to a file.

    Attributes:
        supertypes: Of each type the type it is made from.
        text_features: Of each type the features that hold a string, as far as it declares them itself.
    """

    supertypes: Mapping[str, str] = field(default_factory=dict)
    text_features: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def lineage(self, type_name: str) -> Iterator[str]:
        """The type, what it is made from, and so on; declarations in a circle end it."""
        seen = set()
        while type_name and type_name not in seen:
            seen.add(type_name)
            yield type_name
            type_name = self.supertypes.get(type_name, "")

    def is_kind(self, type_name: str, kind: str) -> bool:
        """Whether it is DKPro's type of a kind (token, sentence), or another project's type of that name."""
        same_name = type_name.rpartition(".")[2] == kind.rpartition(".")[2]
        return same_name or kind in self.lineage(type_name)

    def is_mention(self, type_name: str) -> bool:
        """Whether it is a named entity, made from it, or a layer that users made."""
        lineage = list(self.lineage(type_name))
        return (
            NAMED_ENTITY in lineage
            or type_name.startswith(_ENTITY_PACKAGE)
            or any(is_custom(kind) for kind in lineage)
        )

    def features_of(self, type_name: str) -> list[str]:
        """Its features that hold a string, its own first, but for links to a knowledge base."""
        features = [self.text_features.get(kind, ()) for kind in self.lineage(type_name)]
        return [name for name in sum(features, ()) if name != _CONCEPT]


def is_custom(type_name: str) -> bool:
    """Whether users of WebAnno or INCEpTION made this layer."""
    return type_name.startswith(_CUSTOM_PACKAGES)


def is_silent(type_name: str) -> bool:
    """Whether it describes the document or the project rather than the text."""
    return type_name.startswith(_SILENT_PACKAGES)


def find_type_system(source: Source, used: set[str]) -> TypeSystem:
    """The type system in the file's folder that declares most of the types ``used``; empty if there is none.

    Raises:
        FormatError: A file called ``TypeSystem.xml`` is broken.
    """
    if source.path == STDIN:
        return TypeSystem()
    files = [path for path in Path(source.path).parent.glob("*.xml") if path.is_file()]
    best = TypeSystem()
    for path in sorted(files, key=lambda path: (path.name not in _NAMED, path.name)):
        try:
            with open(path, "rb") as stream:
                if _ROOT.encode() not in stream.read(4096):
                    continue
            found = _read_once(str(path), os.stat(path).st_mtime_ns)
        except (OSError, FormatError) as error:
            if path.name in _NAMED and isinstance(error, FormatError):
                raise
            continue
        if len(found.supertypes.keys() & used) > len(best.supertypes.keys() & used):
            best = found
    return best


# A folder of a thousand documents has one type system, which is large: it is parsed once.
@lru_cache(maxsize=16)
def _read_once(path: str, modified_ns: int) -> TypeSystem:
    return read_type_system(parse(Source(path)), path)


def read_type_system(root: Element, path: str) -> TypeSystem:
    """The type system in an XML file.

    Raises:
        FormatError: The file is something else.
    """
    if local_name(root) != _ROOT:
        raise FormatError(f"<{local_name(root)}> found; expected <{_ROOT}>", path=path)
    supertypes, features = {}, {}
    for element in root.iterfind(".//{*}typeDescription"):
        name = _text_of(element, "name")
        supertypes[name] = _text_of(element, "supertypeName")
        features[name] = tuple(
            _text_of(feature, "name")
            for feature in element.iterfind(".//{*}featureDescription")
            if _text_of(feature, "rangeTypeName") == "uima.cas.String"
        )
    return TypeSystem(supertypes, features)


def _text_of(parent: Element, name: str) -> str:
    return (parent.findtext(f"{{*}}{name}") or "").strip()


_XMI = "{http://www.omg.org/XMI}"
_CAS = "{http:///uima/cas.ecore}"
INITIAL_VIEW = "_InitialView"
FRAME = frozenset({"sofa", "begin", "end"})


@dataclass(frozen=True, slots=True)
class FeatureStructure:
    """An annotation, or another object of the file.

    Attributes:
        xmi_id: Its id in the file.
        type_name: Its type with the package, such as ``custom.Span``.
        features: Its features but for the place in the text; of a list of strings the first.
        span: Its characters; ``None`` for what has no place in the text.
    """

    xmi_id: str
    type_name: str
    features: dict[str, str]
    span: Span | None

    @property
    def short_name(self) -> str:
        return self.type_name.rpartition(".")[2]


class Cas:
    """The text of an XMI file and the feature structures of its initial view.

    Attributes:
        text: The text.
        structures: The feature structures by id, in the order of the file.
        other_views: How many annotations belong to other views.
        misfits: What is wrong with those that were left out: an id that occurs twice, a place outside the text.
    """

    def __init__(self, root: Element, place: Place) -> None:
        """Take the content of a file.

        Raises:
            FormatError: There is no text.
        """
        if root.tag != f"{_XMI}XMI":
            problem = f"the outermost element {quoted(local_name(root))} found; expected xmi:XMI"
            raise place.error(problem)
        sofas = root.findall(f"{_CAS}Sofa")
        sofas.sort(key=lambda sofa: sofa.get("sofaID") != INITIAL_VIEW)
        text = sofas[0].get("sofaString") if sofas else None
        if text is None:
            hint = "export the document with its text (UIMA CAS XMI, as INCEpTION writes it)"
            raise place.error("no text: the file has no sofaString", hint=hint)
        self.text = text
        self.structures: dict[str, FeatureStructure] = {}
        self.other_views = 0
        self.misfits: list[FormatError] = []
        self._place = place
        self._offsets = OffsetMap(text)
        self._sofa_id = sofas[0].get(f"{_XMI}id", "")
        for element in root:
            try:
                if not element.tag.startswith(_CAS):
                    self._add(element)
            except FormatError as error:
                self.misfits.append(error)

    def _add(self, element: Element) -> None:
        cas_id = element.get(f"{_XMI}id", "")
        attributes = element.attrib.items()
        features = {name: value for name, value in attributes if not name.startswith(_XMI)}
        # A list of strings comes as children of one name: the first counts.
        for child in element:
            features.setdefault(local_name(child), child.text or "")
        # {http:///de/x/type.ecore}Token stands for de.x.type.Token.
        namespace, _, name = element.tag.removeprefix("{").rpartition("}")
        package = namespace.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
        type_name = f"{package}.{name}".removeprefix(".").removeprefix("uima.noNamespace.")
        others = {name: value for name, value in features.items() if name not in FRAME}
        found = FeatureStructure(cas_id, type_name, others, None)
        place, field = self._place, self.field_of(found)
        if cas_id in self.structures:
            raise place.error("the id occurs a second time", field=field)
        if element.get("sofa", self._sofa_id) != self._sofa_id:
            self.other_views += 1
            return
        if "begin" in features and "end" in features:
            edges = []
            for edge in ("begin", "end"):
                number = whole_number(features[edge], where := f"{field}.{edge}", place)
                try:
                    edges.append(self._offsets.from_unit(UTF16, number))
                except FormatError as error:
                    raise place.error(error.problem, field=where, hint=error.hint) from None
            if edges[1] < edges[0]:
                problem = f"begin {features['begin']} and end {features['end']} found"
                raise place.error(f"{problem}; expected begin <= end", field=field)
            found = replace(found, span=Span(*edges))
        self.structures[cas_id] = found

    def target(self, structure: FeatureStructure, feature: str) -> FeatureStructure:
        """What a feature that refers to another feature structure means.

        Raises:
            FormatError: There is no such feature structure.
        """
        ref = structure.features.get(feature, "")
        if ref not in self.structures:
            problem = f"{quoted(ref)} found, but no element has that id"
            raise self._place.error(problem, field=f"{self.field_of(structure)}.{feature}")
        return self.structures[ref]

    def field_of(self, structure: FeatureStructure) -> str:
        return f"{structure.short_name} with id {structure.xmi_id}"


_LABEL_FEATURES = ("value", "label")
_ENDS = (("Governor", "Dependent"), ("Source", "Target"))
_UNTYPED_LAYERS = (NAMED_ENTITY, SPAN_LAYER)
_FEATURES = "xmi features of an item"


def read_xmi(source: Source) -> Iterator[ReadItem]:
    """Read the document of an XMI file; a type system lying among XMI files gives no document."""
    root = parse(source)
    if local_name(root) == "typeSystemDescription":
        if source.path == STDIN or not any(Path(source.path).parent.glob("*.xmi")):
            problem, hint = "this is a type system, it holds no document", "give the .xmi files"
            raise FormatError(problem, path=source.path, hint=f"{hint} that belong to it")
        return
    place = Place(source.path)
    xmi = Cas(root, place)
    used = {structure.type_name for structure in xmi.structures.values()}
    yield CasReading(xmi, find_type_system(source, used), source, place).document()


class CasReading:
    """Reads one CAS; what is not a mention, relation or cluster is counted."""

    def __init__(self, cas: Cas, types: TypeSystem, source: Source, place: Place) -> None:
        self._cas = cas
        self._types = types
        self._place = place
        self._all = list(cas.structures.values())
        about = [structure.features for structure in self._all if structure.type_name == METADATA]
        self._key = (about[0].get("documentId") if about else "") or source.stem
        self._items = CorpusItems(replace(place, doc_key=self._key), source.provenance)
        self._entities: dict[str, Entity] = {}

    def document(self) -> AnnotatedDocument:
        """The document; what does not fit the text, or refers to an element that is not there, is left out."""
        for misfit in self._cas.misfits:
            with self._items.leaving_out():
                raise misfit
        heads = [item for item in self._all if item.span is None and "first" in item.features]
        chains = []
        for head in heads:
            with self._items.leaving_out("chain that does not fit"):
                chains.append(self._links(head))
        linked = {link.xmi_id for chain in chains for link in chain}
        unread, labelled = self._items.unread, self._labelled_layers()
        for structure in self._all:
            if not self._is_mention(structure) or structure.xmi_id in linked:
                continue
            if structure.span is None or structure.span.char_start == structure.span.char_end:
                unread[f"{structure.short_name} without any characters"] += 1
                continue
            label, rest = self._label_of(structure)
            if not label and structure.type_name not in labelled:
                label = structure.short_name
            entity = self._items.entity([structure.span], label)
            self._entities[structure.xmi_id] = entity
            self._add_attributes(entity, structure, rest)
        for structure in self._all:
            if ends := self._ends_of(structure):
                with self._items.leaving_out(LOOSE):
                    self._add_relation(structure, ends)
        for chain in chains:
            mentions = []
            for link in chain:
                if link.span is None or link.span.char_start == link.span.char_end:
                    unread[f"{link.short_name} without any characters"] += 1
                    continue
                mention = self._items.mention(link.span, link.features.get("referenceType", ""))
                mentions.append(mention)
                others = (v for name, v in link.features.items() if name != "next")
                unread[_FEATURES] += any(value != mention.label for value in others)
            if mentions:
                self._items.cluster(mentions, None)
        self._count_others(linked | {head.xmi_id for head in heads})
        tokens = self._spans_of(TOKEN, "tokens")
        sentences = self._spans_of(SENTENCE, "sentences")
        table = token_table(self._cas.text, tokens, sentences, self._items.spans)
        return self._items.annotate(Document(self._key, self._cas.text, table))

    def _is_mention(self, item: FeatureStructure) -> bool:
        placed = item.span is not None and self._types.is_mention(item.type_name)
        return placed and not self._ends_of(item)

    def _ends_of(self, item: FeatureStructure) -> tuple[str, str] | None:
        """The features that hold head and tail of a relation layer that users made."""
        found = [ends for ends in _ENDS if any(end in item.features for end in ends)]
        return found[0] if found and is_custom(item.type_name) else None

    def _label_of(self, item: FeatureStructure) -> tuple[str, dict[str, str]]:
        """The label of a layer's item, and its other features."""
        declared = self._types.features_of(item.type_name)
        # A layer with a feature for the label has others for what is said besides.
        own = [name for name in _LABEL_FEATURES if name in declared]
        names = own or [*_LABEL_FEATURES, *declared]
        if not declared and item.type_name not in _UNTYPED_LAYERS:
            # Without a type system, a feature whose value is no id of an element may be the label.
            names += [
                name
                for name, value in item.features.items()
                if not all(part in self._cas.structures for part in value.split())
            ]
        for name in names:
            if value := item.features.get(name):
                return value, {k: v for k, v in item.features.items() if k != name}
        return "", item.features

    def _labelled_layers(self) -> set[str]:
        """The layers whose items have labels at all; of others the layer itself is the label."""
        found = {item.type_name for item in self._all if self._label_of(item)[0]}
        declared = {item.type_name for item in self._all if is_custom(item.type_name)}
        return {*_UNTYPED_LAYERS, *found, *filter(self._types.features_of, declared)}

    def _add_relation(self, item: FeatureStructure, ends: tuple[str, str]) -> None:
        unread = self._items.unread
        if not all(end in item.features for end in ends):
            unread[f"{item.short_name} with one end only"] += 1
            return
        targets = [self._cas.target(item, end) for end in ends]
        if any(to.span is None or to.span.char_start == to.span.char_end for to in targets):
            unread[f"{item.short_name} of something without any characters"] += 1
            return
        # A token or another annotation that a relation means becomes an entity without a type.
        head, tail = (
            self._entities.get(to.xmi_id) or self._items.mention(to.span or Span(0, 0), "")
            for to in targets
        )
        label, rest = self._label_of(item)
        made = self._items.relation(head, tail, label or item.short_name, None)
        self._add_attributes(made, item, {k: v for k, v in rest.items() if k not in ends})

    def _add_attributes(
        self, target: Entity | Relation, item: FeatureStructure, rest: Mapping[str, str]
    ) -> None:
        """Of a layer that users made, what holds a string, and what is true; all else is counted."""
        texts = self._types.features_of(item.type_name)
        others = 0
        for name, value in rest.items():
            if is_custom(item.type_name) and (name in texts or value == "true"):
                self._items.attribute(target, name, value if name in texts else "")
            else:
                others += value != "false"
        self._items.unread[_FEATURES] += bool(others)

    def _links(self, chain: FeatureStructure) -> list[FeatureStructure]:
        links: dict[str, FeatureStructure] = {}
        link, feature = chain, "first"
        while feature in link.features:
            link, feature = self._cas.target(link, feature), "next"
            if link.xmi_id in links:
                problem = f"the chain comes back to {self._cas.field_of(link)}"
                raise self._place.error(problem, field=self._cas.field_of(chain))
            links[link.xmi_id] = link
        return list(links.values())

    def _count_others(self, read: set[str]) -> None:
        """Count what is neither an item, nor a token or sentence, nor about the document as a whole."""
        for structure in self._all:
            name = structure.type_name
            known = (
                is_silent(name)
                or any(self._types.is_kind(name, kind) for kind in (TOKEN, SENTENCE))
                or self._is_mention(structure)
                or self._ends_of(structure)
            )
            if structure.xmi_id not in read and (not known or name == LINK):
                self._items.unread[f"annotation of the layer {structure.short_name}"] += 1
        self._items.unread["annotation of another view"] += self._cas.other_views

    def _spans_of(self, kind: str, what: str) -> list[Span]:
        """Tokens or sentences in text order; none where they overlap."""
        found = (item for item in self._all if self._types.is_kind(item.type_name, kind))
        spans = sorted({item.span for item in found if item.span is not None})
        filled = [span for span in spans if span.char_start < span.char_end]
        if are_sound(filled):
            return filled
        self._items.remarks[f"{what} overlap: derived from the text instead"] += 1
        return []
