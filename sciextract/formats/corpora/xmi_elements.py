"""The feature structures of an XMI file, with offsets converted and references looked up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import Place, shown
from sciextract.formats.safe_xml import local_name
from sciextract.text.offsets import OffsetMap

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
                f"{shown(ref)} found, but no element has that {self.id_name}", field=field
            )
        return found

    def field_of(self, structure: FeatureStructure) -> str:
        """The element's place, for messages."""
        return f"{structure.short_name} with {self.id_name} {structure.xmi_id}"

    def add(
        self, structure: FeatureStructure, place: tuple[str, str] | None, *, elsewhere: bool
    ) -> None:
        """Add a feature structure.

        Args:
            structure: It, without its span.
            place: Its begin and end in UTF-16 units, as they are written.
            elsewhere: Whether it belongs to another view.

        Raises:
            FormatError: Its id occurs twice, or it lies outside the text.
        """
        if structure.xmi_id in self.structures:
            raise self._place.error("the id occurs a second time", field=self.field_of(structure))
        if elsewhere:
            self.other_views += 1
            return
        span = None if place is None else self._span(*place, self.field_of(structure))
        self.structures[structure.xmi_id] = replace(structure, span=span)

    def _span(self, begin: str, end: str, field: str) -> Span:
        span = Span(self._char(begin, f"{field}.begin"), self._char(end, f"{field}.end"))
        if span.char_end < span.char_start:
            problem = f"begin {begin} and end {end} found"
            raise self._place.error(f"{problem}, allowed is begin <= end", field=field)
        return span

    def _char(self, value: str, field: str) -> int:
        if not value.isascii() or not value.isdigit() or len(value) > 15:
            problem = f"{shown(value)} found, allowed is a whole number"
            raise self._place.error(problem, field=field)
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
            problem = f"the outermost element {shown(local_name(root))} found, allowed is xmi:XMI"
            raise place.error(problem)
        sofa = _initial_sofa(root, place)
        super().__init__(sofa.get("sofaString", ""), place)
        for element in root:
            if not element.tag.startswith(_CAS):
                self._add(element, sofa.get(f"{_XMI}id", ""))

    def _add(self, element: Element, sofa_id: str) -> None:
        features = {
            name: value
            for name, value in element.attrib.items()
            if name not in FRAME and not name.startswith(_XMI)
        }
        for child in element:
            features.setdefault(local_name(child), child.text or "")
        xmi_id = element.get(f"{_XMI}id", "")
        structure = FeatureStructure(xmi_id, _type_name(element.tag), features, None)
        begin, end = element.get("begin"), element.get("end")
        place = None if begin is None or end is None else (begin, end)
        self.add(structure, place, elsewhere=element.get("sofa", sofa_id) != sofa_id)


def _initial_sofa(root: Element, place: Place) -> Element:
    sofas = root.findall(f"{_CAS}Sofa")
    chosen = [sofa for sofa in sofas if sofa.get("sofaID") == INITIAL_VIEW] or sofas
    if not chosen or chosen[0].get("sofaString") is None:
        hint = "export the document with its text (UIMA CAS XMI, as INCEpTION writes it)"
        raise place.error("no text: the file has no sofaString", hint=hint)
    return chosen[0]


def _type_name(tag: str) -> str:
    """``{http:///de/x/type.ecore}Token`` as ``de.x.type.Token``."""
    namespace, _, name = tag.removeprefix("{").rpartition("}")
    package = namespace.removeprefix("http:///").removesuffix(_ECORE).replace("/", ".")
    return f"{package}.{name}".removeprefix(".").removeprefix("uima.noNamespace.")
