"""Patterns that no shell has expanded, and names that only look like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.cli.annotate_screen import count_records
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.errors import InputMissingError, UsageError
from sciextract.formats import BadRecord, read
from sciextract.formats.inputs import expand_inputs, is_pattern
from sciextract.store import create_project
from sciextract.workflows.import_files import import_files


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    for name in ("b.jsonl", "a.jsonl", "deep/er/c.jsonl", ".hidden.jsonl", "notes.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        key = "" if name == "notes.txt" else file.stem
        file.write_text(f'{{"id": "{key}", "text": "We parse."}}\n' if key else "We rank.", "utf-8")
    return tmp_path


def keys(*paths: object) -> list[str]:
    items = read([str(path) for path in paths])
    return [item.document.doc_key for item in items if isinstance(item, AnnotatedDocument)]


def test_a_pattern_means_its_files_sorted(papers: Path) -> None:
    assert keys(papers / "*.jsonl") == ["a", "b"]
    assert keys(papers / "[ab].json?") == ["a", "b"]
    assert keys(papers / "**" / "*.jsonl") == ["a", "b", "c"]
    assert keys(papers / "notes.txt", papers / "b*") == ["notes", "b"]


def test_a_pattern_may_mean_folders(papers: Path) -> None:
    assert keys(papers / "de*") == ["c"]


def test_folders_found_at_any_depth_are_not_read_beside_their_files(papers: Path) -> None:
    assert keys(papers / "**") == ["a", "b", "c", "notes"]


def test_names_that_look_like_patterns_mean_themselves(papers: Path) -> None:
    for name in ("*.jsonl", "refs[1].jsonl"):
        (papers / name).write_text('{"id": "literal", "text": "We parse."}\n', "utf-8")
        assert not is_pattern(str(papers / name))
        assert keys(papers / name) == ["literal"]
    assert keys(papers / "refs[[]1].*") == ["literal"]


def test_no_match_is_an_error_before_anything_is_read(papers: Path) -> None:
    with pytest.raises(InputMissingError, match=r"\*\.csv: nothing matches this pattern") as caught:
        read([str(papers / "*.csv")])
    assert "**" in caught.value.hint
    with pytest.raises(InputMissingError, match="absent: no such file or folder"):
        read([str(papers / "absent")])
    with pytest.raises(InputMissingError, match="nothing matches"):
        read([str(papers / "*" / "*.zip")])


def test_one_unusable_match_among_several_costs_only_itself(papers: Path) -> None:
    (papers / "c.jsonl").write_bytes(b"%PDF-1.7")
    items = list(read([str(papers / "*.jsonl")]))
    assert [type(item) for item in items] == [AnnotatedDocument, AnnotatedDocument, BadRecord]


def test_standard_input_stays_itself() -> None:
    assert expand_inputs(["-"]) == ["-"] and not is_pattern("-")


def test_records_are_counted_for_the_remaining_time(papers: Path) -> None:
    assert count_records(expand_inputs([str(papers / "**" / "*.jsonl")])) == 3
    assert count_records([str(papers / "gone.csv")]) is None


def test_every_match_is_an_import_of_its_own(papers: Path) -> None:
    with create_project(papers / "p.sciextract", load_schema("scierc")) as project:
        report = import_files(project, [str(papers / "*.jsonl")])
        assert (report.counts.documents, report.counts.known) == (1, 1)  # both have one text
        with pytest.raises(UsageError, match="is the project itself"):
            import_files(project, [str(papers / "*.sciextract")])
