"""The encoder: loaded from a folder or empty, its settings, where its layers are, and new weights for some of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from sciextract.errors import ModelMismatchError, ModelNotFoundError, UsageError, as_command
from sciextract_trainer.config import ENCODERS, TrainConfig


def load_pretrained(kind: Any, source: str, **words: Any) -> Any:
    """What a class of transformers makes of a folder or hub id.

    Left to itself, transformers asks on the terminal whether it may run Python code that lies there. So no
    other place of the product calls ``from_pretrained`` (tests/contracts/test_remote_code.py).

    Args:
        kind: ``AutoConfig``, ``AutoModel``, ``AutoTokenizer`` or another class with ``from_pretrained``.
        source: Folder or hub id.
        words: What else the class takes.

    Raises:
        ModelNotFoundError: It cannot be used without code of its own.
        OSError: It is not there; other errors are the class's.
    """
    try:
        return kind.from_pretrained(source, trust_remote_code=False, **words)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise ModelNotFoundError(
            f"the encoder {source!r} needs Python code of its own, and code from elsewhere never runs",
            "use an encoder of a family that transformers knows: docs/encoders.md lists those tested",
        ) from error


def encoder_file(source: str, name: str) -> Path | None:
    """A file of an encoder on this machine; ``None`` when it has none of that name, or the hub is away."""
    from transformers.utils.hub import cached_file

    path = cached_file(
        source,
        name,
        _raise_exceptions_for_gated_repo=False,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return Path(path) if path else None


_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")
"""What families call it: the first one BERT and its kin, the second one DistilBERT."""

_BERT = frozenset(
    {"hidden_size", "intermediate_size", "max_position_embeddings", "num_hidden_layers"}
)


def read_settings(source: str) -> Any:
    """The configuration of an encoder folder or hub id.

    Configurations from the first years of BERT (SciBERT, BioBERT) name no family; they are recognised by
    their shape.

    Raises:
        ModelNotFoundError: No such folder, or the hub cannot be reached or has no such id.
    """
    from transformers import AutoConfig, BertConfig, PreTrainedConfig

    for module in ENCODERS:
        import_module(module)
    try:
        values, _ = PreTrainedConfig.get_config_dict(source)
        if (
            "model_type" not in values
            and values.keys() >= _BERT
            and values.get("type_vocab_size") == 2
        ):
            return BertConfig.from_dict(values)
        return load_pretrained(AutoConfig, source)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise no_encoder(source, error) from error


def set_attention_dropout(settings: Any, share: float) -> None:
    """Sets the dropout of attention probabilities, under whatever name the family has for it."""
    for name in _ATTENTION_DROPOUT:
        if hasattr(settings, name):
            setattr(settings, name, share)


def no_encoder(source: str, error: Exception) -> ModelNotFoundError:
    """The error for a source that gives no encoder."""
    kind = "folder" if Path(source).exists() else "hub id (or the network is away)"
    return ModelNotFoundError(
        f"no encoder can be loaded from {source!r}: {error}",
        f"give a folder with config.json and model.safetensors, or a hub id; this is a {kind}",
    )


_POOLER = "pooler."


def read_weights(source: str, settings: Any) -> Any:
    """An encoder with its weights in float32, without pooler.

    Raises:
        ModelNotFoundError: There are no weights, or only pickled ones.
        ModelMismatchError: The weights do not fit the configuration.
    """
    from transformers import AutoModel

    folder = Path(source)
    if folder.is_dir() and not any(folder.glob("*.safetensors")):
        pickled = sorted(file.name for file in folder.glob("*.bin"))
        if pickled:
            convert = as_command("python", "-m", "research", "safetensors", source, "NEW_DIR")
            raise ModelNotFoundError(
                f"{source} has its weights in {pickled[0]} only, and loading a pickle can run any code; "
                "only safetensors are read",
                f"{convert}  writes them as model.safetensors",
            )
    try:
        with _quiet():
            encoder, details = load_pretrained(
                AutoModel,
                source,
                config=settings,
                dtype=torch.float32,
                use_safetensors=True,
                output_loading_info=True,
            )
    except RuntimeError as error:  # sizes differ; transformers has shown no more than that
        raise _misfit(source, "some have other sizes") from error
    except (OSError, ValueError, ImportError, SafetensorError) as error:
        raise no_encoder(source, error) from error
    # Nobody reads the pooler, and an LSTM over word vectors has no pretrained weights.
    fresh = (_POOLER, *getattr(encoder, "begins_fresh", ()))
    missing = sorted(name for name in details["missing_keys"] if not name.startswith(fresh))
    if missing:
        raise _misfit(source, f"{len(missing)} are missing, the first is {missing[0]}")
    return without_pooler(encoder)


def without_pooler(encoder: Any) -> Any:
    """The encoder without the layer that makes one vector of a text, where it has one."""
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    return encoder


def _misfit(source: str, problem: str) -> ModelMismatchError:
    return ModelMismatchError(
        f"the weights of the encoder {source!r} do not fit its config.json: {problem}",
        "take configuration and weights from the same place",
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the loader's progress bar and table off the terminal; what is wrong is raised here."""
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


