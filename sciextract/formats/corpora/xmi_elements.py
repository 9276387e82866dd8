"""The feature structures of an XMI file, with offsets converted and references looked up."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import Place, shown
from sciextract.formats.safe_xml import local_name
from sciextract.text.offsets import OffsetMap

_XMI = "{http://www.omg.org/XMI}"
_CAS = "{http:///uima/cas.ecore}"
_ECORE = ".ecore"
_INITIAL_VIEW = "_InitialView"
_FRAME = frozenset({"sofa", "begin", "end"})


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


class Xmi:
    """The text and the feature structures of its initial view.

    Attributes:
        text: The text.
        structures: The feature structures by id, in the order of the file.
        other_views: How many annotations belong to other views.
    """

    def __init__(self, root: Element, place: Place) -> None:
        """Take the file apart.

        Raises:
            FormatError: There is no text, an id occurs twice, or an annotation lies outside the text.
        """
        if root.tag != f"{_XMI}XMI":
            problem = f"the outermost element {shown(local_name(root))} found, allowed is xmi:XMI"
            raise place.error(problem)
        self._place = place
        sofa = self._initial_sofa(root)
        self._sofa_id = sofa.get(f"{_XMI}id", "")
        self.text = sofa.get("sofaString", "")
        self._offsets = OffsetMap(self.text)
        self.structures: dict[str, FeatureStructure] = {}
        self.other_views = 0
        for element in root:
            if not element.tag.startswith(_CAS):
                self._add(element)

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
                f"{shown(ref)} found, but no element has that xmi:id", field=field
            )
        return found

    @staticmethod
    def field_of(structure: FeatureStructure) -> str:
        """The element's place, for messages."""
        return f"{structure.short_name} with xmi:id {structure.xmi_id}"

    def _initial_sofa(self, root: Element) -> Element:
        sofas = root.findall(f"{_CAS}Sofa")
        chosen = [sofa for sofa in sofas if sofa.get("sofaID") == _INITIAL_VIEW] or sofas
        if not chosen or chosen[0].get("sofaString") is None:
            hint = "export the document with its text (UIMA CAS XMI, as INCEpTION writes it)"
            raise self._place.error("no text: the file has no sofaString", hint=hint)
        return chosen[0]

    def _add(self, element: Element) -> None:
        xmi_id = element.get(f"{_XMI}id", "")
        type_name = _type_name(element.tag)
        features = {
            name: value
            for name, value in element.attrib.items()
            if name not in _FRAME and not name.startswith(_XMI)
        }
        for child in element:
            features.setdefault(local_name(child), child.text or "")
        structure = FeatureStructure(xmi_id, type_name, features, None)
        if xmi_id in self.structures:
            raise self._place.error("the id occurs a second time", field=self.field_of(structure))
        if element.get("sofa", self._sofa_id) != self._sofa_id:
            self.other_views += 1
            return
        if "begin" in element.attrib and "end" in element.attrib:
            span = self._span(element, self.field_of(structure))
            structure = FeatureStructure(xmi_id, type_name, features, span)
        self.structures[xmi_id] = structure

    def _span(self, element: Element, field: str) -> Span:
        start, end = (self._char(element, name, field) for name in ("begin", "end"))
        if end < start:
            problem = f"begin {element.get('begin')} and end {element.get('end')} found"
            raise self._place.error(f"{problem}, allowed is begin <= end", field=field)
        return Span(start, end)

    def _char(self, element: Element, name: str, field: str) -> int:
        value = element.get(name, "")
        if not value.isascii() or not value.isdigit() or len(value) > 15:
            problem = f"{shown(value)} found, allowed is a whole number"
            raise self._place.error(problem, field=f"{field}.{name}")
        try:
            return self._offsets.from_utf16(int(value))
        except FormatError as error:
            raise self._place.error(
                error.problem, field=f"{field}.{name}", hint=error.hint
            ) from None


def _type_name(tag: str) -> str:
    """``{http:///de/x/type.ecore}Token`` as ``de.x.type.Token``."""
    namespace, _, name = tag.removeprefix("{").rpartition("}")
    package = namespace.removeprefix("http:///").removesuffix(_ECORE).replace("/", ".")
    return f"{package}.{name}".removeprefix(".").removeprefix("uima.noNamespace.")
