"""One optimiser step on one process or several, however much fits into memory, and the loop of epochs around it."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import SciextractError
from sciextract.inference.pipeline import Labels
from sciextract.retraining.events import (
    DevScored,
    Listener,
    MeanLosses,
    MemoryShort,
    Resumed,
    Step,
    Warned,
)
from sciextract_trainer.build import Family, SubwordRules, family_of
from sciextract_trainer.checkpoint import (
    Progress,
    Slice,
    TrainingState,
    load_checkpoint,
    load_weights,
    replacing,
    require_time,
    save_checkpoint,
    trainable,
)
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Sized, epoch_batches
from sciextract_trainer.evaluate import DevScores, dev_scores, scored_layers
from sciextract_trainer.hardware import ALONE, CPU, Group, enable_checkpointing, move_to, repeatable
from sciextract_trainer.network.training_step import Losses
from sciextract_trainer.optimisation import WeightAverage, make_optimiser, make_schedule

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
        listener: Gets an event when memory is short.
        most: Documents that fit into memory at once; 0 as long as all did.
        group: The processes that take each step together.
    """

    config: TrainConfig
    labels: Labels
    rules: SubwordRules
    device: torch.device
    listener: Listener
    most: int = 0
    group: Group = ALONE

    @property
    def family(self) -> Family:
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
        sums = self.group.combine(parameters, sums, error)
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
        share = self.group.share(chosen)
        while True:
            size = min(self.most or len(chosen), self.config.batch_documents)
            try:
                return self._in_parts(network, optimiser, share, size, len(chosen))
            except (RuntimeError, MemoryError) as error:
                # CUDA has a class of its own; the CPU's allocator and MPS have only words.
                short = isinstance(error, torch.OutOfMemoryError | MemoryError)
                if not short and not any(words in str(error).lower() for words in _MEMORY_WORDS):
                    raise
                size = min(size, len(share))
                if size <= 1:
                    longest = max(share, key=lambda example: example.subword_count)
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
                keys = [example.doc_key for example in part]
                with torch.no_grad():  # those that cause it by themselves, or all where none does
                    alone = [
                        self._losses(network, [example]).total(self.config) for example in part
                    ]
                bad = [k for k, loss in zip(keys, alone, strict=True) if not torch.isfinite(loss)]
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
            network, move_to(batch, self.device), self.config, self.labels
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
    return [parameter for parameter in network.parameters() if parameter.requires_grad]