MOST = 512
"""Subwords of a window, special ones included: abstracts hardly ever have more, and attention costs the square."""

LEAST = 16
"""Subwords of text that a window must have room for."""

_COUNT_FROM_PADDING = frozenset(
    {
        "camembert", "data2vec-text", "ibert", "longformer", "mpnet", "nystromformer", "roberta",
        "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod",
    }
)  # fmt: skip
"""Families that number positions from the one after the padding subword's id."""


def text_limit(settings: Any, special: int, source: str) -> int:
    """Subwords of text that a window has room for besides its special ones.

    Raises:
        ModelMismatchError: There is hardly any.
    """
    table = getattr(settings, "max_position_embeddings", None) or 0
    padding = getattr(settings, "pad_token_id", None) or 0
    first = padding + 1 if settings.model_type in _COUNT_FROM_PADDING else 0
    # Recurrent and static encoders, and those with relative positions alone, have no table of positions.
    limit = (min(table - first, MOST) if table > 0 else MOST) - special
    if limit < LEAST:
        raise ModelMismatchError(
            f"the encoder {source!r} has room for {limit} pieces of text besides {special} special ones; "
            f"at least {LEAST} are needed",
            "use an encoder with more positions (max_position_embeddings in its config.json)",
        )
    return limit


def load_encoder(source: str, attention_dropout: float = 0.0) -> nn.Module:
    """The encoder without pooler, in float32, never with remote code or pickled weights.

    Without attention dropout the fused attention kernels serve, which are twice as fast on a CPU.

    Raises:
        ModelNotFoundError: No such folder, no safetensors, or the hub cannot be reached or has no such id.
        ModelMismatchError: The weights do not fit the configuration.
    """
    settings = read_settings(source)
    set_attention_dropout(settings, attention_dropout)
    encoder: nn.Module = read_weights(source, settings)
    return encoder


def empty_encoder(values: dict[str, Any], attention_dropout: float = 0.0) -> nn.Module:
    """The encoder that a configuration describes, with fresh weights.

    Raises:
        ValueError: The values describe none; ``TypeError``, ``KeyError`` and ``AttributeError`` likewise.
    """
    from transformers import AutoConfig, AutoModel

    for module in ENCODERS:
        import_module(module)
    settings = AutoConfig.for_model(**values)
    set_attention_dropout(settings, attention_dropout)
    encoder: nn.Module = without_pooler(
        AutoModel.from_config(settings, dtype=torch.float32, trust_remote_code=False)  # type: ignore[no-untyped-call]
    )
    return encoder


