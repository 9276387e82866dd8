"""In which order a project is predicted, and how much of an import is one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema_file import load_schema
from sciextract.store import Project, create_project, open_project
from sciextract.workflows.import_files import ImportListener, import_files
from sciextract.workflows.predict_project import predict_project
from tests.cli.fakes import RuleExtractor

COUNT = 7


class Noting(RuleExtractor):
    """Notes what it sees, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        for document in documents:
            self.seen.append(int(document.text.split()[1].rstrip(".")))
            yield self.annotate(document)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    lines = [{"id": str(n), "text": f"Number {n} of taggers."} for n in range(1, COUNT + 1)]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.fixture
def project(tmp_path: Path, file: Path) -> Project:
    project = create_project(tmp_path / "p.sciextract", load_schema("scierc"))
    import_files(project, [str(file)])
    return project


def test_without_an_order_as_they_came(project: Project) -> None:
    model = Noting()
    assert predict_project(project, model).documents == COUNT
    assert model.seen == list(range(1, COUNT + 1))


def test_wanted_ones_first_and_each_once(project: Project) -> None:
    model = Noting()
    project.actions.mark_done(5)
    report = predict_project(project, model, order=[6, 5, 2, 99, 6])
    assert model.seen == [6, 2, 1, 3, 4, 7]
    assert (report.documents, report.skipped) == (6, 1)


def test_an_order_can_change_its_mind(project: Project) -> None:
    model = Noting()

    def order() -> Iterator[int]:
        yield 3
        yield 7 if model.seen == [3] else 1

    predict_project(project, model, order=order())
    assert model.seen[:2] == [3, 7]


def test_an_import_in_small_transactions_is_one_event(tmp_path: Path, file: Path) -> None:
    path, seen = tmp_path / "q.sciextract", []
    with create_project(path, load_schema("scierc")) as project:

        def progress(records: int) -> None:
            with open_project(path, read=True) as other:
                seen.append((records, len(other.numbers())))

        import_files(project, [str(file)], listener=ImportListener(progress=progress), at_a_time=3)
        assert seen == [(3, 3), (6, 6), (7, 7)]
        assert [event.kind for event in project.log()] == ["import", "schema"]
        project.undo()
        assert project.numbers() == []