BEST = "best.safetensors"
_STILL = 0.1
"""F1 that dev scores may differ by and still not move: less than one more hit among a few abstracts."""


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a network learns from and is selected on.

    Attributes:
        examples: Training examples, gold or soft, of the family that the recipe names.
        dev: Gold documents for selection; without any, the last weights are kept.
        complete: Complete layers of each dev document; all of them when ``None``.
        rehearsal: Examples against forgetting; each epoch sees some, ``config.rehearsal`` per example.
        selects: Whether dev chooses the kept epoch and ends a training early; else it only tells, and the
            last weights are kept.
    """

    examples: Sequence[Sized]
    dev: Sequence[AnnotatedDocument]
    complete: Sequence[Collection[Layer]] | None = None
    rehearsal: Sequence[Sized] = ()
    selects: bool = True


def train(
    config: TrainConfig,
    labels: Labels,
    rules: SubwordRules,
    data: TrainingData,
    folder: Path,
    listener: Listener,
    network: nn.Module | None = None,
    device: torch.device = CPU,
    group: Group = ALONE,
    until: float = float("inf"),
) -> nn.Module:
    """Trains a network, or continues where ``folder`` left off, and returns the best one.

    Args:
        config: The recipe.
        labels: What the classes mean.
        rules: The encoder's tokenizer.
        data: Examples and dev documents.
        folder: Run folder: checkpoint, best weights, ``metrics.jsonl``.
        listener: Gets the events.
        network: The network to train on; the recipe's encoder with fresh heads when ``None``.
        device: Where to train.
        group: The processes that train together; each calls this with the same, and gets the same network.
        until: ``time.monotonic()`` at which to stop; several processes stop after an epoch, one after a step.

    Raises:
        TimeIsUp: It is later than ``until``; the same call continues from there.
        LossError: The loss is not a number; the best weights so far stay in ``folder``.
        UsageError: ``folder`` holds an unfinished training with other settings, or the encoder cannot do
            what the recipe asks.
        GroupError: The processes differ, or have lost each other.
    """
    network = (network or family_of(config).build(config, labels)).to(device)
    if config.checkpointing:
        enable_checkpointing(network)
    group.spread(network)
    # The schedule needs to know beforehand how many steps there will be.
    documents = len(_part_of(config, data.examples, 1)) + _count_rehearsed(config, data)
    optimiser = make_optimiser(network, config)
    steps = config.epochs * -(-documents // documents_of_step(config, group))
    state = TrainingState(
        {**config.to_json(), "examples": documents, "processes": group.size},
        network,
        WeightAverage(network, config.ema),
        optimiser,
        make_schedule(optimiser, config, steps),
        Progress(),
    )
    pull = L2SP(state.optimiser, config.pull) if config.pull else None
    listener = listener if group.is_first else lambda event: None
    stepper = Stepper(config, labels, rules, device, listener, group=group)
    group.require_same("settings or data", state.settings, "give all of them the same files")
    if load_checkpoint(folder, state):
        listener(Resumed(epoch=state.progress.epoch, steps=state.progress.steps or None))
    group.require_same(
        f"the epoch that {folder} holds", state.progress.epoch,
        "the run folder has to lie on storage that all machines share",
    )  # fmt: skip
    for epoch in range(state.progress.epoch + 1, config.epochs + 1):
        if ended := _is_enough(config, data, state.progress):
            message = f"training ends after epoch {epoch - 1} of {config.epochs}: {ended}"
            listener(Warned(message=message))
            break
        with repeatable(device):
            _train_epoch(stepper, state, pull, data, epoch, Slice(folder, until))
        state.progress.epoch = epoch
        if group.is_first:
            if data.dev and (epoch % config.evaluate_every == 0 or epoch == config.epochs):
                _select(stepper, state, data, folder)
            # After the scores: a checkpoint never claims an evaluation that was not kept.
            save_checkpoint(folder, state)
        # Only the first process evaluates, and all of them stop by its scores.
        state.progress.follow(group.agree(state.progress))
    if group.is_first and (folder / BEST).is_file():
        load_weights(folder / BEST, network)
    elif group.is_first:  # without an evaluation the averaged last weights count
        network.load_state_dict(state.average.weights, strict=False)
    group.spread(network)
    return network.eval()


def documents_of_step(config: TrainConfig, group: Group = ALONE) -> int:
    """Documents that one optimiser step learns from."""
    return config.batch_documents * config.accumulate * group.size


def _count_rehearsed(config: TrainConfig, data: TrainingData) -> int:
    """Examples against forgetting in one epoch."""
    return min(len(data.rehearsal), config.rehearsed(len(data.examples)))


def _part_of(config: TrainConfig, examples: Sequence[Sized], epoch: int) -> Sequence[Sized]:
    """The examples of an epoch, counted from 1; the first part of a pass is never the smaller one."""
    if config.parts == 1:
        return examples
    taken, part = divmod(epoch - 1, config.parts)
    order = np.random.default_rng([config.seed, taken, 2]).permutation(len(examples))
    return [examples[row] for row in order[part :: config.parts].tolist()]


def _is_enough(config: TrainConfig, data: TrainingData, progress: Progress) -> str:
    """Why to stop: dev has not improved for as many evaluations as the recipe waits for; empty to continue.

    Where dev is too small to choose by, chance alone keeps it from rising: it must not have moved at all.
    """
    if not (data.dev and config.patience):
        return ""
    if data.selects:
        waited = progress.epoch - progress.best_epoch
        still = waited >= config.patience * config.evaluate_every
        return f"dev has not improved since epoch {progress.best_epoch}" if still else ""
    last = [scores["mean"] for scores in progress.history[-config.patience - 1 :]]
    still = len(last) > config.patience and min(last) > 0 and max(last) - min(last) < _STILL
    return f"dev has not moved in {config.patience} evaluations" if still else ""


def _train_epoch(
    stepper: Stepper,
    state: TrainingState,
    pull: L2SP | None,
    data: TrainingData,
    epoch: int,
    slice_: Slice,
) -> None:
    require_time(slice_.until)
    config, progress = stepper.config, state.progress
    # All examples, some of the rehearsal and some anew; which ones depends on seed and epoch only.
    random = np.random.default_rng([config.seed, epoch, 1])
    drawn = random.choice(len(data.rehearsal), _count_rehearsed(config, data), replace=False)
    examples = [*_part_of(config, data.examples, epoch)]
    examples += [data.rehearsal[row] for row in sorted(drawn.tolist())]
    if not progress.steps:
        # Two primes keep seeds, epochs and processes from ever sharing a state of random numbers.
        torch.manual_seed(config.seed * 100_003 + epoch + stepper.group.rank * 1_000_000_007)
    state.network.train()
    began, seen, before = time.monotonic(), 0, 0
    sums = torch.tensor(progress.sums)
    size = documents_of_step(config, stepper.group)
    for number, chosen in enumerate(epoch_batches(examples, size, config.seed, epoch), start=1):
        seen += len(chosen)
        # A resumed epoch skips what it has learned; its batches come in the same order again.
        if number <= progress.steps:
            before = seen
            continue
        sums += stepper.step(state.network, state.optimiser, state.average, pull, chosen)
        state.schedule.step()
        progress.steps, progress.sums = number, sums.tolist()
        entity, relation, coreference = (sums / seen).tolist()
        stepper.listener(
            Step(
                epoch=epoch,
                documents=seen,
                of=len(examples),
                loss=MeanLosses(entity=entity, relation=relation, coreference=coreference),
                documents_per_second=(seen - before) / (time.monotonic() - began),
            )
        )
        slice_.after_step(state, stepper.group)
    progress.steps, progress.sums = 0, [0.0, 0.0, 0.0]


def _select(stepper: Stepper, state: TrainingState, data: TrainingData, folder: Path) -> None:
    """Scores the averaged weights on dev and keeps them if they are the best so far, or the last ones count."""
    progress, labels = state.progress, stepper.labels
    with state.average.applied(state.network):
        predict = stepper.family.predictor(state.network, labels, stepper.rules)
        layers = scored_layers(stepper.config, data.dev, data.complete)
        scores = dev_scores(predict, data.dev, labels.relations.symmetric, layers)
        event = DevScored(epoch=progress.epoch, **asdict(scores), mean=scores.mean)
        score = selection_score(scores, stepper.config.select_by)
        if score > progress.best_mean or not data.selects:
            progress.best_mean, progress.best_epoch = score, progress.epoch
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(folder / BEST) as temporary:
                save_file(trainable(state.network), temporary)
    entry = event.to_json()
    progress.history.append(entry)
    stepper.listener(event)
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps({**entry, "time": time.strftime("%FT%TZ", time.gmtime())}) + "\n")


def selection_score(scores: DevScores, select_by: str) -> float:
    """The dev F1 that a recipe chooses the kept epoch by; the mean where that one is not known."""
    chosen: float | None = None if select_by == "mean" else asdict(scores)[select_by]
    return scores.mean if chosen is None else chosen
