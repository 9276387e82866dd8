"""CoNLL columns, in and out."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Relation,
    Span,
    TokenRange,
)
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.base import ReadItem
from sciextract.formats.tagged_tokens import tagged_ranges
from sciextract.text.analyse import make_document
from tests.shared_data import shared_path

SENTENCES = "Tree\tB-Method\nkernels\tI-Method\nwork\tO\n\nThey\tO\nrun\tO\n"


def items_of(folder: Path, content: str | bytes, format_id: str | None = "conll") -> list[ReadItem]:
    path = folder / "made.conll"
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return list(read([path], format_id))


def document_of(folder: Path, content: str) -> AnnotatedDocument:
    (item,) = items_of(folder, content)
    assert isinstance(item, AnnotatedDocument), item.error
    return item


def entities_of(document: AnnotatedDocument) -> list[tuple[str, str]]:
    text = document.document.text
    return [(entity.text_of(text), entity.label) for entity in document.annotations.entities]


def written(*documents: AnnotatedDocument) -> tuple[str, dict[str, int]]:
    stream = io.StringIO()
    writer = open_writer("conll", stream)
    for document in documents:
        writer.write(document)
    writer.close()
    return stream.getvalue(), dict(writer.losses)


def test_without_separators_each_sentence_is_a_document(tmp_path: Path) -> None:
    first, second = items_of(tmp_path, SENTENCES, None)
    assert isinstance(first, AnnotatedDocument) and isinstance(second, AnnotatedDocument)
    assert (first.document.doc_key, first.document.text) == ("made:1", "Tree kernels work")
    assert (second.document.doc_key, second.document.text) == ("made:5", "They run")
    assert entities_of(first) == [("Tree kernels", "Method")]


@pytest.mark.parametrize(
    "content",
    [
        f"-DOCSTART- -X- -X- O\n\n{SENTENCES}\n-DOCSTART-\tO\n\nx\tO\n",
        f"{SENTENCES}\n-DOCSTART- O\n\nx\tO\n",
    ],
)
def test_separators_make_documents_of_sentences(tmp_path: Path, content: str) -> None:
    first, second = items_of(tmp_path, content)
    assert isinstance(first, AnnotatedDocument) and isinstance(second, AnnotatedDocument)
    assert first.document.text == "Tree kernels work They run"
    assert len(first.document.tokens.sentences) == 2
    assert second.document.text == "x"


def test_blanks_windows_line_ends_and_a_mark_are_read(tmp_path: Path) -> None:
    found = document_of(tmp_path, "\ufeffTree B-A\r\nker\u00a0nels I-A\r\n")
    assert entities_of(found) == [("Tree ker\u00a0nels", "A")]


def test_treebank_brackets_become_characters(tmp_path: Path) -> None:
    found = document_of(tmp_path, "-LRB-\tO\nTK\tB-A\n-RRB-\tO\n")
    assert found.document.text == "( TK )"
    content, _ = written(found)
    assert "-LRB- _ _ O\nTK _ _ B-A\n-RRB- _ _ O\n" in content


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("I-A I-A B-A I-B O I-A", [(0, 2, "A"), (2, 3, "A"), (3, 4, "B"), (5, 6, "A")]),
        ("B-A I-A L-A U-B B-A L-A", [(0, 3, "A"), (3, 4, "B"), (4, 6, "A")]),
        ("S-A B-A E-A I-A E-A", [(0, 1, "A"), (1, 3, "A"), (3, 5, "A")]),
        ("B I O B", [(0, 2, ""), (3, 4, "")]),
        ("O O", []),
    ],
)
def test_all_schemes_are_read_by_one_rule(tags: str, expected: list[Any]) -> None:
    found = tagged_ranges(tags.split())
    assert [(r.tokens.token_start, r.tokens.token_end, r.label) for r in found] == expected


def test_other_columns_and_comments_are_counted(tmp_path: Path) -> None:
    content = "# newdoc\n# text = x y\nx\tNN\tO\tB-A\ny\tVB\tO\tO\n"
    found = document_of(tmp_path, content)
    assert found.unread == {"conll columns of a token": 2, "conll comment": 2}
    assert found.warnings[0] == "not read: conll columns of a token (2 times)"
    assert "x _ _ B-A\ny _ _ O\n" in written(found)[0]


@pytest.mark.parametrize("row", ["# O", "#\tB-A", "#tag O", "# key = x\tO"])
def test_a_number_sign_may_be_a_token(tmp_path: Path, row: str) -> None:
    assert document_of(tmp_path, f"x O\n{row}\n".replace("x O", "x\tO" if "\t" in row else "x O"))


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("Tree\n", "made.conll:3: 'Tree' found; expected a token and its tag"),
        ("Tree\tMethod\n", "made.conll:3: the tag 'Method' found; expected O, or B-"),
        ("Tree\tB-\n", "the tag 'B-' found"),
        ("\tO\n", "expected a token and its tag"),
        ("a\tO\nb\tNN\tO\n", "made.conll:4: doc_key 'made:3': 3 columns found; expected 2"),
        (b"caf\xe9\tO\n", "made.conll:3: byte 0xe9"),
    ],
)
def test_a_broken_sentence_names_its_place(
    tmp_path: Path, sentence: str | bytes, problem: str
) -> None:
    middle = sentence.encode("utf-8") if isinstance(sentence, str) else sentence
    first, bad, last = items_of(tmp_path, b"x\tO\n\n" + middle + b"\ny\tO\n")
    assert isinstance(first, AnnotatedDocument) and isinstance(last, AnnotatedDocument)
    assert isinstance(bad, BadRecord)
    assert problem in str(bad.error)


@pytest.mark.parametrize("content", ["", "\n\n", "-DOCSTART- O\n\n"])
def test_nothing_to_read_is_an_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(FormatError, match="empty"):
        items_of(tmp_path, content)


TEXT = "Tree kernels rank.\tThey work."


def test_what_tags_cannot_hold_is_counted() -> None:
    entities = (
        Entity("a", (Span(0, 12),), "Method"),
        Entity("b", (Span(5, 17),), "Task"),
        Entity("c", (Span(5, 12),), "Task"),
        Entity("d", (Span(0, 4), Span(13, 17)), "Task"),
        Entity("e", (Span(13, 23),), "Task"),
        Entity("f", (Span(24, 28),), ""),
        Entity("g", (Span(24, 29),), "Ω x"),
    )
    layers = Annotations(entities, (Relation("r", "a", "b", "Of"),), (Cluster("k", ("a",)),))
    content, losses = written(AnnotatedDocument(make_document("d", TEXT), layers))
    assert losses == {
        "document key and exact text": 1,
        "label with other characters": 1,
        "relation": 1,
        "cluster": 1,
        "nested or overlapping entity": 2,
        "discontinuous entity": 1,
        "entity across sentences": 1,
        "entity without a type": 1,
    }
    assert content.splitlines()[2:4] == ["Tree _ _ B-Method", "kernels _ _ I-Method"]


PLAIN = """-DOCSTART- -X- O O

