"""BioC XML and JSON: offsets, passages, sentences, relations, clusters, and files that are broken."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, OutputError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.base import ReadItem, Source
from sciextract.formats.bioc import read_bioc_json
from sciextract.text.analyse import make_document

TEXT = "Tree kernels\nWe rank proteins with tree kernels."


def annotation(ref: str, start: int, end: int, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": ref,
        "infons": {"type": "Method"},
        "text": TEXT[start:end],
        "locations": [{"offset": start, "length": end - start}],
    }
    return {key: value for key, value in (made | changes).items() if value is not ...}


def node(ref: str, role: str) -> dict[str, str]:
    return {"refid": ref, "role": role}


def relation(*nodes: dict[str, str], **infons: str) -> dict[str, Any]:
    return {"id": "R1", "infons": infons, "nodes": [*nodes]}


def record(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": "P1",
        "passages": [
            {"offset": 0, "infons": {"type": "title"}, "text": TEXT[:12]},
            {"offset": 13, "infons": {"type": "abstract"}, "text": TEXT[13:]},
        ],
        "annotations": [annotation("T1", 0, 12), annotation("T2", 21, 29)],
        "relations": [],
    }
    return {key: value for key, value in (made | changes).items() if value is not ...}


def json_items(tmp_path: Path, content: object) -> list[ReadItem]:
    path = tmp_path / "made.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return list(read([path], "bioc-json"))


def document(tmp_path: Path, **changes: Any) -> AnnotatedDocument:
    (item,) = json_items(tmp_path, {"documents": [record(**changes)]})
    assert isinstance(item, AnnotatedDocument), item
    return item


def problem(tmp_path: Path, **changes: Any) -> str:
    (item,) = json_items(tmp_path, {"documents": [record(**changes)]})
    assert isinstance(item, BadRecord), item
    return item.error.message


def mentions(found: AnnotatedDocument) -> list[tuple[str, str]]:
    return [
        (entity.text_of(found.document.text), entity.label) for entity in found.annotations.entities
    ]


def passages(*parts: tuple[int, str]) -> list[dict[str, Any]]:
    return [{"offset": offset, "infons": {}, "text": text} for offset, text in parts]


def test_passages_are_one_text_with_the_title_on_a_line_of_its_own(tmp_path: Path) -> None:
    found = document(tmp_path)
    assert found.document.text == TEXT
    assert mentions(found) == [("Tree kernels", "Method"), ("proteins", "Method")]
    assert {entity.state for entity in found.annotations.entities} == {State.IMPORTED}
    assert found.annotations.entities[0].source == "import:made.json"
    tokens = found.document.tokens
    assert tokens.char_span(tokens.sentences[0]).of(TEXT) == "Tree kernels"
    assert found.document.fields["title"] == "Tree kernels"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(0, "ab"), (2, "cd")], "abcd"),
        ([(0, "ab"), (3, "cd")], "ab\ncd"),
        ([(0, "ab"), (5, "cd")], "ab\n  cd"),
        ([(3, "cd"), (0, "ab")], "ab\ncd"),
        ([(27, "ab"), (30, "cd")], "ab\ncd"),
        ([(0, ""), (0, "cd")], "cd"),
        ([], ""),
    ],
)
def test_gaps_between_passages_keep_offsets_right(
    tmp_path: Path, parts: list[tuple[int, str]], expected: str
) -> None:
    found = document(tmp_path, passages=passages(*parts), annotations=[])
    assert found.document.text == expected


def test_marked_sentences_are_kept(tmp_path: Path) -> None:
    sentences = [{"offset": 0, "text": "No end"}, {"offset": 8, "text": "here. It"}]
    only = [{"offset": 0, "infons": {}, "sentences": sentences}]
    found = document(tmp_path, passages=only, annotations=[])
    assert found.document.text == "No end  here. It"
    assert [len(sentence) for sentence in found.document.tokens.sentences] == [2, 3]


def test_annotations_of_sentences_and_passages_count(tmp_path: Path) -> None:
    sentence = {"offset": 13, "text": TEXT[13:], "annotations": [annotation("T2", 21, 29)]}
    parts = [
        {"offset": 0, "text": TEXT[:12], "annotations": [annotation("T1", 0, 4)]},
        {"offset": 13, "sentences": [sentence]},
    ]
    found = document(tmp_path, passages=parts, annotations=[annotation("T3", 35, 47)])
    assert [name for name, _ in mentions(found)] == ["Tree", "proteins", "tree kernels"]


def test_several_locations_are_one_discontinuous_entity(tmp_path: Path) -> None:
    parts = [{"offset": 21, "length": 8}, {"offset": 13, "length": 2}]
    split = annotation("T1", 0, 1, locations=parts, text="We proteins")
    (entity,) = document(tmp_path, annotations=[split]).annotations.entities
    assert entity.fragments == (Span(13, 15), Span(21, 29))


@pytest.mark.parametrize(
    ("roles", "head"),
    [
        (("head", "tail"), "Tree kernels"),
        (("tail", "head"), "proteins"),
        (("Chemical", "Disease"), "Tree kernels"),
        (("target", "source"), "proteins"),
        (("object", "subject"), "proteins"),
        (("", ""), "Tree kernels"),
    ],
)
def test_roles_give_the_direction(tmp_path: Path, roles: tuple[str, str], head: str) -> None:
    pair = relation(node("T1", roles[0]), node("T2", roles[1]), type="Used-for", score="0.5")
    found = document(tmp_path, relations=[pair])
    (made,) = found.annotations.relations
    assert found.annotations.entity(made.head).text_of(TEXT) == head
    assert (made.label, made.score) == ("Used-for", 0.5)


def test_what_our_model_does_not_hold_is_counted(tmp_path: Path) -> None:
    three = relation(node("T1", "a"), node("T2", "b"), node("T1", "c"), type="Event")
    concepts = relation(relation="CID", Chemical="D1", Disease="D2")
    pair = relation(node("T1", "head"), node("T1", "tail"), type="Is", note="sure")
    whole = annotation("T9", 0, 12, locations=[])
    infons = {"type": "Method", "MESH": "D12", "score": "0.25"}
    parts = record()["passages"]
    parts[1]["infons"] |= {"name": "Aims"}
    found = document(
        tmp_path,
        infons={"licence": "none", "year": "2020"},
        passages=parts,
        relations=[three, concepts, pair],
        annotations=[annotation("T1", 0, 12, infons=infons), whole],
        meta={"a": 1},
    )
    assert [entity.score for entity in found.annotations.entities] == [0.25]
    assert [relation.label for relation in found.annotations.relations] == ["Is"]
    assert found.unread == {
        "bioc annotation without a location": 1,
        "bioc identifier or other infon of an annotation": 1,
        "bioc relation that is not a pair of mentions": 2,
        "bioc infon of a relation": 1,
        "other data of a bioc document": 1,
        "bioc infon of a document": 1,
        "bioc infon of a passage": 1,
    }
    assert "not read: bioc relation that is not a pair of mentions (2 times)" in found.warnings
    assert found.document.fields == {"title": "Tree kernels", "year": 2020}


def test_clusters_are_relations_of_mentions(tmp_path: Path) -> None:
    cluster = relation(node("T1", "mention"), node("T2", "mention"), type="COREF")
    found = document(tmp_path, relations=[cluster])
    assert not found.annotations.relations
    (made,) = found.annotations.clusters
    assert made.mentions == tuple(entity.id for entity in found.annotations.entities)


def test_ids_may_repeat_from_passage_to_passage(tmp_path: Path) -> None:
    def part(offset: int, start: int, end: int) -> dict[str, Any]:
        pair = relation(node("0", "head"), node("0", "tail"), type="Same")
        shown = [annotation("0", start, end)]
        text = TEXT[:12] if not offset else TEXT[13:]
        return {"offset": offset, "text": text, "annotations": shown, "relations": [pair]}

    found = document(tmp_path, passages=[part(0, 0, 4), part(13, 21, 29)], annotations=[])
    heads = [found.annotations.entity(relation.head) for relation in found.annotations.relations]
    assert [head.text_of(TEXT) for head in heads] == ["Tree", "proteins"]
    assert found.warnings == ("annotation whose id occurs before in the document (once)",)


@pytest.mark.parametrize(
    ("unit", "start", "length"),
    [("code points", 3, 1), ("UTF-16 units", 4, 1), ("UTF-8 bytes", 7, 2)],
)
def test_units_of_offsets_are_told_by_the_quotations(
    tmp_path: Path, unit: str, start: int, length: int
) -> None:
    place = [{"offset": start, "length": length}]
    made = [annotation("T1", 0, 1, text="β", locations=place)]
    found = document(tmp_path, passages=passages((0, "😀 αβ γ")), annotations=made)
    (entity,) = found.annotations.entities
    assert entity.text_of(found.document.text) == "β"
    assert bool(found.warnings) == (unit != "code points")
    assert all(unit in warning for warning in found.warnings)


def test_bibliography_of_pubmed_central(tmp_path: Path) -> None:
    infons = {
        "type": "title",
        "article-id_pmid": "123",
        "article-id_doi": "10.1000/x",
        "year": "2020",
        "journal": "J. Made",
        "name_0": "surname:Doe;given-names:Ada",
        "name_1": "surname:Roe",
    }
    parts = [{"offset": 0, "infons": infons, "text": TEXT}]
    found = document(tmp_path, passages=parts)
    assert not found.unread
    assert found.document.fields == {
        "title": TEXT,
        "pmid": "123",
        "doi": "10.1000/x",
        "year": 2020,
        "venue": "J. Made",
        "authors": ["Doe, Ada", "Roe"],
    }


ODD: list[tuple[dict[str, Any], str]] = [
    (
        {"annotations": [annotation("T1", 0, 12, text="Trie")]},
        "text: 'Trie' found, but the text has",
    ),
    ({"annotations": [annotation("T1", 40, 70)]}, "offset 70 found, the passages go from 0 to 48"),
    ({"annotations": [annotation("T1", 0, 0)]}, "length: 0 found"),
    ({"annotations": [annotation("T1", 0, 5, locations=[{"length": 5}])]}, "offset: None found"),
    (
        {"annotations": [annotation("T1", 0, 5, locations=7)]},
        "locations: 7 found; expected a list",
    ),
    (
        {
            "annotations": [
                annotation("T1", 0, 5, locations=[{"offset": at, "length": 5} for at in (0, 2)])
            ]
        },
        "locations that overlap",
    ),
    ({"annotations": ["T1"]}, r"annotations[2]: 'T1' found; expected an object"),
    ({"relations": [relation(node("T1", "a"), node("T7", "b"))]}, "refid: 'T7' found; expected"),
]


@pytest.mark.parametrize(("changes", "message"), ODD)
def test_an_odd_item_is_left_out_and_named_and_the_document_stays(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    odd = {name: [*record()[name], *listed] for name, listed in changes.items()}
    found = document(tmp_path, **odd)
    assert mentions(found) == mentions(document(tmp_path))
    assert sum(found.unread.values()) == 1
    assert message in "; ".join(found.warnings)


def test_what_remains_of_a_cluster_is_kept(tmp_path: Path) -> None:
    nodes = [node(ref, "mention") for ref in ("T1", "T9", "T2")]
    found = document(tmp_path, relations=[relation(*nodes, type="COREF")])
    (cluster,) = found.annotations.clusters
    assert len(cluster.mentions) == 2
    assert found.unread == {"mention of a cluster that is not there": 1}


def test_a_normalised_copy_is_kept_and_an_ellipsis_joins_fragments(tmp_path: Path) -> None:
    parts = [{"offset": 0, "length": 6}, {"offset": 19, "length": 7}]
    made = [
        annotation("T1", 0, 0, text="Breast [...] kernels", locations=parts),
        annotation("T2", 31, 41, text="SARS CoV 2"),
        annotation("T3", 42, 47, text="TNF-a"),
    ]
    made[1]["locations"], made[2]["locations"] = (
        [{"offset": start, "length": length}] for start, length in ((31, 10), (42, 5))
    )
    text = "Breast and ovarian kernels rank SARS‐CoV‐2 TNF-α."
    found = document(tmp_path, passages=passages((0, text[:26] + text[27:])), annotations=made)
    assert [name for name, _ in mentions(found)] == ["Breast kernels", "SARS‐CoV‐2", "TNF-α"]
    assert len(found.warnings) == 2 and not found.unread


BAD: list[tuple[dict[str, Any], str]] = [
    ({"passages": ...}, "no text: the document has no `passages`"),
    ({"passages": 7}, "passages: 7 found"),
    ({"passages": [{"text": "ab"}]}, "passages[0].offset: None found"),
    ({"passages": [{"offset": 0, "text": 7}]}, "passages[0].text: 7 found"),
    ({"passages": passages((0, "abc"), (2, "de"))}, "starts before the one in front of it ends"),
    ({"passages": passages((0, "a"), (10**12, "b"))}, "expected gaps of 0 to 100000"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_a_bad_document_is_named_and_the_others_are_read(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    assert message in problem(tmp_path, **changes)
    assert "made.json:1: doc_key 'P1'" in problem(tmp_path, **changes)
    items = json_items(tmp_path, {"documents": [record(), record(**changes), record()]})
    assert [isinstance(item, BadRecord) for item in items] == [False, True, False]


SHAPES: list[Any] = [
    {"documents": [record()], "source": "s"},
    {"PubTator3": [record(relations_display=[], pmid=123)]},
    [record()],
    record(),
    json.dumps(record()) + "\n" + json.dumps(record()) + "\n",
]


@pytest.mark.parametrize("content", SHAPES)
def test_layouts_of_pubtator_and_of_the_library(tmp_path: Path, content: Any) -> None:
    for item in json_items(tmp_path, content):
        assert isinstance(item, AnnotatedDocument)
        assert len(item.annotations.entities) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("{", "broken JSON: Expecting property name"),
        ('{"documents": [', "the outer object is not closed"),
        ("7", "broken JSON: '7' found"),
        ('{"documents": 7}', "no text: the document has no `passages`"),
        ('{"documents": []}', "expected a BioC collection with `documents`"),
        ("[" * 100_000, "the JSON is nested too deeply"),
        (
            '{"documents": [], "x": NaN}',
            "broken JSON: NaN is not a JSON number",
        ),
        ('{"documents": []', "broken JSON: Expecting ',' delimiter"),
    ],
)
def test_unusable_json(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        for item in json_items(tmp_path, content):
            assert isinstance(item, BadRecord)
            raise item.error
    assert message in caught.value.message


def test_documents_in_front_of_broken_json_are_read(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    path.write_text(json.dumps({"documents": [record(), record()]}, indent=1)[:-40])
    first, second = read_bioc_json(Source(str(path)))
    assert isinstance(first, AnnotatedDocument) and isinstance(second, BadRecord)
    assert "broken JSON" in second.error.message


def test_the_line_of_a_bad_document_is_named(tmp_path: Path) -> None:
    content = json.dumps({"documents": [record(), 7, record(passages=7)]}, indent=1)
    _, first, second = json_items(tmp_path, content)
    assert isinstance(first, BadRecord) and isinstance(second, BadRecord)
    assert "'7' found between records" in first.error.message
    lines = content.split("\n")
    assert lines[(first.error.line or 0) - 1].strip() == "7,"
    assert lines[(second.error.line or 0) - 1].strip() == "{"


def annotated(text: str, *spans: tuple[int, int], **fields: Any) -> AnnotatedDocument:
    entities = tuple(
        Entity(f"E{number}", (Span(*span),), "Task") for number, span in enumerate(spans)
    )
    return AnnotatedDocument(make_document("d", text, fields), Annotations(entities))


def written(document: AnnotatedDocument) -> dict[str, Any]:
    stream = io.StringIO()
    writer = open_writer("bioc-json", stream)
    writer.write(document)
    writer.close()
    (found,) = json.loads(stream.getvalue())["documents"]
    assert isinstance(found, dict)
    return found


def test_a_known_title_is_a_passage(tmp_path: Path) -> None:
    made = annotated(TEXT, (0, 4), (21, 29), title="Tree kernels", pmid="1", year=2020)
    first, second = written(made)["passages"]
    assert first["infons"] == {"type": "title", "article-id_pmid": "1", "year": "2020"}
    assert (first["text"], second["offset"], second["text"]) == (TEXT[:12], 13, TEXT[13:])
    assert [len(passage["annotations"]) for passage in (first, second)] == [1, 1]


def test_an_entity_across_the_title_keeps_one_passage() -> None:
    (only,) = written(annotated(TEXT, (5, 15), title="Tree kernels"))["passages"]
    assert only["text"] == TEXT


def test_rejected_items_are_not_written() -> None:
    entities = [Entity(f"E{i}", (Span(i, i + 1),), "T") for i in range(2)]
    rejected = Entity("E2", (Span(2, 3),), "T", state=State.REJECTED)
    relations = (Relation("R0", "E0", "E2", "X"), Relation("R1", "E0", "E1", "X"))
    clusters = (Cluster("C0", ("E2",)), Cluster("C1", ("E0", "E2"), 0.5))
    made = Annotations((*entities, rejected), relations, clusters)
    found = written(AnnotatedDocument(make_document("d", "abc"), made))
    assert [annotation["id"] for annotation in found["passages"][0]["annotations"]] == ["T1", "T2"]
    assert [relation["id"] for relation in found["relations"]] == ["R1", "C1"]
    assert found["relations"][1]["infons"] == {"type": "COREF", "score": "0.5"}


def test_an_entity_outside_the_text_is_an_error() -> None:
    with pytest.raises(OutputError, match="E0"):
        written(annotated("abc", (2, 9)))


def test_xml_counts_characters_that_it_cannot_hold() -> None:
    stream = io.StringIO()
    writer = open_writer("bioc", stream)
    writer.write(annotated("a\x1b[31m\ud800b", (0, 2)))
    writer.close()
    assert "<text>a␛[31m\ufffdb</text>" in stream.getvalue()
    assert writer.losses == {"character that XML cannot hold": 2}
