"""What the types of a UIMA CAS are: token, sentence, mention, relation, chain, or something else.

A type system beside the file says which types are made from which, and which features hold text. Without one the
names that DKPro Core, WebAnno and INCEpTION give to their types and features decide.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from xml.etree.ElementTree import Element

from sciextract.errors import FormatError
from sciextract.formats.base import STDIN, Source
from sciextract.formats.safe_xml import local_name, parse

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
    """Types that are declared beside a file.

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

    def is_token(self, type_name: str) -> bool:
        """Whether it is DKPro's token, or another project's type of that name."""
        return TOKEN in self.lineage(type_name) or type_name.rpartition(".")[2] == "Token"

    def is_sentence(self, type_name: str) -> bool:
        """Whether it is DKPro's sentence, or another project's type of that name."""
        return SENTENCE in self.lineage(type_name) or type_name.rpartition(".")[2] == "Sentence"

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


def find_type_system(source: Source, used: Collection[str]) -> TypeSystem:
    """The type system in the file's folder that declares most of the types ``used``; empty if there is none.

    Raises:
        FormatError: A file called ``TypeSystem.xml`` is broken.
    """
    if source.path == STDIN:
        return TypeSystem()
    best = TypeSystem()
    for path in _candidates(Path(source.path).parent):
        try:
            found = _cached(str(path), os.stat(path).st_mtime_ns)
        except FormatError:
            if path.name in _NAMED:
                raise
            continue
        if _count(found, used) > _count(best, used):
            best = found
    return best


def _count(types: TypeSystem, used: Collection[str]) -> int:
    return sum(name in types.supertypes for name in used)


def _candidates(folder: Path) -> list[Path]:
    """XML files that hold a type system, the usual names first."""
    try:
        files = sorted(folder.glob("*.xml"), key=lambda path: (path.name not in _NAMED, path.name))
        return [path for path in files if path.is_file() and _holds_types(path)]
    except OSError:
        return []


def _holds_types(path: Path) -> bool:
    with open(path, "rb") as stream:
        return _ROOT.encode() in stream.read(_PEEK_BYTES)


@lru_cache(maxsize=16)
def _cached(path: str, modified_ns: int) -> TypeSystem:
    return read_type_system(parse(Source(path)), path)


def read_type_system(root: Element, path: str) -> TypeSystem:
    """The type system in an XML file.

    Raises:
        FormatError: The file is something else.
    """
    if local_name(root) != _ROOT:
        raise FormatError(f"<{local_name(root)}> found, allowed is <{_ROOT}>", path=path)
    supertypes, features = {}, {}
    for element in root.iter():
        if local_name(element) == "typeDescription":
            name = _text_of(element, "name")
            supertypes[name] = _text_of(element, "supertypeName")
            features[name] = tuple(_string_features(element))
    return TypeSystem(supertypes, features)


def _string_features(type_description: Element) -> Iterator[str]:
    for element in type_description.iter():
        is_feature = local_name(element) == "featureDescription"
        if is_feature and _text_of(element, "rangeTypeName") == "uima.cas.String":
            yield _text_of(element, "name")


def _text_of(parent: Element, name: str) -> str:
    for child in parent:
        if local_name(child) == name:
            return (child.text or "").strip()
    return ""
