"""What stages make: encoders, networks, soft labels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sciextract.errors import ModelDamagedError
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.distillation.task import Texts

ENCODER_WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True)
class EncoderMade:
    """An encoder as a Hugging Face folder."""

    folder: Path

    def sha256(self) -> str:
        """Hash of its weights.

        Raises:
            ModelDamagedError: There are none.
        """
        return _hash(self.folder / ENCODER_WEIGHTS)


@dataclass(frozen=True, slots=True)
class NetworkMade:
    """A trained network.

    Attributes:
        weights: Its trained weights.
        config: Its recipe, with the encoder's folder.
        model: Its model folder, with both precisions and dev scores.
    """

    weights: Path
    config: TrainConfig
    model: Path

    def sha256(self) -> str:
        """Hash of the trained weights.

        Raises:
            ModelDamagedError: There are none.
        """
        return _hash(self.weights)


@dataclass(frozen=True, slots=True)
class LabelsMade:
    """Soft labels of texts.

    Attributes:
        folder: Their shards.
        texts: The abstracts that were labelled.
    """

    folder: Path
    texts: Texts

    def sha256(self) -> str:
        """Hash of the hashes of all shards."""
        shards = sorted(self.folder.glob("soft-*.npz"))
        return hashlib.sha256("".join(map(sha256, shards)).encode()).hexdigest()


Product = EncoderMade | NetworkMade | LabelsMade


def _hash(path: Path) -> str:
    if not path.is_file():
        raise ModelDamagedError(
            f"{path} is missing: the stage that makes it is not finished, or its folder was changed",
            "remove the stage's folder and give the same command again",
        )
    return sha256(path)
