"""Gold for training from files: datasets folders, Parquet, and what cannot be trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest

pytest.importorskip("torch")

from sciextract import formats
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import FormatError, TrainingDataError, UsageError
from sciextract.formats.inputs import Part
from sciextract_trainer.build import labels_of
from sciextract_trainer.data.examples import gold_targets
from sciextract_trainer.data.gold import has_untyped, read_gold, sha256, unseen_labels
from tests.trainer.corpus import ONE_MENTION, TEN_SENTENCES, gold

Row = dict[str, Any]


def _rows(documents: list[AnnotatedDocument], objects: bool) -> list[Row]:
    """SciERC's columns as datasets can hold them: items as objects, or as lists of strings."""

    def item(values: list[Any]) -> Any:
        names = ("start", "end", "label") if len(values) == 3 else ("a", "b", "c", "d", "label")
        return dict(zip(names, values, strict=True)) if objects else [str(v) for v in values]

    rows = []
    for document in documents:
        record = _scierc(document)
        for layer in ("ner", "relations"):
            record[layer] = [[item(row) for row in sentence] for sentence in record[layer]]
        rows.append(record)
    return rows


def _scierc(item: AnnotatedDocument) -> Row:
    tokens, annotations = item.document.tokens, item.annotations
    words = tokens.slices(item.document.text)
    places = {e.id: tokens.aligned(e.span) for e in annotations.entities}
    spans = {
        key: [place.token_start, place.token_end - 1] for key, place in places.items() if place
    }
    ner = [[*spans[e.id], e.label] for e in annotations.entities]
    relations = [[*spans[r.head], *spans[r.tail], r.label] for r in annotations.relations]

    def by_sentence(rows: list[list[Any]]) -> list[list[Any]]:
        count = range(len(tokens.sentences))
        return [[row for row in rows if tokens.sentence_of(row[0]) == n] for n in count]

    return {
        "doc_key": item.document.doc_key,
        "sentences": [list(words[s.token_start : s.token_end]) for s in tokens.sentences],
        "ner": by_sentence(ner),
        "relations": by_sentence(relations),
        "clusters": [[spans[key] for key in c.mentions] for c in annotations.clusters],
    }


def _facts(documents: list[AnnotatedDocument]) -> list[Any]:
    return [
        (
            item.document.doc_key,
            sorted((e.label, *item.document.tokens.slices(item.document.text)) for e in a.entities),
            sorted(r.label for r in a.relations),
            [len(c.mentions) for c in a.clusters],
        )
        for item in documents
        for a in [item.annotations]
    ]


@pytest.fixture
def splits() -> dict[str, list[AnnotatedDocument]]:
    return {"train": [*TEN_SENTENCES[:4]], "validation": [TEN_SENTENCES[4]], "test": [ONE_MENTION]}


@pytest.mark.parametrize("objects", [True, False])
def test_a_layout_of_the_hub_with_the_columns_of_scierc(
    splits: dict[str, list[AnnotatedDocument]], schema: LabelSchema, tmp_path: Path, objects: bool
) -> None:
    parts = {
        name: datasets.Dataset.from_list(_rows(documents, objects))
        for name, documents in splits.items()
    }
    for name in splits:
        (tmp_path / "hub" / "data").mkdir(parents=True, exist_ok=True)
        parts[name].to_parquet(str(tmp_path / "hub" / "data" / f"{name}-00000-of-00001.parquet"))
    for name in ("train", "validation"):
        read = read_gold(tmp_path / "hub", schema, Part(name))
        assert _facts(read) == _facts(splits[name])


def test_a_folder_of_splits_with_our_own_columns(
    splits: dict[str, list[AnnotatedDocument]], schema: LabelSchema, tmp_path: Path
) -> None:
    for name, documents in splits.items():
        (tmp_path / name).mkdir()
        writer = formats.open_writer("parquet", tmp_path / name / "0000.parquet")
        for document in documents:
            writer.write(document)
        writer.close()
    assert _facts(read_gold(tmp_path, schema)) == _facts(splits["train"])
    assert _facts(read_gold(tmp_path, schema, Part.DEV)) == _facts(splits["validation"])


def test_hashes_tell_files_and_splits_apart(tmp_path: Path) -> None:
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"text": "{name}"}}\n')
    before = {part: sha256(tmp_path, part) for part in (Part.TRAIN, Part.DEV)}
    assert len({*before.values(), sha256(tmp_path / "dev.jsonl")}) == 3
    (tmp_path / "dev.jsonl").write_text('{"text": "changed"}\n')
    assert sha256(tmp_path, Part.TRAIN) == before[Part.TRAIN]
    assert sha256(tmp_path, Part.DEV) != before[Part.DEV]


def test_documents_without_any_annotation_are_no_training_set(
    schema: LabelSchema, tmp_path: Path
) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "Otters swim."}\n{"text": "Kites fly."}\n')
    with pytest.raises(
        TrainingDataError, match="nothing is annotated in its 2 documents"
    ) as caught:
        read_gold(path, schema)
    assert "gold entities" in caught.value.hint


def test_an_empty_split_is_named(schema: LabelSchema, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("")
    with pytest.raises(FormatError, match=r"train\.jsonl"):
        read_gold(tmp_path, schema)


def test_labels_that_no_document_shows(schema: LabelSchema) -> None:
    assert unseen_labels(TEN_SENTENCES, schema) == ["FEATURE-OF"]
    assert "Task" in unseen_labels([ONE_MENTION], schema)


def test_labels_of_another_schema_are_named(schema: LabelSchema, tmp_path: Path) -> None:
    row = json.dumps(_scierc(ONE_MENTION)).replace("Material", "Stuff")
    (tmp_path / "a.jsonl").write_text(row + "\n")
    with pytest.raises(UsageError, match=r"'scierc' does not know: Stuff"):
        read_gold(tmp_path / "a.jsonl", schema)


def test_mentions_of_clusters_without_a_type_become_a_class(schema: LabelSchema) -> None:
    marked = "[We||a] tune [parsers|Method] by [ourselves||b]."
    made = gold("us", marked, clusters=[["a", "b"]])
    assert has_untyped([made]) and not has_untyped(TEN_SENTENCES)
    labels = labels_of(schema, 4, untyped=True)
    assert labels.entities == (*schema.entity_labels, "") and labels.types == labels.entities[:-1]
    classes = gold_targets(made, labels).types.argmax(axis=1).tolist()
    assert classes == [
        len(labels.entities),
        1 + labels.entities.index("Method"),
        len(labels.entities),
    ]
