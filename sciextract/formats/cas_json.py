"""UIMA CAS JSON, as INCEpTION and dkpro-cassis write it; one object is one document.

Layers mean the same as in XMI. Reading does not go through ``dkpro-cassis``, for the same reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import Record, object_at, objects_at
from sciextract.formats.layers import encodable
from sciextract.formats.sink import FolderWriter
from sciextract.formats.xmi import (
    FRAME,
    INITIAL_VIEW,
    CasReading,
    FeatureStructure,
    FeatureStructures,
    TypeSystem,
    find_type_system,
)
from sciextract.formats.xmi_writer import CasBuilder

_SOFA = "uima.cas.Sofa"
_OWN_TYPES = "uima.cas."
_STRINGS = "uima.cas.StringArray"


def read_cas_json(source: Source) -> Iterator[ReadItem]:
    """Read the document of a CAS; types come from the file, else from a type system next to it.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_objects(source, _documents)


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    place = Place(source.path, line)
    cas = _CasJson(record, place)
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


class _CasJson(FeatureStructures):
    """The text and the feature structures of a CAS in JSON."""

    id_name = "%ID"

    def __init__(self, record: Record, place: Place) -> None:
        name = "%FEATURE_STRUCTURES"
        listed = [each for each, _ in objects_at(record.get(name), name, place)]
        sofas = [each for each in listed if each.get("%TYPE") == _SOFA]
        sofas.sort(key=lambda each: each.get("sofaID") != INITIAL_VIEW)
        text = sofas[0].get("sofaString") if sofas else None
        if not isinstance(text, str):
            hint = "export the document with its text (UIMA CAS JSON, as INCEpTION writes it)"
            raise place.error("no text: there is no sofaString", hint=hint)
        super().__init__(text, place)
        self._arrays: dict[str, str] = {}
        own: list[tuple[Record, str]] = []
        for each in listed:
            type_name = str(each.get("%TYPE", ""))
            elements = each.get("%ELEMENTS")
            if isinstance(elements, list):
                is_of_text = type_name == _STRINGS
                content = (
                    _string_of(elements) if is_of_text else " ".join(map(_string_of, elements))
                )
                self._arrays[_string_of(each.get("%ID"))] = content
            elif not type_name.startswith(_OWN_TYPES):
                own.append((each, type_name))
        for each, type_name in own:
            self._add(each, type_name, sofas[0].get("%ID"))

    def _add(self, given: Record, type_name: str, sofa_id: object) -> None:
        named: dict[str, Any] = {}
        for name, value in given.items():
            if name.startswith("@"):  # a reference; XMI has the elements of an array in its place
                named[name[1:]] = self._arrays.get(_string_of(value), value)
            elif not name.startswith("%"):  # "#" begins numbers that JSON has no way to write
                named[name.removeprefix("#")] = value
        features = {
            name: shown_value
            for name, value in named.items()
            if name not in FRAME and (shown_value := _string_of(value))
        }
        structure = FeatureStructure(_string_of(given.get("%ID")), type_name, features, None)
        is_placed = "begin" in named and "end" in named
        place = (_string_of(named["begin"]), _string_of(named["end"])) if is_placed else None
        self.add(structure, place, of_other_view=given.get("@sofa", sofa_id) != sofa_id)


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