Tree _ _ B-Method
kernels _ _ I-Method
rank _ _ O
. _ _ O

They _ _ O
run_fast _ _ B-Ω_x
. _ _ O

-DOCSTART- -X- O O

-DOCSTART- -X- O O

-DOCSTART_ _ _ B-Task
# _ _ O

"""


@pytest.fixture
def plain() -> tuple[str, dict[str, int]]:
    text = "Tree kernels rank.\nThey run\u00a0fast."
    spans = Span(0, 12), Span(24, 32)
    table = TokenTable(
        (
            Span(0, 4),
            Span(5, 12),
            Span(13, 17),
            Span(17, 18),
            Span(19, 23),
            Span(24, 32),
            Span(32, 33),
        ),
        (TokenRange(0, 4), TokenRange(4, 7)),
    )
    first = Annotations((Entity("a", spans[:1], "Method"), Entity("b", spans[1:], "Ω x")))
    second = Annotations((Entity("a", (Span(0, 10),), "Task"),))
    marks = TokenTable((Span(0, 10), Span(11, 12)), (TokenRange(0, 2),))
    return written(
        AnnotatedDocument(Document("d", text, table), first),
        AnnotatedDocument(make_document("e", "")),
        AnnotatedDocument(Document("f", "-DOCSTART- #", marks), second),
    )


def test_the_plain_layout_is_that_of_conll_2003(
    plain: tuple[str, dict[str, int]], tmp_path: Path
) -> None:
    content, losses = plain
    assert content == PLAIN
    assert losses == {
        "document key and exact text": 3,
        "token with other characters": 2,
        "label with other characters": 1,
        "document without tokens": 1,
    }
    first, second = items_of(tmp_path, content)
    assert isinstance(first, AnnotatedDocument) and isinstance(second, AnnotatedDocument)
    assert entities_of(first) == [("Tree kernels", "Method"), ("run_fast", "Ω_x")]
    assert (first.document.fields, first.warnings) == ({}, ())
    assert entities_of(second) == [("-DOCSTART_", "Task")]


def test_spacy_converts_the_plain_layout(plain: tuple[str, dict[str, int]]) -> None:
    converters = pytest.importorskip("spacy.training.converters")
    first, second = converters.conll_ner_to_docs(plain[0], no_print=True)
    assert [token.text for token in first] == [
        *("Tree", "kernels", "rank", ".", "They", "run_fast", ".")
    ]
    assert [len(sentence) for sentence in first.sents] == [4, 3]
    assert [(ent.text, ent.label_) for ent in first.ents] == [
        ("Tree kernels", "Method"),
        ("run_fast", "Ω_x"),
    ]
    assert [token.text for token in second] == ["-DOCSTART_", "#"]


def test_the_usual_loop_over_conll_2003_reads_it() -> None:
    entity = Entity("a", (Span(0, 12),), "Method")
    content, _ = written(AnnotatedDocument(make_document("d d", TEXT), Annotations((entity,))))
    found: list[tuple[list[str], list[str]]] = [([], [])]
    for line in content.splitlines():
        if line.startswith("-DOCSTART-") or not line:
            found.append(([], []))
        else:
            token, _, _, tag = line.split(" ")
            found[-1][0].append(token)
            found[-1][1].append(tag)
    assert [row for row in found if row[0]] == [
        (["Tree", "kernels", "rank", "."], ["B-Method", "I-Method", "O", "O"]),
        (["They", "work", "."], ["O", "O", "O"]),
    ]


@pytest.mark.parametrize(
    ("name", "documents", "entities"),
    [
        ("wikigold-sample.conll", 6, 280),
        ("wnut17-dev-sample.conll", 200, 192),
        ("scibert-ncbi-dev-4col.txt", 80, 66),
    ],
)
def test_real_files_come_back_equal(
    tmp_path: Path, name: str, documents: int, entities: int
) -> None:
    found = [
        i for i in read([shared_path(f"formats/conll2003/{name}")]) if not isinstance(i, BadRecord)
    ]
    assert len(found) == documents
    assert sum(len(item.annotations.entities) for item in found) == entities
    content, losses = written(*found)
    assert {*losses} <= {"document key and exact text", "conll columns of a token"}
    again = [i for i in items_of(tmp_path, content) if not isinstance(i, BadRecord)]
    assert [item.document.text for item in again] == [item.document.text for item in found]
    assert [item.document.tokens for item in again] == [item.document.tokens for item in found]
    assert [*map(entities_of, again)] == [*map(entities_of, found)]


@pytest.mark.parametrize("start", ["", "-DOCSTART- O\n\n"])
def test_a_first_column_that_counts_tokens_is_no_token(tmp_path: Path, start: str) -> None:
    rows = "1 Tree _ B-A\n2 kernels _ I-A\n\n1 They _ O\n\n1 Trees _ O\n2 grow _ O\n"
    texts = [item.document.text for item in items_of(tmp_path, start + rows)]  # type: ignore[union-attr]
    assert " ".join(texts) == "Tree kernels They Trees grow"


def test_numbers_that_do_not_count_are_tokens(tmp_path: Path) -> None:
    first, _ = items_of(tmp_path, "1 CD O\n2 CD O\n\nTrees NN O\n")
    assert first.document.text == "1 2"  # type: ignore[union-attr]
