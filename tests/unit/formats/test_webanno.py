"""WebAnno TSV 3: escapes, stacked annotations, relations and chains; broken lines are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats import open_writer, read
from sciextract.text.analyse import make_document

HEAD = """#FORMAT=WebAnno TSV 3.3
#T_SP=webanno.custom.Term|kind
#T_RL=webanno.custom.Rel|value|BT_webanno.custom.Term


"""
BODY = """#Text=We rank \\\\n 😀 .
1-1\t0-2\tWe\tA\\|B[1]|*[2]\t_\t_\t
1-2\t3-7\trank\tA\\|B[1]\t_\t_\t
1-3\t8-10\t\\\\n\t_\t_\t_\t
1-4\t11-13\t😀\tC\tgoes\\_on\t1-1[1_0]\t
1-5\t14-15\t.\t_\t_\t_\t
"""


def read_one(path: Path, content: str) -> AnnotatedDocument:
    path.write_text(content, "utf-8")
    [item] = read([path])
    assert isinstance(item, AnnotatedDocument), item
    return item


def test_stacked_annotations_relations_and_escapes(tmp_path: Path) -> None:
    found = read_one(tmp_path / "made.tsv", HEAD + BODY)
    text, items = found.document.text, found.annotations
    assert text == "We rank \\n 😀 ."
    mentions = {(each.text_of(text), each.label) for each in items.entities}
    assert mentions == {("We rank", "A|B"), ("We", ""), ("😀", "C")}
    [relation] = items.relations
    ends = [items.entity(each).label for each in (relation.head, relation.tail)]
    assert (ends, relation.label) == (["A|B", "C"], "goes_on")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("1-2\t3-7", "1-2\t4-8", "made.tsv:8: the token 'rank' found, but the text has something"),
        ("1-1\t0-2", "one\t0-2", "made.tsv:7: ['one', '0-2', 'We'] found"),
        ("\tC\tgoes", "\tgoes", "2 columns found behind the token, the header has 3"),
        ("1-1[1_0]", "9-9", "'9-9' found; expected the number of a token"),
        ("#Text=We", "#Text=They", "made.tsv:7: the token 'We' with the range 0-2 found"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_one(tmp_path / "made.tsv", HEAD + BODY.replace(old, new))
    assert problem in caught.value.message


def test_labels_with_every_reserved_character_come_back(tmp_path: Path) -> None:
    labels = ["a|b", "_", "*", "x[1]", "->", "\\", "a;\tb\\", "\\[3]"]
    entities = tuple(
        Entity(f"E{i}", (Span(0, 4),), label, state=State.IMPORTED)
        for i, label in enumerate(labels)
    )
    relation = Relation("R", "E0", "E3", "p|[2]_", state=State.IMPORTED)
    cluster = Cluster("C", ("E1", "E2"), state=State.IMPORTED)
    given = Annotations(entities, (relation,), (cluster,))
    writer = open_writer("webanno", tmp_path / "out")
    writer.write(AnnotatedDocument(make_document("d", "Bees hum."), given))
    writer.close()
    assert not writer.losses
    [back] = read([tmp_path / "out" / "d.tsv"])
    assert isinstance(back, AnnotatedDocument)
    found = back.annotations
    assert [each.label for each in found.entities] == labels
    assert [each.label for each in found.relations] == ["p|[2]_"]
    assert found.entity(found.relations[0].head).label == "a|b"
    assert [len(each.mentions) for each in found.clusters] == [2]
