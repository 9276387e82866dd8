"""CoNLL-2012: what is written and not counted as lost comes back."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import open_writer, read
from tests.strategies import PIECES, annotated_documents
from tests.tiers import examples

FEW = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))

#: Penn Treebank escapes are read as their characters.
UNESCAPED = [piece for piece in PIECES if piece not in ("-LRB-", "'", "\\", "\\n")]


def written(format_id: str, *documents: AnnotatedDocument) -> tuple[str, Counter[str]]:
    stream = io.StringIO()
    writer = open_writer(format_id, stream)
    for document in documents:
        writer.write(document)
    writer.close()
    return stream.getvalue(), writer.losses


def read_back(format_id: str, content: str, folder: Path) -> list[AnnotatedDocument]:
    path = folder / "made.json"
    path.write_text(content, encoding="utf-8", newline="")
    items = list(read([path], format_id))
    assert all(isinstance(item, AnnotatedDocument) for item in items), items
    return [item for item in items if isinstance(item, AnnotatedDocument)]


def scierc(document: AnnotatedDocument) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(written("scierc", document)[0])
    return record


@FEW
@given(document=annotated_documents(pieces=UNESCAPED))
def test_conll2012_holds_names_and_coreference(
    document: AnnotatedDocument, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content, losses = written("conll2012", document)
    [back] = read_back("conll2012", content, tmp_path_factory.mktemp("conll2012"))
    found, wanted = scierc(back), scierc(document)
    assert list(map(len, found["sentences"])) == list(map(len, wanted["sentences"]))
    names, everything = ([item for part in one["ner"] for item in part] for one in (found, wanted))
    assert all(name in everything for name in names)
    assert len(names) == len(everything) - losses["nested or overlapping entity"]
    left_out = sum(count for kind, count in losses.items() if kind.startswith("mention "))
    if not left_out:
        assert sorted(map(sorted, found["clusters"])) == sorted(map(sorted, wanted["clusters"]))
    assert written("conll2012", back)[0] == content
