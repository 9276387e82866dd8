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

from sciextract.documents.annotations import Entity
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.alignment import are_sound, token_table
from sciextract.formats.base import STDIN, Place, ReadItem, Source, quoted
from sciextract.formats.items import CorpusItems
from sciextract.formats.safe_xml import local_name, parse
from sciextract.text.offsets import OffsetMap

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
_PEEK_BYTES = 4096


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
            or any(is_custom(each) for each in lineage)
        )

    def features_of(self, type_name: str) -> list[str]:
        """Its features that hold a string, its own first."""
        return [
            feature
            for each in self.lineage(type_name)
            for feature in self.text_features.get(each, ())
        ]


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
    try:
        folder = Path(source.path).parent
        files = sorted(folder.glob("*.xml"), key=lambda path: (path.name not in _NAMED, path.name))
        candidates = []
        for path in filter(Path.is_file, files):
            with open(path, "rb") as stream:
                if _ROOT.encode() in stream.read(_PEEK_BYTES):
                    candidates.append(path)
    except OSError:
        candidates = []
    best = TypeSystem()
    for path in candidates:
        try:
            found = _cached(str(path), os.stat(path).st_mtime_ns)
        except FormatError:
            if path.name in _NAMED:
                raise
            continue
        if len(found.supertypes.keys() & used) > len(best.supertypes.keys() & used):
            best = found
    return best


# A folder of a thousand documents has one type system, which is large: it is parsed once.
@lru_cache(maxsize=16)
def _cached(path: str, modified_ns: int) -> TypeSystem:
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
            _text_of(each, "name")
            for each in element.iterfind(".//{*}featureDescription")
            if _text_of(each, "rangeTypeName") == "uima.cas.String"
        )
    return TypeSystem(supertypes, features)


def _text_of(parent: Element, name: str) -> str:
    return (parent.findtext(f"{{*}}{name}") or "").strip()


_XMI = "{http://www.omg.org/XMI}"
_CAS = "{http:///uima/cas.ecore}"
_ECORE = ".ecore"
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
        """The type without its package."""
        return self.type_name.rpartition(".")[2]


class FeatureStructures:
    """The text and the feature structures of its initial view, whatever file they come from.

    Attributes:
        text: The text.
        structures: The feature structures by id, in the order of the file.
        other_views: How many annotations belong to other views.
    """

    #: What the file calls the id of a feature structure.
    id_name = "xmi:id"

    def __init__(self, text: str, place: Place) -> None:
        self.text = text
        self.structures: dict[str, FeatureStructure] = {}
        self.other_views = 0
        self._place = place
        self._offsets = OffsetMap(text)

    def target(self, structure: FeatureStructure, feature: str) -> FeatureStructure:
        """What a feature that refers to another feature structure means.

        Raises:
            FormatError: There is no such feature structure.
        """
        ref = structure.features.get(feature, "")
        found = self.structures.get(ref)
        if found is None:
            field = f"{self.field_of(structure)}.{feature}"
            raise self._place.error(
                f"{quoted(ref)} found, but no element has that {self.id_name}", field=field
            )
        return found

    def field_of(self, structure: FeatureStructure) -> str:
        """The element's place, for messages."""
        return f"{structure.short_name} with {self.id_name} {structure.xmi_id}"

    def add(
        self, structure: FeatureStructure, place: tuple[str, str] | None, *, of_other_view: bool
    ) -> None:
        """Add a feature structure.

        Args:
            structure: It, without its span.
            place: Its begin and end in UTF-16 units, as they are written.
            of_other_view: Whether it belongs to another view.

        Raises:
            FormatError: Its id occurs twice, or it lies outside the text.
        """
        if structure.xmi_id in self.structures:
            raise self._place.error("the id occurs a second time", field=self.field_of(structure))
        if of_other_view:
            self.other_views += 1
            return
        span, field = None, self.field_of(structure)
        if place is not None:
            begin, end = place
            span = Span(self._char(begin, f"{field}.begin"), self._char(end, f"{field}.end"))
            if span.char_end < span.char_start:
                problem = f"begin {begin} and end {end} found; expected begin <= end"
                raise self._place.error(problem, field=field)
        self.structures[structure.xmi_id] = replace(structure, span=span)

    def _char(self, value: str, field: str) -> int:
        if not value.isascii() or not value.isdigit() or len(value) > 15:
            raise self._place.unexpected(value, "a whole number", field=field)
        try:
            return self._offsets.from_utf16(int(value))
        except FormatError as error:
            raise self._place.error(error.problem, field=field, hint=error.hint) from None


