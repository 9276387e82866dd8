"""A tiny encoder, trained heads on it and their model folder, each built once a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import research  # noqa: F401  # its networks and encoders are of families that the trainer does not know
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from tests.trainer.corpus import TEN_SENTENCES, words_of

if TYPE_CHECKING:
    from torch import nn

    from sciextract.inference.pipeline import Labels
    from sciextract_trainer.build import SubwordRules
    from sciextract_trainer.config import TrainConfig

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
POSITIONS = 128


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """The networks here are so small that threads only wait for each other."""
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _graphs_traced_once() -> Iterator[None]:
    """Networks of one structure are traced for their graphs once, not for every set of weights."""
    if not (find_spec("torch") and find_spec("onnxscript")):
        yield
        return
    import torch

    from tests.trainer.graphs import TracedOnce

    # Tests of research import this fixture: a second cache over the first would hide the exporter itself.
    if isinstance(torch.onnx.export, TracedOnce):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.onnx, "export", TracedOnce(torch.onnx.export))
        yield


@pytest.fixture
def traced_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter itself, for tests of what it makes of a second network."""
    import torch

    monkeypatch.setattr(torch.onnx, "export", torch.onnx.export.really)  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def schema() -> LabelSchema:
    return load_schema("scierc")


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer BERT with random weights and the words of the invented corpus as vocabulary."""
    import torch
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("encoder")
    vocabulary = _vocabulary()
    _save_tokenizer(folder, vocabulary)
    torch.manual_seed(0)
    settings = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=POSITIONS,
    )
    BertModel(settings).save_pretrained(folder)
    return folder


def _vocabulary() -> dict[str, int]:
    letters = "abcdefghijklmnopqrstuvwxyz.,"
    subwords = [
        *SPECIAL,
        *words_of(TEN_SENTENCES),
        *letters,
        *(f"##{letter}" for letter in letters),
    ]
    return {subword: row for row, subword in enumerate(dict.fromkeys(subwords))}


def _save_tokenizer(folder: Path, vocabulary: dict[str, int]) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    frame = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=frame
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, **dict(zip(names, SPECIAL, strict=True))
    ).save_pretrained(folder)


@pytest.fixture(scope="session")
def rules(encoder_folder: Path) -> SubwordRules:
    from sciextract_trainer.build import load_subword_rules

    return load_subword_rules(str(encoder_folder))


@pytest.fixture(scope="session")
def labels(schema: LabelSchema) -> Labels:
    from sciextract_trainer.build import labels_of

    return labels_of(schema, 4)


@pytest.fixture(scope="session")
def make_config(encoder_folder: Path) -> Callable[..., TrainConfig]:
    """Settings that memorise ten sentences in seconds, with single ones replaced."""
    from sciextract_trainer.config import config_from

    base: dict[str, Any] = {
        "encoder": str(encoder_folder),
        "epochs": 30,
        "batch_documents": 2,
        "encoder_lr": 2e-3,
        "head_lr": 5e-3,
        "dropout": 0.0,
        "span_width": 48,
        "hidden_width": 48,
        "max_span_width": 4,
        "evaluate_every": 30,
        "ema": 0.0,
        "freeze_embeddings": False,
        "bf16": False,
    }
    return lambda **changes: config_from({**base, **changes}, "test")


@pytest.fixture(scope="session")
def trained(
    make_config: Callable[..., TrainConfig],
    labels: Labels,
    rules: SubwordRules,
    tmp_path_factory: pytest.TempPathFactory,
) -> nn.Module:
    """A joint network that knows the ten sentences by heart."""
    from sciextract_trainer.data.examples import examples_from
    from sciextract_trainer.loop import TrainingData, train

    examples = list(examples_from(TEN_SENTENCES, labels, rules.encoder(), rules.limit))
    data = TrainingData(examples, TEN_SENTENCES)
    folder = tmp_path_factory.mktemp("run")
    return train(make_config(), labels, rules, data, folder, lambda event: None)


@pytest.fixture(scope="session")
def model_folder(
    trained: nn.Module,
    schema: LabelSchema,
    labels: Labels,
    rules: SubwordRules,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The model folder of that network, with both graphs, really traced. Tests that change it work on a copy."""
    import torch

    from sciextract_trainer.build import as_joint
    from sciextract_trainer.package import Packaging, write_model_folder

    folder = tmp_path_factory.mktemp("models") / "tiny"
    origin = {"encoder": "random weights", "seed": 1}
    packaging = Packaging(
        "tiny", schema, labels, rules, TEN_SENTENCES, origin, precisions=("fp32", "int8")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.onnx, "export", torch.onnx.export.really)  # type: ignore[attr-defined]
        write_model_folder(as_joint(trained), packaging, folder)
    return folder