class WordEncoder(nn.Module):
    """An encoder whose output is read at the first and last subword of every word.

    Args:
        encoder: A Hugging Face encoder.
        dropout: Dropout of the states.
        bf16: Whether the encoder runs in bfloat16 autocast; the heads stay in float32.
    """

    def __init__(self, encoder: nn.Module, dropout: float, bf16: bool = False) -> None:
        super().__init__()
        self.encoder = encoder
        self.bf16 = bf16
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_first: Tensor, word_last: Tensor
    ) -> tuple[Tensor, Tensor]:
        """States of the first and last subword of every word.

        Shapes: ``input_ids``, ``attention_mask`` int64 (documents, subwords); ``word_first``,
        ``word_last`` int64 (words,), indices into the flattened batch; both results (words, hidden).
        """
        with torch.autocast(input_ids.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            states = self.encoder(input_ids=input_ids, attention_mask=attention_mask)[0]
        flat = self.dropout(states.flatten(0, 1).float())  # (documents * subwords, hidden)
        return flat[word_first], flat[word_last]


def layers_of(encoder: nn.Module, wanted_by: str) -> tuple[str, nn.ModuleList]:
    """The layers of an encoder, lowest first, and the name of their list in it.

    It is the outermost list of as many alike modules as the configuration counts layers: ``encoder.layer`` in
    BERT, RoBERTa, ELECTRA and DeBERTa, ``transformer.layer`` in DistilBERT.

    Args:
        encoder: A Hugging Face encoder.
        wanted_by: The setting that needs layers, for the message.

    Raises:
        UsageError: Its layers share their weights, as in ALBERT, or it has none.
    """
    settings: Any = getattr(encoder, "config", None)
    kind = getattr(settings, "model_type", type(encoder).__name__)
    if hasattr(settings, "num_hidden_groups"):
        raise UsageError(
            f"training setting {wanted_by} is not possible with this encoder: the layers of "
            f"{kind!r} share one set of weights, so that none can be changed alone",
            f"leave {wanted_by} out, or take another encoder",
        )
    depth = getattr(settings, "num_hidden_layers", 0)
    for name, module in encoder.named_modules():
        # A list may hold one module several times, or modules of several classes: those are no layers.
        if (
            isinstance(module, nn.ModuleList)
            and len(module) == len(set(module)) == depth > 0
            and len({type(layer) for layer in module}) == 1
        ):
            return name, module
    raise UsageError(
        f"training setting {wanted_by} is not possible with this encoder: {kind!r} has no list of "
        "layers",
        f"leave {wanted_by} out, or take a transformer as encoder",
    )


def reinitialise(encoder: nn.Module, config: TrainConfig) -> None:
    """Gives the layers that a recipe names new weights, in place.

    What a layer gets depends on the seed and on its number only; the state of torch's random numbers stays as it
    is, so that heads begin the same with and without.

    Args:
        encoder: A Hugging Face encoder.
        config: The recipe; without ``reinit_layers`` nothing is done.

    Raises:
        UsageError: The encoder has fewer layers, or none that can be changed alone.
    """
    if not config.reinit_layers:
        return
    _, layers = layers_of(encoder, "reinit_layers")
    missing = [number for number in config.reinit_layers if number > len(layers)]
    if missing:
        raise UsageError(
            f"training setting reinit_layers = {list(config.reinit_layers)} is not possible: the encoder "
            f"{config.encoder!r} has {len(layers)} layers, there is no layer {missing[0]}",
            f"use numbers from 1 (lowest) to {len(layers)}",
        )
    for number in config.reinit_layers:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(
                int(np.random.SeedSequence([config.seed, number]).generate_state(1)[0])
            )
            layer = layers[number - 1]
            if config.reinit_with == "xavier":
                # Matrices by Xavier's normal rule (Glorot and Bengio 2010), biases 0, norms 1.
                for name, parameter in layer.named_parameters():
                    if parameter.ndim > 1:
                        nn.init.xavier_normal_(parameter)
                    else:
                        nn.init.constant_(parameter, float(name.endswith("weight")))
                continue
            # As the encoder itself was initialised before its pretraining. transformers leaves alone what it has
            # loaded; the marks that say so are taken off first.
            for parameter in layer.parameters():
                parameter._is_hf_initialized = False  # type: ignore[attr-defined]
            for module in layer.modules():
                encoder._init_weights(module)  # type: ignore[operator]
