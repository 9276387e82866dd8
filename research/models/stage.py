"""What every stage of a plan is, and what stages make: encoders, networks, soft labels."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from research.distillation.task import Texts
from sciextract.errors import ModelDamagedError
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.gold import sha256

if TYPE_CHECKING:
    from research.models.context import BuildContext


ENCODER_WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True)
class EncoderArtifact:
    """An encoder as a Hugging Face folder."""

    folder: Path

    def sha256(self) -> str:
        """Hash of its weights.

        Raises:
            ModelDamagedError: There are none.
        """
        return _hash(self.folder / ENCODER_WEIGHTS)


@dataclass(frozen=True, slots=True)
class NetworkArtifact:
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
class LabelsArtifact:
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


Artifact = EncoderArtifact | NetworkArtifact | LabelsArtifact


def _hash(path: Path) -> str:
    if not path.is_file():
        raise ModelDamagedError(
            f"{path} is missing: the stage that makes it is not finished, or its folder was changed",
            "remove the stage's folder and give the same command again",
        )
    return sha256(path)


class Stage(ABC):
    """One step of a plan: a frozen dataclass whose fields are the settings in the plan.

    Attributes:
        makes: What kind of product it makes.
    """

    makes: ClassVar[type[Artifact]]

    @abstractmethod
    def uses(self) -> Mapping[str, type[Artifact]]:
        """Names of the earlier stages and starting encoders that it needs, and what each has to be."""

    @abstractmethod
    def work(self, context: BuildContext, folder: Path) -> None:
        """Makes the product in ``folder``, or goes on where an earlier call stopped.

        Raises:
            TimeIsUp: The time of this call is over.
            SciextractError: It cannot be done; what is finished is kept.
        """

    @abstractmethod
    def product(self, context: BuildContext, folder: Path) -> Artifact:
        """The finished product."""

    def learns_heads_of(self) -> tuple[str, ...]:
        """Names of the encoders that it needs with the head that tells masked tokens."""
        return ()

    def inputs(self, context: BuildContext) -> dict[str, str]:
        """What the outcome depends on besides the settings and the products used: files and recipes, hashed."""
        return {}

    def outcome(self, folder: Path) -> dict[str, Any]:
        """What the record says of the result."""
        return {}

    def settings(self) -> dict[str, Any]:
        """The settings, as they stand in the record."""
        return {key: value for key, value in asdict(self).items() if value not in ("", (), {})}  # type: ignore[call-overload]
