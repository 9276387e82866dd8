"""PubTator, in and out."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from bioc import pubtator

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.base import ReadItem
from sciextract.text.analyse import make_document
from tests.shared_data import shared_path

HEAD = "12|t|Aspirin and β-blockers.\n12|a|Aspirin lowers pain. Pain returns.\n"
ROWS = """\
12\t0\t7\tAspirin\tChemical\tD001241
12\t12\t22\tβ-blockers\tChemical
12\t24\t31\tAspirin\tChemical\tD001241|X9\tother
12\t39\t43\tpain\tDisease\tD010146
12\tCID\tD001241\tD010146
"""


def items_of(folder: Path, content: str | bytes) -> list[ReadItem]:
    path = folder / "made.pubtator"
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return list(read([path]))


def document_of(folder: Path, content: str) -> AnnotatedDocument:
    (item,) = items_of(folder, content)
    assert isinstance(item, AnnotatedDocument), item.error
    return item


def written(*documents: AnnotatedDocument) -> tuple[str, dict[str, int]]:
    stream = io.StringIO()
    writer = open_writer("pubtator", stream)
    for document in documents:
        writer.write(document)
    writer.close()
    return stream.getvalue(), dict(writer.losses)


def rows_of(document: AnnotatedDocument) -> list[str]:
    return written(document)[0].splitlines()[2:-1]


def relations_of(document: AnnotatedDocument) -> list[tuple[int, str, int]]:
    starts = {entity.id: entity.span.char_start for entity in document.annotations.entities}
    return [(starts[r.head], r.label, starts[r.tail]) for r in document.annotations.relations]


def test_title_and_abstract_are_joined_by_one_character(tmp_path: Path) -> None:
    found = document_of(tmp_path, HEAD + ROWS)
    text = found.document.text
    assert text == "Aspirin and β-blockers.\nAspirin lowers pain. Pain returns."
    assert [(e.text_of(text), e.label) for e in found.annotations.entities] == [
        ("Aspirin", "Chemical"),
        ("β-blockers", "Chemical"),
        ("Aspirin", "Chemical"),
        ("pain", "Disease"),
    ]
    assert found.document.fields["pmid"] == "12"
    assert found.document.fields["title"] == "Aspirin and β-blockers."
    assert len(found.document.tokens.sentences) == 3


def test_a_relation_of_identifiers_joins_the_nearest_mentions(tmp_path: Path) -> None:
    found = document_of(tmp_path, HEAD + ROWS)
    assert relations_of(found) == [(24, "CID", 39)]
    assert "read as one of their nearest mentions (once)" in found.warnings[0]


def test_identifiers_and_what_hangs_on_them_are_counted(tmp_path: Path) -> None:
    found = document_of(tmp_path, HEAD + ROWS + "12\tCID\tD9\tD8\tNovel\n")
    assert len(found.annotations.relations) == 1
    assert found.unread == {
        "pubtator column behind an identifier": 1,
        "pubtator relation of an identifier without a mention": 1,
    }


def test_our_layers_come_back(tmp_path: Path) -> None:
    content, losses = written(document_of(tmp_path, HEAD + ROWS))
    assert set(losses) == {
        "pubtator column behind an identifier",
    }
    assert written(document_of(tmp_path, content)) == (content, {})


def test_a_rejected_relation_is_not_written(tmp_path: Path) -> None:
    found = document_of(tmp_path, HEAD + ROWS)
    (relation,) = found.annotations.relations
    rejected = replace(found.annotations, relations=(replace(relation, state=State.REJECTED),))
    assert not any("CID" in row for row in rows_of(replace(found, annotations=rejected)))


@pytest.mark.parametrize("head", [HEAD, HEAD.replace("\n", "\r\n"), "\ufeff" + HEAD])
def test_documents_may_follow_without_an_empty_line(tmp_path: Path, head: str) -> None:
    first, second = items_of(tmp_path, head + ROWS + "13|t|Title only\n")
    assert isinstance(first, AnnotatedDocument) and isinstance(second, AnnotatedDocument)
    assert (second.document.doc_key, second.document.text) == ("13", "Title only")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("12\t0\t99\tAspirin\tChemical\tD1\n", "line 3: Chemical: 0 99 found"),
        ("12\t0\t6\tAspirin\tChemical\tD1\n", "'Aspirin' found, but the text has 'Aspiri'"),
        ("12\t7\t7\t\tChemical\tD1\n", "7 7 found; expected START < END"),
        ("12\tCID\tD1\n", "found; expected ID<tab>START<tab>END"),
        ("12\n", "found; expected ID<tab>START"),
        ("13\t0\t7\tAspirin\tChemical\n", "found; expected ID<tab>START"),
    ],
)
def test_an_odd_line_is_left_out_and_named(tmp_path: Path, row: str, problem: str) -> None:
    found = document_of(tmp_path, HEAD + row + ROWS)
    assert len(found.annotations.entities) == 4
    assert problem in "; ".join(found.warnings)
    assert sum(found.unread.values()) == sum(document_of(tmp_path, HEAD + ROWS).unread.values()) + 1


def test_a_normalised_copy_is_kept(tmp_path: Path) -> None:
    found = document_of(tmp_path, HEAD + "12\t12\t22\tb-blockers\tChemical\n")
    assert len(found.annotations.entities) == len(found.warnings) == 1 and not found.unread


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        (b"12|t|x\n13|a|y\n", "the id '13' found in its lines"),
        (HEAD.encode() + b"12\t0\t7\tAspirin\tChe\xffmical\n", "made.pubtator:6: byte 0xff"),
    ],
)
def test_a_broken_line_names_its_place(tmp_path: Path, block: bytes, problem: str) -> None:
    good = b"1|t|x\n1|a|y\n\n"
    items = items_of(tmp_path, good + block + b"\n" + good)
    first, bad, last = items
    assert isinstance(first, AnnotatedDocument) and isinstance(last, AnnotatedDocument)
    assert isinstance(bad, BadRecord)
    assert problem in str(bad.error)


def test_lines_without_a_title_are_bad_records(tmp_path: Path) -> None:
    path = tmp_path / "made.pubtator"
    path.write_text("12\t0\t7\tAspirin\tChemical\n\n12|a|Aspirin.\n", "utf-8")
    first, second = read([path], "pubtator")
    assert isinstance(first, BadRecord) and isinstance(second, BadRecord)
    assert "made.pubtator:1: '12\\t0\\t7" in str(first.error)
    assert "made.pubtator:3: doc_key '12': no title line" in str(second.error)


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_nothing_to_read_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "made.pubtator").write_text(content)
    with pytest.raises(FormatError, match="empty"):
        list(read([tmp_path / "made.pubtator"], "pubtator"))


def hand_made(text: str = "Title\nA a b a.") -> AnnotatedDocument:
    entities = (
        Entity("a", (Span(6, 7),), "X"),
        Entity("b", (Span(8, 9),), ""),
        Entity("c", (Span(6, 7), Span(10, 11)), "X"),
        Entity("d", (Span(10, 11),), "b\tc"),
    )
    relations = (
        Relation("r", "d", "a", "Of"),
        Relation("s", "a", "c", "Of"),
        Relation("t", "a", "b", "Is"),
    )
    layers = Annotations(entities, relations, (Cluster("k", ("a", "c", "d")),))
    return AnnotatedDocument(make_document("d", text), layers)


def test_what_has_no_place_is_counted_and_the_rest_gets_identifiers() -> None:
    content, losses = written(hand_made())
    assert losses == {
        "discontinuous entity": 1,
        "relation of an entity that does not fit": 1,
        "mention of an entity that does not fit": 1,
    }
    assert content == (
        "d|t|Title\n"
        "d|a|A a b a.\n"
        "d\t6\t7\tA\tX\tsciextract:C1|sciextract:M1\n"
        "d\t8\t9\ta\tMention\tsciextract:M2|sciextract:label:\n"
        "d\t10\t11\tb\tb_c\tsciextract:C1|sciextract:M3|sciextract:label:b%09c\n"
        "d\tOf\tsciextract:M3\tsciextract:M1\n"
        "d\tIs\tsciextract:M1\tsciextract:M2\n"
        "\n"
    )


def test_our_identifiers_are_read_as_clusters_and_relations(tmp_path: Path) -> None:
    found = document_of(tmp_path, written(hand_made())[0])
    assert [entity.label for entity in found.annotations.entities] == ["X", "", "b\tc"]
    assert relations_of(found) == [(10, "Of", 6), (6, "Is", 8)]
    (cluster,) = found.annotations.clusters
    first, _, third = found.annotations.entities
    assert cluster.mentions == (first.id, third.id)
    assert found.warnings == ()
    assert not found.unread


def test_shared_identifiers_of_a_data_base_are_no_cluster(tmp_path: Path) -> None:
    assert document_of(tmp_path, HEAD + ROWS).annotations.clusters == ()


def test_line_breaks_become_blanks_and_offsets_stay_right(tmp_path: Path) -> None:
    document = AnnotatedDocument(
        make_document("a|b", "T\r\nx\n\u2028y\n"), Annotations((Entity("e", (Span(3, 7),), "X"),))
    )
    content, losses = written(document)
    assert losses == {"line break in the text": 3, "document key with other characters": 1}
    found = document_of(tmp_path, content)
    assert found.document.text == "T \nx \u2028y "
    assert found.annotations.entities[0].fragments == (Span(3, 7),)


def test_another_library_reads_the_same() -> None:
    content, _ = written(hand_made())
    (found,) = pubtator.loads(content)
    assert (found.pmid, found.text) == ("d", "Title\nA a b a.")
    assert [(a.start, a.end, a.text, a.type) for a in found.annotations] == [
        (6, 7, "A", "X"),
        (8, 9, "a", "Mention"),
        (10, 11, "b", "b_c"),
    ]
    assert [(r.type, r.id1, r.id2) for r in found.relations] == [
        ("Of", "sciextract:M3", "sciextract:M1"),
        ("Is", "sciextract:M1", "sciextract:M2"),
    ]


@pytest.mark.parametrize(
    ("name", "counts"), [("CDR_sample-1.txt", (25, 422, 52)), ("tmVar-1.txt", (10, 32, 0))]
)
def test_the_layers_of_real_files_come_back(
    name: str, counts: tuple[int, int, int], tmp_path: Path
) -> None:
    path = shared_path(f"formats/pubtator/{name}")
    found = [item for item in read([path]) if isinstance(item, AnnotatedDocument)]
    entities = sum(len(item.annotations.entities) for item in found)
    relations = sum(len(item.annotations.relations) for item in found)
    assert (len(found), entities, relations) == counts
    path = tmp_path / "again.pubtator"
    content, _ = written(*found)
    path.write_text(content, "utf-8")
    again = [item for item in read([path]) if isinstance(item, AnnotatedDocument)]
    for before, after in zip(found, again, strict=True):
        assert after.document.text == before.document.text
        assert relations_of(after) == relations_of(before)