class Xmi(FeatureStructures):
    """The text and the feature structures of an XMI file."""

    def __init__(self, root: Element, place: Place) -> None:
        """Take the file apart.

        Raises:
            FormatError: There is no text, an id occurs twice, or an annotation lies outside the text.
        """
        if root.tag != f"{_XMI}XMI":
            problem = f"the outermost element {quoted(local_name(root))} found; expected xmi:XMI"
            raise place.error(problem)
        sofas = root.findall(f"{_CAS}Sofa")
        chosen = [sofa for sofa in sofas if sofa.get("sofaID") == INITIAL_VIEW] or sofas
        if not chosen or chosen[0].get("sofaString") is None:
            hint = "export the document with its text (UIMA CAS XMI, as INCEpTION writes it)"
            raise place.error("no text: the file has no sofaString", hint=hint)
        super().__init__(chosen[0].get("sofaString", ""), place)
        sofa_id = chosen[0].get(f"{_XMI}id", "")
        for element in root:
            if element.tag.startswith(_CAS):
                continue
            features = {
                name: value
                for name, value in element.attrib.items()
                if name not in FRAME and not name.startswith(_XMI)
            }
            # A list of strings comes as children of one name: the first counts.
            for child in element:
                features.setdefault(local_name(child), child.text or "")
            xmi_id = element.get(f"{_XMI}id", "")
            # {http:///de/x/type.ecore}Token stands for de.x.type.Token.
            namespace, _, name = element.tag.removeprefix("{").rpartition("}")
            package = namespace.removeprefix("http:///").removesuffix(_ECORE).replace("/", ".")
            type_name = f"{package}.{name}".removeprefix(".").removeprefix("uima.noNamespace.")
            structure = FeatureStructure(xmi_id, type_name, features, None)
            begin, end = element.get("begin"), element.get("end")
            span = None if begin is None or end is None else (begin, end)
            self.add(structure, span, of_other_view=element.get("sofa", sofa_id) != sofa_id)


_LABEL_FEATURES = ("value", "label")
_ENDS = (("Governor", "Dependent"), ("Source", "Target"))
_UNTYPED_LAYERS = (NAMED_ENTITY, SPAN_LAYER)
#: The feature that links a mention to a knowledge base.
_CONCEPT = "identifier"


def read_xmi(source: Source) -> Iterator[ReadItem]:
    """Read the document of an XMI file; a type system lying among XMI files gives no document.

    Raises:
        FormatError: The file is empty, broken, no XMI, has no text, or an annotation lies outside the text or
            refers to one that is not there.
    """
    root = parse(source)
    if local_name(root) == "typeSystemDescription":
        if source.path == STDIN or not any(Path(source.path).parent.glob("*.xmi")):
            problem, hint = "this is a type system, it holds no document", "give the .xmi files"
            raise FormatError(problem, path=source.path, hint=f"{hint} that belong to it")
        return
    place = Place(source.path)
    xmi = Xmi(root, place)
    used = {each.type_name for each in xmi.structures.values()}
    yield CasReading(xmi, find_type_system(source, used), source, place).document()


