"""brat standoff, read."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import Source
from sciextract.formats.brat import read_brat
from sciextract.formats.items import MISFIT
from tests.unit.formats.brat_files import (
    ANN,
    EVENTS,
    UNREAD,
    document_of,
    mentions,
    only,
    pair,
)


def test_a_folder_is_read_below_and_sorted(tmp_path: Path) -> None:
    pair(tmp_path, name="b")
    pair(tmp_path, None, name="a/inner.v1")
    pair(tmp_path, name=".hidden")
    (tmp_path / "annotation.conf").write_text("[entities]\nMethod\n")
    items = list(read([tmp_path]))
    assert [item.document.doc_key for item in items if isinstance(item, AnnotatedDocument)] == [
        "b",
        "a/inner.v1",
    ]
    assert len(items) == 2


@pytest.mark.parametrize("suffix", [".txt", ".ann"])
def test_one_file_is_read_with_its_sibling(tmp_path: Path, suffix: str) -> None:
    path = pair(tmp_path).with_suffix(suffix)
    found = only(list(read([path], "brat")))
    assert found.document.doc_key == "gk"
    assert mentions(found) == [("Tree kernels", "Method"), ("β-proteins", "Material")]
    assert {entity.state for entity in found.annotations.entities} == {State.IMPORTED}
    assert {entity.source for entity in found.annotations.entities} == {f"import:gk{suffix}"}


def test_an_empty_text_and_empty_annotations_are_a_document(tmp_path: Path) -> None:
    assert document_of(tmp_path, "", "").document.text == ""


def test_a_mention_may_end_with_a_tab(tmp_path: Path) -> None:
    found = document_of(tmp_path, "T1\tA 5 7\t;\t\nT2\tA 7 9\tof\t\n", "rank;\t".rjust(7) + "of")
    assert mentions(found) == [(";\t", "A"), ("of", "A")]


def test_offsets_count_code_points_of_the_exact_text(tmp_path: Path) -> None:
    text = "\ufeff😀 e\u0301tude\r\nγ"
    found = document_of(
        tmp_path, "T1\tA 3 10\te\u0301tude\nT2\tB 11 12\tγ\n".replace("10", "9"), text
    )
    assert found.document.text == text
    assert mentions(found) == [("e\u0301tude", "A"), ("γ", "B")]


def test_discontinuous_mentions_are_sorted_and_old_copies_accepted(tmp_path: Path) -> None:
    found = document_of(tmp_path, "T1\tA 18 28;0 4\tβ-proteinsTree\n")
    assert found.annotations.entities[0].fragments == (Span(0, 4), Span(18, 28))


@pytest.mark.parametrize("copy", ["\tproteins. They", "", "\t"])
def test_a_line_break_in_a_mention_may_be_written_as_a_blank(tmp_path: Path, copy: str) -> None:
    found = document_of(tmp_path, f"T1\tA 20 34{copy}\n")
    assert found.annotations.entities[0].fragments == (Span(20, 34),)


def test_fragments_on_two_lines_are_one(tmp_path: Path) -> None:
    found = document_of(tmp_path, "T1\tA 20 29;30 34\tproteins. They\n")
    assert found.annotations.entities[0].fragments == (Span(20, 34),)
    found = document_of(tmp_path, "T1\tA 0 3;6 9\tOne two\n", "One\n  two.")
    assert found.annotations.entities[0].fragments == (Span(0, 9),)


def test_relations_and_clusters_are_read(tmp_path: Path) -> None:
    ann = ANN + "T3\tGeneric 30 34\tThey\nR1\tUsed-for Arg2:T2 Arg1:T1\t\n*\tCOREF T3 T1\n"
    found = document_of(tmp_path, ann).annotations
    first, second, third = (entity.id for entity in found.entities)
    assert [(relation.head, relation.tail, relation.label) for relation in found.relations] == [
        (first, second, "Used-for")
    ]
    assert [cluster.mentions for cluster in found.clusters] == [(first, third)]


def test_other_lines_are_counted_and_named_once_a_kind(tmp_path: Path) -> None:
    found = document_of(tmp_path, EVENTS + "strange line\n")
    kinds = (*UNREAD, "line of a kind that brat does not know")
    assert found.unread == dict.fromkeys(kinds, 1)
    assert found.warnings == tuple(f"not read: {kind} (once)" for kind in kinds)
    trigger, _, theme = found.annotations.entities
    assert [(relation.head, relation.tail) for relation in found.annotations.relations] == [
        (trigger.id, theme.id)
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("T1\tMethod 0 99\tTree", "line 1: T1: 0 99 found; expected offsets in"),
        ("T1\tMethod 5 5\t", "5 5 found; expected START < END"),
        ("T1\tMethod 0 3\tTree", "T1: 'Tree' found, but the text has 'Tre'"),
        ("T1\tMethod 0 4;2 6\tTree ee k", "T1: its fragments overlap"),
        ("T1\tMethod 0\tTree", "expected T1<tab>LABEL START END"),
        ("T1\tMethod -1 4\tTree", "expected T1<tab>LABEL START END"),
        ("T1 Method 0 4 Tree", "expected T1<tab>LABEL START END"),
        (f"T1\tMethod {'9' * 5000} 4\tTree", "expected T1<tab>LABEL START END"),
        (ANN + "T1\tMethod 0 4\tTree", "line 3: the id 'T1' occurs a second time"),
        (ANN + "R1\tUsed-for Arg1:T1", "expected R1<tab>LABEL Arg1:T1 Arg2:T2"),
        (
            ANN + "R1\tUsed-for Arg1:T1 Arg2:T9",
            "the id 'T9' is referred to, but no line defines it",
        ),
        (ANN + "A1\tNegated T9", "the id 'T9' is referred to, but no line defines it"),
        (ANN + "A1\tNegated", "the id '' is referred to"),
        (ANN + "*\tCOREF", "expected *<tab>KIND T1 T2"),
        (ANN + "*\tCOREF T1 T8", "mention of a cluster that is not there"),
    ],
)
def test_a_broken_line_is_left_out_and_named(tmp_path: Path, line: str, problem: str) -> None:
    found = document_of(tmp_path, line)
    assert sum(found.unread.values()) == 1
    assert problem in "; ".join(found.warnings)


def test_offsets_that_count_windows_line_ends_once_are_converted(tmp_path: Path) -> None:
    text = "Trees love kernels.\r\nThey rank proteins."
    found = document_of(tmp_path, "T1\tA 0 5\tTrees\nT2\tB 20 24\tThey\nT3\tC 1 3\txx\n", text)
    assert mentions(found) == [("Trees", "A"), ("They", "B")]
    assert any("Windows line end" in warning for warning in found.warnings)
    assert found.unread == {MISFIT: 1}


def test_wrong_encodings_name_their_place(tmp_path: Path) -> None:
    pair(tmp_path, name="good")
    pair(tmp_path, name="x").write_bytes(b"caf\xe9")
    pair(tmp_path, name="y").with_suffix(".ann").write_bytes(b"T1\tA 0 4\tTree\nT2\t\xff")
    good, first, second = read([tmp_path])
    assert isinstance(good, AnnotatedDocument)
    assert isinstance(first, BadRecord) and isinstance(second, BadRecord)
    assert "x.txt:1: byte 0xe9 at position 3 is not UTF-8" in str(first.error)
    assert "y.ann:2: byte 0xff" in str(second.error)


def test_annotations_without_a_text_are_a_bad_record(tmp_path: Path) -> None:
    pair(tmp_path).unlink()
    (bad,) = read([tmp_path])
    assert isinstance(bad, BadRecord)
    assert "no text: gk.txt is missing" in str(bad.error)


def test_files_of_the_split_layout_are_named(tmp_path: Path) -> None:
    pair(tmp_path, None)
    (tmp_path / "gk.a1").write_text("T1\tA 0 4\tTree\n")
    (kind,) = only(list(read([tmp_path], "brat"))).unread
    assert "gk.a1" in kind


def test_what_is_no_brat_at_all_is_an_error(tmp_path: Path) -> None:
    allowed = r"expected a folder of \.txt and \.ann files"
    (tmp_path / "x.csv").write_text("a,b\n")
    with pytest.raises(FormatError, match=allowed):
        list(read([tmp_path / "x.csv"], "brat"))
    with pytest.raises(FormatError, match=allowed):
        list(read_brat(Source(str(tmp_path))))
    with pytest.raises(FormatError, match=allowed):
        list(read_brat(Source("-")))
    with pytest.raises(InputMissingError):
        list(read_brat(Source(str(tmp_path / "none"))))
