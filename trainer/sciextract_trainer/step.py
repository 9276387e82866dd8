"""One optimiser step: in parts where memory is short, by several processes, stopped where a loss is not a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from sciextract.errors import SciextractError
from sciextract.inference.pipeline import Labels
from sciextract.retraining.events import Listener, MemoryShort, Warned
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Sized
from sciextract_trainer.families import Family, family_of
from sciextract_trainer.hardware.device import Compilation, CompileFailure, moved, reason_of
from sciextract_trainer.hardware.distributed import ALONE, Group
from sciextract_trainer.network.training_step import Losses
from sciextract_trainer.optimisation import WeightAverage

_MEMORY_WORDS = ("can't allocate memory", "not enough memory", "out of memory")


class LossError(SciextractError):
    """The loss is not a number."""


@dataclass(slots=True)
class Stepper:
    """Takes optimiser steps.

    Attributes:
        config: The recipe.
        labels: What the classes mean.
        rules: The tokenizer.
        device: Where the network is.
        listener: Gets an event when memory is short, or the encoder cannot be compiled.
        most: Documents that fit into memory at once; 0 as long as all did.
        group: The processes that take each step together.
        compilation: What compiles the encoder.
    """

    config: TrainConfig
    labels: Labels
    rules: SubwordRules
    device: torch.device
    listener: Listener
    most: int = 0
    group: Group = ALONE
    compilation: Compilation = field(default_factory=lambda: Compilation(None))

    @property
    def family(self) -> Family[Any, Any, Any]:
        """The kind of network."""
        return family_of(self.config)

    def step(
        self, network: nn.Module, optimiser: Optimizer, average: WeightAverage, pull: L2SP | None,
        chosen: Sequence[Sized],
    ) -> Tensor:  # fmt: skip
        """One step on some documents, shared by the group; returns the summed losses of the three tasks.

        Raises:
            LossError: The loss is not a number; names the documents.
            SciextractError: Not even one document fits into memory.
        """
        parameters = trainable_parameters(network)
        sums, error = torch.zeros(3), None
        try:
            sums = self._gradients(network, optimiser, chosen)
        except SciextractError as found:
            error = found
        sums = self.group.combined(parameters, sums, error)
        nn.utils.clip_grad_norm_(parameters, self.config.clip)
        optimiser.step()
        if pull is not None:
            pull.apply(optimiser)
        average.update(network)
        return sums

    def _gradients(
        self, network: nn.Module, optimiser: Optimizer, chosen: Sequence[Sized]
    ) -> Tensor:
        """This process's part of the gradients of the mean loss, in as many parts as memory needs."""
        share, drawn = self.group.share(chosen), torch.get_rng_state()
        while True:
            size = min(self.most or len(chosen), self.config.batch_documents)
            try:
                return self._in_parts(network, optimiser, share, size, len(chosen))
            except CompileFailure as error:
                # The attempt has drawn dropout masks; the step begins anew with the same ones.
                torch.set_rng_state(drawn)
                self.compilation.give_up()
                message = f"the encoder cannot be compiled, continuing without: {reason_of(error)}"
                self.listener(Warned(message=message))
            except (RuntimeError, MemoryError) as error:
                # CUDA has a class of its own; the CPU's allocator and MPS have only words.
                short = isinstance(error, torch.OutOfMemoryError | MemoryError)
                if not short and not any(words in str(error).lower() for words in _MEMORY_WORDS):
                    raise
                size = min(size, len(share))
                if size <= 1:
                    longest = max(share, key=lambda each: each.subword_count)
                    raise SciextractError(
                        f"not even one document fits into the memory of {self.device}: {longest.doc_key}",
                        "use another --device, or a smaller encoder",
                    ) from error
                self.most = size // 2
                if self.device.type == "cuda":
                    torch.cuda.empty_cache()
                self.listener(MemoryShort(device=str(self.device), documents=self.most))

    def _in_parts(
        self, network: nn.Module, optimiser: Optimizer, share: Sequence[Sized], size: int, of: int
    ) -> Tensor:
        optimiser.zero_grad(set_to_none=True)
        sums = torch.zeros(3)
        for start in range(0, len(share), size):
            part = share[start : start + size]
            losses = self._losses(network, part)
            # The mean over the whole step: its parts add up to the same gradient in whatever
            # number.
            loss = losses.total(self.config) / of
            if not torch.isfinite(loss):
                keys = [each.doc_key for each in part]
                with torch.no_grad():  # those that cause it by themselves, or all where none does
                    alone = [self._losses(network, [each]).total(self.config) for each in part]
                bad = [k for k, each in zip(keys, alone, strict=True) if not torch.isfinite(each)]
                keys = bad or keys
                place = f"document {keys[0]}" if len(keys) == 1 else f"documents {', '.join(keys)}"
                raise LossError(
                    f"the loss is {loss.item()} at the {place}",
                    "look at what is annotated there, or lower the learning rates; the best weights so far "
                    "are kept in the run folder",
                )
            loss.backward()  # type: ignore[no-untyped-call]
            parts = [losses.entity, losses.relation, losses.coreference]
            sums += torch.stack(parts).detach().float().cpu()
        return sums

    def _losses(self, network: nn.Module, part: Sequence[Sized]) -> Losses:
        batch = self.family.collate(part, self.rules.pad)
        if self.config.word_dropout:  # contexts carry more weight where words are hidden
            hidden = torch.rand(batch.input_ids.shape) < self.config.word_dropout
            hidden &= batch.attention_mask.bool()
            hidden[:, 0] = False
            batch.input_ids[hidden] = self.rules.mask
        losses: Losses = self.family.losses(
            network, moved(batch, self.device), self.config, self.labels
        )
        return losses


class L2SP:
    """Draws weights back to where they started, against forgetting.

    The penalty of L2-SP (Li et al. 2018, arXiv 1802.01483, section 3.2), decoupled from the gradient as
    weight decay is: each step moves a weight by ``rate * strength`` of the way back.
    """

    def __init__(self, optimiser: Optimizer, strength: float) -> None:
        self._strength = strength
        self._starts = [
            [parameter.detach().clone() for parameter in group["params"]]
            for group in optimiser.param_groups
        ]

    @torch.no_grad()
    def apply(self, optimiser: Optimizer) -> None:
        """Moves every weight back by a share that goes with its group's rate."""
        for group, starts in zip(optimiser.param_groups, self._starts, strict=True):
            if starts:
                share = min(1.0, group["lr"] * self._strength)
                torch._foreach_lerp_(group["params"], starts, share)


def trainable_parameters(network: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes."""
    return [parameter for parameter in network.parameters() if parameter.requires_grad]
