"""Two tiny teachers with different tokenizers and sizes, and texts that nobody has labelled."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sciextract import formats
from sciextract.documents.schema import LabelSchema
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.encoders.tiny import roberta

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels
    from sciextract_trainer.build import SubwordRules
    from sciextract_trainer.config import TrainConfig

Run = Callable[..., tuple[int, list[dict[str, Any]], str]]
"""Exit code, events and standard error of a command."""


@pytest.fixture(scope="session")
def other_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A RoBERTa of half the width, which cuts words into subwords of bytes."""
    import torch
    from transformers import RobertaConfig, RobertaModel

    folder = tmp_path_factory.mktemp("other-encoder")
    roberta(folder)
    settings = RobertaConfig.from_pretrained(folder)
    settings.hidden_size, settings.intermediate_size = 16, 32
    torch.manual_seed(1)
    RobertaModel(settings, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def other_rules(other_encoder: Path) -> SubwordRules:
    from sciextract_trainer.build import load_subword_rules

    return load_subword_rules(str(other_encoder))


@pytest.fixture(scope="session")
def other_folder(
    other_encoder: Path,
    other_rules: SubwordRules,
    make_config: Callable[..., TrainConfig],
    schema: LabelSchema,
    labels: Labels,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The model folder of a network on that encoder with fresh heads."""
    from sciextract_trainer.build import build_network
    from sciextract_trainer.package import Packaging, write_model_folder

    folder = tmp_path_factory.mktemp("models") / "other"
    network = build_network(make_config(encoder=str(other_encoder)), labels)
    packaging = Packaging("other", schema, labels, other_rules, TEN_SENTENCES, {"seed": 1})
    write_model_folder(network, packaging, folder)
    return folder


@pytest.fixture(scope="session")
def dev_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ten sentences as a file of gold."""
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    with closing(formats.open_writer("scierc", path)) as writer:
        for item in TEN_SENTENCES:
            writer.write(item)
    return path


@pytest.fixture(scope="session")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven unlabelled abstracts, a licence that keeps one of them out, and an empty line."""
    path = tmp_path_factory.mktemp("texts") / "invented-000.jsonl.gz"
    records = [
        {"id": item.document.doc_key, "title": "On kites", "abstract": item.document.text}
        for item in TEN_SENTENCES
    ]
    records.insert(1, {**records[0], "id": "kept out", "source": "hoc"})
    records.append({"id": "more", "title": "", "abstract": "A kettle parser handles garden data."})
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)
        lines.write("\n")
    return path


@pytest.fixture
def recipe(make_config: Callable[..., TrainConfig], tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    values = make_config(epochs=2, evaluate_every=1).to_json()
    path.write_text("".join(f"{k} = {json.dumps(v)}\n" for k, v in values.items() if v != []))
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Exit code, events and standard error of a command."""

    from research.__main__ import main

    return runner(main, capsys)


def runner(main: Callable[[list[str]], None], capsys: pytest.CaptureFixture[str]) -> Run:
    """The command of an entry point as a function."""

    def run(*words: object) -> tuple[int, list[dict[str, Any]], str]:
        code = 0
        try:
            main([str(word) for word in words])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, [json.loads(line) for line in out.splitlines() if line[:1] == "{"], err

    return run
