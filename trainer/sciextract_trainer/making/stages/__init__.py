"""The kinds of stages that a plan can have, one module each."""

from __future__ import annotations

from sciextract_trainer.making.stage import Stage
from sciextract_trainer.making.stages.distil_encoder import DistilEncoder
from sciextract_trainer.making.stages.label import Label
from sciextract_trainer.making.stages.pretrain import Pretrain
from sciextract_trainer.making.stages.smaller import Smaller
from sciextract_trainer.making.stages.soup import Soup
from sciextract_trainer.making.stages.subplan import Subplan
from sciextract_trainer.making.stages.train import Train

KINDS: dict[str, type[Stage]] = {
    "pretrain": Pretrain,
    "smaller": Smaller,
    "distil-encoder": DistilEncoder,
    "train": Train,
    "label": Label,
    "soup": Soup,
    "plan": Subplan,
}
"""What ``kind`` of a stage may say."""
