"""Each family's tiny encoder, built once, and one network trained and exported from it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sciextract.documents.schema import LabelSchema
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.encoders.tiny import FAMILIES

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels
    from sciextract_trainer.build import SubwordRules
    from sciextract_trainer.config import TrainConfig
    from sciextract_trainer.network.joint import JointNetwork

EACH = [pytest.param(name, marks=pytest.mark.xdist_group(f"encoder {name}")) for name in FAMILIES]

EXPORTED = pytest.mark.parametrize("family", EACH[:-2], indirect=True, scope="session")
"""All but the two BERTs, whose graphs the other tests of the trainer look at; they come last, for pytest groups
tests by the numbers of their parameters."""


@pytest.fixture(scope="session")
def make_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders of tiny encoders by family. Tests that change one work on a copy."""
    made: dict[str, Path] = {}

    def make(family: str) -> Path:
        if family not in made:
            folder = tmp_path_factory.mktemp(family)
            FAMILIES[family](folder)
            made[family] = folder
        return made[family]

    return make


@pytest.fixture
def encoder_copy(make_encoder: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """Copies that a test may damage."""

    def copy(family: str) -> Path:
        return Path(shutil.copytree(make_encoder(family), tmp_path / family))

    return copy


@pytest.fixture(scope="session", params=EACH)
def family(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def family_rules(family: str, make_encoder: Callable[[str], Path]) -> SubwordRules:
    from sciextract_trainer.build import load_subword_rules

    return load_subword_rules(str(make_encoder(family)))


@dataclass(frozen=True, slots=True)
class Learned:
    """A network after some steps.

    Attributes:
        config: Its recipe.
        network: The network.
        changed: Names of the parameters that are not what they were.
        losses: Loss before and after.
    """

    config: TrainConfig
    network: JointNetwork
    changed: frozenset[str]
    losses: tuple[float, float]


@pytest.fixture(scope="session")
def learned(
    family: str,
    make_encoder: Callable[[str], Path],
    make_config: Callable[..., TrainConfig],
    family_rules: SubwordRules,
    labels: Labels,
) -> Learned:
    from sciextract_trainer.build import build_network

    config = make_config(encoder=str(make_encoder(family)), freeze_embeddings=True)
    network = build_network(config, labels)
    before = {name: value.detach().clone() for name, value in network.named_parameters()}
    losses = _some_steps(network, config, labels, family_rules)
    changed = {n for n, value in network.named_parameters() if not value.equal(before[n])}
    return Learned(config, network.eval(), frozenset(changed), losses)


def _some_steps(
    network: JointNetwork, config: TrainConfig, labels: Labels, rules: SubwordRules
) -> tuple[float, float]:
    from sciextract_trainer.data.examples import collate, examples_from
    from sciextract_trainer.network.training_step import batch_losses
    from sciextract_trainer.optimisation import make_optimiser

    examples = list(examples_from(TEN_SENTENCES, labels, rules.encoder(), rules.limit))
    batch = collate(examples, rules.pad)
    optimiser = make_optimiser(network, config)
    told = []
    for _ in range(3):
        loss = batch_losses(network.train(), batch, config, labels.relations).total(config)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        told.append(loss.item())
    return told[0], told[-1]


@pytest.fixture(scope="session")
def exported(
    family: str,
    learned: Learned,
    family_rules: SubwordRules,
    labels: Labels,
    schema: LabelSchema,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The network's model folder, with both graphs."""
    from sciextract.inference.settings import DecodeSettings
    from sciextract_trainer.package import Packaging, write_model_folder

    folder = tmp_path_factory.mktemp("models") / family
    packaging = Packaging(
        family, schema, labels, family_rules, (), {"encoder": family},
        precisions=("fp32", "int8"), settings=DecodeSettings(), samples=TEN_SENTENCES,
    )  # fmt: skip
    write_model_folder(learned.network, packaging, folder)
    return folder
