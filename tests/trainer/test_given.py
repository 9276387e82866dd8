"""Relations between given entities: learned, scored, packed, served."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import UsageError
from sciextract.inference.extractor import Extractor
from sciextract.workflows.evaluate import evaluate_file
from sciextract_trainer.build import family_of, labels_for
from sciextract_trainer.config import TrainConfig, find_recipe, load_config
from sciextract_trainer.evaluate import classification_of, dev_report, dev_scores
from sciextract_trainer.run import TrainingJob, run_training
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.records import scierc_line

GIVEN = {
    "given_entities": True,
    "entity_weight": 0.0,
    "coreference_weight": 0.0,
    "select_by": "relation",
}


@pytest.fixture(scope="module")
def model(
    make_config: Callable[..., TrainConfig],
    schema: LabelSchema,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, dict[str, Any]]:
    """A model folder that relates the entities of the ten sentences, and its stated scores."""
    folder = tmp_path_factory.mktemp("given")
    data = folder / "train.jsonl"
    data.write_text("".join(map(scierc_line, TEN_SENTENCES)), encoding="utf-8")
    job = TrainingJob(
        make_config(**GIVEN), schema, data, data,
        run_folder=folder / "run", output=folder / "model", name="related",
    )  # fmt: skip
    return job.output, run_training(job, lambda event: None)


def bare(item: AnnotatedDocument) -> AnnotatedDocument:
    """Entities only."""
    return replace(item, annotations=Annotations(item.annotations.entities))


def test_the_recipe_is_sound() -> None:
    config = load_config(find_recipe("relations-given"))
    assert config.given_entities and config.relation_weight > 0


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"network": "dygie"}, "network = 'dygie'"),
        ({"entity_weight": 1.0}, "entity_weight above 0"),
        ({"coreference_weight": 0.5}, "coreference_weight above 0"),
    ],
)
def test_what_does_not_go_together_is_named(
    make_config: Callable[..., TrainConfig], changes: dict[str, Any], named: str
) -> None:
    with pytest.raises(UsageError, match=named):
        make_config(**{**GIVEN, **changes})


def test_ten_sentences_are_learned(model: tuple[Path, dict[str, Any]]) -> None:
    _, scores = model
    assert scores["fp32"]["relation"] > 90 and scores["fp32"]["relation_macro"] > 90
    assert scores["fp32"]["relation_labels"]["USED-FOR"] > 90
    assert scores["fp32"]["ner"] is None and scores["fp32"]["coreference"] is None


def test_the_folder_relates_given_entities(model: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = model
    extractor = Extractor.load(folder, threads=1, precision="int8")
    found = list(extractor.stream_given(map(bare, TEN_SENTENCES)))
    right = {
        (item.document.doc_key, r.head, r.label)
        for item in TEN_SENTENCES
        for r in item.annotations.relations
    }
    told = {
        (item.document.doc_key, r.head, r.label)
        for item in found
        for r in item.annotations.relations
    }
    assert len(right & told) > 0.7 * len(right)
    assert [item.annotations.entities for item in found] == [
        item.annotations.entities for item in TEN_SENTENCES
    ]
    assert not any(item.annotations.clusters for item in found)


def test_it_does_not_pretend_to_find_entities(model: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = model
    with pytest.raises(UsageError, match="predicts no entities") as caught:
        Extractor.load(folder, threads=1)(["Kite networks fly."])
    assert "--given-entities" in caught.value.hint


def test_its_configuration_says_that_entities_are_given(model: tuple[Path, dict[str, Any]]) -> None:
    config = json.loads((model[0] / "config.json").read_text(encoding="utf-8"))
    assert config["given_entities"] is True


def test_the_card_says_what_it_is(model: tuple[Path, dict[str, Any]]) -> None:
    card = (model[0] / "README.md").read_text(encoding="utf-8")
    assert "It predicts no entities" in card and "macro F1" in card and "| USED-FOR, F1 |" in card


def test_it_is_evaluated_on_the_gold_entities(
    model: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(map(scierc_line, TEN_SENTENCES)), encoding="utf-8")
    extractor = Extractor.load(model[0], threads=1)
    report, _ = evaluate_file(str(gold), extractor, bootstrap=False)
    assert report.ner.all.f1 == 100 and report.relation.boundaries.ordered.f1 > 50


def test_only_relations_are_scored(
    make_config: Callable[..., TrainConfig], schema: LabelSchema, rules: Any
) -> None:
    config = make_config(**GIVEN)
    family, labels = family_of(config), labels_for(config, schema)
    assert not labels.coreference
    predict = family.predictor(family.build(config, labels), labels, rules)
    scores = dev_scores(predict, TEN_SENTENCES, labels.relations.symmetric)
    assert scores.entity is None and scores.coreference is None and scores.relation is not None
    found = classification_of(dev_report(predict, TEN_SENTENCES, labels.relations.symmetric))
    assert found.micro.gold == sum(len(i.annotations.relations) for i in TEN_SENTENCES)
    mean = sum(label.f1 for label in found.labels.values()) / len(found.labels)
    assert found.macro_f1 == pytest.approx(mean)
