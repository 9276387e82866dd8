"""UIMA CAS XMI: layers, chains, offsets, type systems, and files that are broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import cassis
import pytest

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.errors import FormatError, OutputError
from sciextract.formats import open_writer, read
from sciextract.text.analyse import make_document
from tests.shared_data import shared_path

TEXT = "We rank 😀 proteins.\r\nThey fold."
NAMESPACES = {
    "ner": "de/tudarmstadt/ukp/dkpro/core/api/ner/type",
    "seg": "de/tudarmstadt/ukp/dkpro/core/api/segmentation/type",
    "coref": "de/tudarmstadt/ukp/dkpro/core/api/coref/type",
    "meta": "de/tudarmstadt/ukp/dkpro/core/api/metadata/type",
    "pos": "de/tudarmstadt/ukp/dkpro/core/api/lexmorph/type/pos",
    "old": "webanno/custom",
    "custom": "custom",
    "other": "org/other",
}


def element(name: str, xmi_id: int, begin: int | None = None, end: int = 0, **more: Any) -> str:
    place = {"sofa": 1, "begin": begin, "end": end} if begin is not None else {}
    attributes = {"xmi:id": xmi_id, **place, **more}
    return f"<{name} {' '.join(f'{k}={quoteattr(str(v))}' for k, v in attributes.items())}/>"


def xmi(*elements: str, text: str = TEXT) -> str:
    names = "".join(f' xmlns:{k}="http:///{v}.ecore"' for k, v in NAMESPACES.items())
    sofa = text.replace("&", "&amp;").replace("\r", "&#13;").replace("\n", "&#10;")
    return (
        '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        f'xmlns:cas="http:///uima/cas.ecore"{names} xmi:version="2.0">'
        f'<cas:NULL xmi:id="0"/>{"".join(elements)}<cas:Sofa xmi:id="1" sofaNum="1" '
        f'sofaID="_InitialView" mimeType="text" sofaString="{sofa}"/>'
        '<cas:View sofa="1" members=""/></xmi:XMI>'
    )


def document(tmp_path: Path, *elements: str, text: str = TEXT) -> AnnotatedDocument:
    path = tmp_path / "made.xmi"
    path.write_text(xmi(*elements, text=text), encoding="utf-8", newline="")
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument), item
    return item


def mentions(found: AnnotatedDocument) -> list[tuple[str, str]]:
    text = found.document.text
    return [(entity.text_of(text), entity.label) for entity in found.annotations.entities]


TYPES = """<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>
<typeDescription><name>org.other.Gene</name>
<supertypeName>de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity</supertypeName></typeDescription>
<typeDescription><name>custom.Thing</name><supertypeName>uima.tcas.Annotation</supertypeName><features>
<featureDescription><name>kind</name><rangeTypeName>uima.cas.String</rangeTypeName></featureDescription>
<featureDescription><name>sure</name><rangeTypeName>uima.cas.Boolean</rangeTypeName></featureDescription>
</features></typeDescription></types></typeSystemDescription>"""


def test_offsets_are_utf16_units(tmp_path: Path) -> None:
    found = document(tmp_path, element("ner:NamedEntity", 5, 8, 19, value="Material"))
    assert found.document.text == TEXT
    assert mentions(found) == [("😀 proteins", "Material")]
    (entity,) = found.annotations.entities
    assert (entity.state, entity.source) == (State.IMPORTED, "import:made.xmi")


def test_layers_that_users_made(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        element("custom:Span", 5, 0, 2, label="Agent"),
        element("old:Method", 6, 3, 7, value="Ranking"),
        element("custom:Span", 7, 8, 10),
        element("old:Plain", 8, 11, 19),
        element("old:Named", 9, 0, 2, kind="Group"),
    )
    expected = [("We", "Agent"), ("rank", "Ranking"), ("😀", ""), ("proteins", "Plain")]
    assert mentions(found) == [*expected, ("We", "Group")]


def test_relations_go_from_governor_to_dependent(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        element("seg:Token", 9, 3, 7),
        element("custom:Span", 5, 0, 2, label="Agent"),
        element("custom:Span", 6, 11, 19, label="Material"),
        element("custom:Relation", 7, 11, 19, Governor=5, Dependent=6, label="ranks"),
        element("custom:Relation", 8, 3, 7, Governor=6, Dependent=9),
        element("custom:Relation", 10, 3, 7, Governor=6, label="half"),
    )
    ends = [
        tuple(found.annotations.entity(end).text_of(TEXT) for end in (relation.head, relation.tail))
        for relation in found.annotations.relations
    ]
    assert ends == [("We", "proteins"), ("proteins", "rank")]
    assert [relation.label for relation in found.annotations.relations] == ["ranks", "Relation"]
    assert found.unread == {"Relation with one end only": 1}


def test_chains_are_clusters(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        element("custom:Span", 4, 11, 19, label="Material"),
        element("coref:CoreferenceLink", 5, 11, 19, next=6, referenceType="nam"),
        element("coref:CoreferenceLink", 6, 22, 26),
        element("coref:CoreferenceChain", 7, first=5),
        element("coref:CoreferenceLink", 8, 0, 2),
    )
    (cluster,) = found.annotations.clusters
    (first, second) = (found.annotations.entity(mention) for mention in cluster.mentions)
    assert (first.text_of(TEXT), first.label) == ("proteins", "Material")
    assert (second.text_of(TEXT), second.label) == ("They", "")
    assert found.unread == {
        "xmi features of an item": 1,
        "annotation of the layer CoreferenceLink": 1,
    }


def test_tokens_and_sentences_are_kept(tmp_path: Path) -> None:
    tokens = [(0, 2), (3, 7), (8, 10), (11, 20), (22, 26), (27, 31), (31, 32)]
    made = [element("seg:Token", 10 + i, *edges) for i, edges in enumerate(tokens)]
    sentences = [element("seg:Sentence", 5, 0, 20), element("seg:Sentence", 6, 22, 32)]
    table = document(tmp_path, *sentences, *made).document.tokens
    assert table.slices(TEXT)[3:5] == ("proteins.", "They")
    assert [len(sentence) for sentence in table.sentences] == [4, 3]


def test_overlapping_tokens_are_derived_instead(tmp_path: Path) -> None:
    found = document(tmp_path, element("seg:Token", 5, 0, 4), element("seg:Token", 6, 2, 7))
    assert found.warnings == ("tokens overlap: derived from the text instead (once)",)
    assert found.document.tokens.problems(len(TEXT)) == []


def test_what_is_not_read_is_counted(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        element("pos:POS", 5, 0, 2, PosValue="PRP"),
        element("pos:POS", 6, 3, 7, PosValue="VBP"),
        element("other:Gene", 7, 3, 7),
        element("ner:NamedEntity", 8, 3, 3, value="Task"),
        element("meta:TagsetDescription", 10, 0, 0, layer="x"),
    )
    assert found.unread == {
        "NamedEntity without any characters": 1,
        "annotation of the layer POS": 2,
        "annotation of the layer Gene": 1,
    }


def test_other_views_are_counted(tmp_path: Path) -> None:
    other = element("custom:Span", 9, 0, 2).replace('sofa="1"', 'sofa="3"')
    assert document(tmp_path, other).unread == {"annotation of another view": 1}


@pytest.mark.parametrize("name", ["TypeSystem.xml", "typesystem.xml", "any.xml"])
def test_a_type_system_beside_the_file_tells_more(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TYPES, encoding="utf-8")
    (tmp_path / "unrelated.xml").write_text("<typeSystemDescription>", encoding="utf-8")
    found = document(
        tmp_path,
        element("other:Gene", 5, 0, 2),
        element("custom:Thing", 6, 3, 7, sure="true", kind="Task"),
        element("custom:Thing", 7, 8, 10, sure="true"),
    )
    assert mentions(found) == [("We", "Gene"), ("rank", "Task"), ("😀", "")]
    assert [item.label for item in found.annotations.attributes] == ["sure", "sure"]
    assert found.unread == {}


def test_a_broken_type_system_is_named(tmp_path: Path) -> None:
    (tmp_path / "TypeSystem.xml").write_text("<typeSystemDescription>", encoding="utf-8")
    with pytest.raises(FormatError, match=r"TypeSystem\.xml:1:24"):
        document(tmp_path)


def test_the_document_is_called_what_its_metadata_say(tmp_path: Path) -> None:
    about = element("meta:DocumentMetaData", 5, 0, 32, documentId="P1", documentTitle="P1.txt")
    assert document(tmp_path, about).document.doc_key == "P1"
    assert document(tmp_path).document.doc_key == "made"


ODD: list[tuple[tuple[str, ...], str]] = [
    (
        (element("custom:Span", 5, 0, 99),),
        "Span with id 5.end: offset (UTF-16 units) 99 lies outside",
    ),
    (
        (element("custom:Span", 5, 9, 19),),
        "Span with id 5.begin: offset (UTF-16 units) 9 points into",
    ),
    ((element("custom:Span", 5, 7, 3),), "begin 7 and end 3 found; expected begin <= end"),
    ((element("custom:Span", 5, -1, 3),), "begin: '-1' found; expected a whole number"),
    ((element("custom:Span", 5, 0, 2), element("custom:Span", 5, 0, 2)), "a second time"),
    (
        (element("custom:Relation", 5, 0, 2, Governor=7, Dependent=8),),
        "Relation with id 5.Governor: '7' found, but no element has that id",
    ),
    ((element("coref:CoreferenceChain", 5, first=9),), "CoreferenceChain with id 5.first: '9'"),
    (
        (
            element("coref:CoreferenceChain", 5, first=6),
            element("coref:CoreferenceLink", 6, 0, 2, next=6),
        ),
        "the chain comes back to CoreferenceLink with id 6",
    ),
]


@pytest.mark.parametrize(("elements", "message"), ODD)
def test_what_does_not_fit_is_left_out_and_named(
    tmp_path: Path, elements: tuple[str, ...], message: str
) -> None:
    found = document(tmp_path, *elements)
    assert sum(found.unread.values()) >= 1
    assert message in "; ".join(found.warnings)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (xmi().encode()[:-20], "broken XML"),
        (xmi().encode("utf-16"), "broken XML|utf-16"),
        (
            xmi().replace(' sofaString="', ' other="').encode(),
            "no text: the file has no sofaString",
        ),
        (b"<other/>", "the outermost element 'other' found; expected xmi:XMI"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]>' + xmi().encode()[38:], "declares the entity 'a'"),
        (b"<x>" * 5000, "nested deeper"),
        (TYPES.encode(), "this is a type system"),
    ],
)
def test_unusable_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "made.xml"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        list(read([path], "xmi"))


def test_a_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    for name, content in (("a", xmi()), ("b", xmi()[:-9]), ("c", xmi())):
        (tmp_path / f"{name}.xmi").write_text(content, encoding="utf-8", newline="")
    (tmp_path / "TypeSystem.xml").write_text(TYPES, encoding="utf-8")
    kinds = [type(item).__name__ for item in read([tmp_path])]
    assert kinds == ["AnnotatedDocument", "BadRecord", "AnnotatedDocument"]


def annotated(key: str = "d", text: str = TEXT) -> AnnotatedDocument:
    entities = (
        Entity("E1", (Span(0, 2),), "Agent"),
        Entity("E2", (Span(8, 9), Span(10, 18)), "Material"),
        Entity("E3", (Span(10, 18),), "Material"),
        Entity("E4", (Span(21, 25),), "", state=State.REJECTED),
    )
    relations = (
        Relation("R1", "E1", "E3", "ranks"),
        Relation("R2", "E1", "E2", "ranks"),
        Relation("R3", "E1", "E4", "ranks"),
    )
    clusters = (Cluster("C1", ("E2", "E3", "E4")),)
    found = Annotations(entities, relations, clusters)
    return AnnotatedDocument(make_document(key, text), found)


def written(folder: Path, *documents: AnnotatedDocument) -> dict[str, int]:
    writer = open_writer("xmi", folder)
    for document in documents:
        writer.write(document)
    writer.close()
    return dict(writer.losses)


def test_a_folder_that_cassis_and_we_read(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    assert written(folder, annotated()) == {
        "discontinuous entity": 1,
        "relation of an entity that does not fit": 1,
        "mention of an entity that does not fit": 1,
    }
    types = cassis.load_typesystem(folder / "TypeSystem.xml")
    cas = cassis.load_cas_from_xmi(folder / "d.xmi", typesystem=types)
    (relation,) = cas.select("custom.Relation")
    assert relation.Governor.get_covered_text() == "We"
    assert (relation.get_covered_text(), relation.label) == ("proteins", "ranks")
    (back,) = read([folder])
    assert isinstance(back, AnnotatedDocument)
    assert mentions(back) == [("We", "Agent"), ("proteins", "Material")]
    assert len(back.annotations.relations) == len(back.annotations.clusters) == 1


def test_keys_become_file_names(tmp_path: Path) -> None:
    keys = ["../up", "a/b", "A\\B", "", "CON", ".hidden", "x" * 300, "ä" * 300, "\x1b[31m"]
    written(tmp_path / "out", *(annotated(key) for key in keys))
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(files) == len(keys) + 1
    assert all(len(name.encode()) < 130 and not name.startswith(".") for name in files)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    kept = {
        item.document.doc_key for item in read([tmp_path / "out"]) if not hasattr(item, "error")
    }
    assert {"../up", "a/b", "A\\B", "CON", ".hidden"} <= kept


def test_a_folder_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(OutputError, match="not empty"):
        open_writer("xmi", tmp_path)
    with pytest.raises(OutputError, match="cannot be written"):
        open_writer("xmi", tmp_path / "mine.txt")


def test_an_entity_outside_the_text_is_an_error(tmp_path: Path) -> None:
    made = Document("d", "abc", TokenTable((), ()))
    entities = (Entity("E1", (Span(2, 9),), "Task"),)
    with pytest.raises(OutputError, match="E1"):
        written(tmp_path / "out", AnnotatedDocument(made, Annotations(entities)))


def test_the_emoji_sample_has_its_emoji() -> None:
    (item,) = read([shared_path("formats/uima-xmi/testSentenceWithEmoji.xmi")])
    assert isinstance(item, AnnotatedDocument)
    assert mentions(item) == [("😊", "")]


@pytest.mark.parametrize(
    ("sample", "types"),
    [
        ("inception-relation/relation_test.xmi", "inception-relation/TypeSystem.xml"),
        ("cassis/cas_with_smileys.xmi", "cassis/webanno_types.xml"),
        *(
            (f"test{name}.xmi", "cassis/webanno_types.xml")
            for name in ("SimpleChain", "SimpleSlotFeature")
        ),
    ],
)
def test_spans_of_real_samples_agree_with_cassis(sample: str, types: str) -> None:
    path = shared_path(f"formats/uima-xmi/{sample}")
    (item,) = read([path])
    assert isinstance(item, AnnotatedDocument)
    known = cassis.load_typesystem(shared_path(f"formats/uima-xmi/{types}"))
    cas = cassis.load_cas_from_xmi(path, typesystem=known)
    assert item.document.text == cas.sofa_string
    theirs = {(annotation.begin, annotation.end) for annotation in cas.select_all_annotations()}
    ours = {(entity.span.char_start, entity.span.char_end) for entity in item.annotations.entities}
    assert ours and ours <= theirs