class CasReading:
    """Reads one CAS; what is not a mention, relation or cluster is counted."""

    def __init__(
        self, xmi: FeatureStructures, types: TypeSystem, source: Source, place: Place
    ) -> None:
        self._xmi = xmi
        self._types = types
        self._place = place
        self._all = list(xmi.structures.values())
        about = [each.features for each in self._all if each.type_name == METADATA]
        self._key = (about[0].get("documentId") if about else "") or source.stem
        self._items = CorpusItems(self._key, source.provenance)
        self._entities: dict[str, Entity] = {}
        self._labelled: dict[str, bool] = {}

    def document(self) -> AnnotatedDocument:
        """The document.

        Raises:
            FormatError: Something refers to an element that is not there, or a chain has no end.
        """
        heads = [each for each in self._all if each.span is None and "first" in each.features]
        chains = [self._links(head) for head in heads]
        linked = {link.xmi_id for chain in chains for link in chain}
        unread = self._items.unread
        for each in self._all:
            if not self._is_mention(each) or each.xmi_id in linked:
                continue
            if each.span is None or each.span.char_start == each.span.char_end:
                unread[f"{each.short_name} without any characters"] += 1
                continue
            label, rest = self._label_of(each)
            if not label and not self._has_labels(each.type_name):
                label = each.short_name
            self._entities[each.xmi_id] = self._items.entity([each.span], label)
            self._count_features(rest)
        for each in self._all:
            if ends := self._ends_of(each):
                self._add_relation(each, ends)
        for chain in chains:
            mentions = []
            for link in chain:
                if link.span is None or link.span.char_start == link.span.char_end:
                    unread[f"{link.short_name} without any characters"] += 1
                    continue
                mention = self._items.mention(link.span, link.features.get("referenceType", ""))
                mentions.append(mention)
                self._count_features(
                    {k: v for k, v in link.features.items() if k != "next" and v != mention.label}
                )
            if mentions:
                self._items.cluster(mentions, None)
        self._count_others(linked | {head.xmi_id for head in heads})
        tokens = self._spans_of(TOKEN, "tokens")
        sentences = self._spans_of(SENTENCE, "sentences")
        table = token_table(self._xmi.text, tokens, sentences, self._items.spans)
        return self._items.annotated(Document(self._key, self._xmi.text, table))

    def _is_mention(self, each: FeatureStructure) -> bool:
        placed = each.span is not None and self._types.is_mention(each.type_name)
        return placed and not self._ends_of(each)

    def _ends_of(self, each: FeatureStructure) -> tuple[str, str] | None:
        """The features that hold head and tail of a relation layer that users made."""
        found = [ends for ends in _ENDS if any(end in each.features for end in ends)]
        return found[0] if found and is_custom(each.type_name) else None

    def _label_of(self, each: FeatureStructure) -> tuple[str, dict[str, str]]:
        """The label of a layer's item, and its other features."""
        declared = self._label_features(each.type_name)
        names = [*_LABEL_FEATURES, *declared]
        if not declared and each.type_name not in _UNTYPED_LAYERS:
            # Without a type system, a feature whose value is no id of an element may be the label.
            names += [
                name
                for name, value in each.features.items()
                if not all(part in self._xmi.structures for part in value.split())
            ]
        for name in names:
            if value := each.features.get(name):
                return value, {k: v for k, v in each.features.items() if k != name}
        return "", each.features

    def _has_labels(self, type_name: str) -> bool:
        """Whether items of this layer have labels at all; otherwise the layer itself is the label."""
        if type_name not in self._labelled:
            self._labelled[type_name] = (
                type_name in _UNTYPED_LAYERS
                or (is_custom(type_name) and bool(self._label_features(type_name)))
                or any(
                    each.type_name == type_name and self._label_of(each)[0] for each in self._all
                )
            )
        return self._labelled[type_name]

    def _label_features(self, type_name: str) -> list[str]:
        return [name for name in self._types.features_of(type_name) if name != _CONCEPT]

    def _add_relation(self, each: FeatureStructure, ends: tuple[str, str]) -> None:
        unread = self._items.unread
        if not all(end in each.features for end in ends):
            unread[f"{each.short_name} with one end only"] += 1
            return
        targets = [self._xmi.target(each, end) for end in ends]
        if any(to.span is None or to.span.char_start == to.span.char_end for to in targets):
            unread[f"{each.short_name} of something without any characters"] += 1
            return
        # A token or another annotation that a relation means becomes an entity without a type.
        head, tail = (
            self._entities.get(to.xmi_id) or self._items.mention(to.span or Span(0, 0), "")
            for to in targets
        )
        label, rest = self._label_of(each)
        self._items.relation(head, tail, label or each.short_name, None)
        self._count_features({k: v for k, v in rest.items() if k not in ends})

    def _links(self, chain: FeatureStructure) -> list[FeatureStructure]:
        """The links of a chain in their order."""
        links: dict[str, FeatureStructure] = {}
        each, feature = chain, "first"
        while feature in each.features:
            each, feature = self._xmi.target(each, feature), "next"
            if each.xmi_id in links:
                problem = f"the chain comes back to {self._xmi.field_of(each)}"
                raise self._place.error(problem, field=self._xmi.field_of(chain))
            links[each.xmi_id] = each
        return list(links.values())

    def _count_features(self, features: Mapping[str, str]) -> None:
        self._items.unread["xmi features of an item"] += bool(features)

    def _count_others(self, read: set[str]) -> None:
        """Count what is neither an item, nor a token or sentence, nor about the document as a whole."""
        for each in self._all:
            name = each.type_name
            known = (
                is_silent(name)
                or any(self._types.is_kind(name, kind) for kind in (TOKEN, SENTENCE))
                or self._is_mention(each)
                or self._ends_of(each)
            )
            if each.xmi_id not in read and (not known or name == LINK):
                self._items.unread[f"annotation of the layer {each.short_name}"] += 1
        self._items.unread["annotation of another view"] += self._xmi.other_views

    def _spans_of(self, kind: str, what: str) -> list[Span]:
        """Tokens or sentences in text order; none where they overlap."""
        found = (each for each in self._all if self._types.is_kind(each.type_name, kind))
        spans = sorted({each.span for each in found if each.span is not None})
        filled = [span for span in spans if span.char_start < span.char_end]
        if are_sound(filled):
            return filled
        self._items.remarks[f"{what} overlap: derived from the text instead"] += 1
        return []
