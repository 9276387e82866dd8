"""Several processes train what one process would with as many documents a step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file

from sciextract.errors import UsageError
from sciextract_trainer.build import JOINT
from sciextract_trainer.checkpoint import WEIGHTS
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.hardware import CPU, Group, own_device, require_alone
from sciextract_trainer.loop import TrainingData, documents_of_step, train
from tests.trainer import group_child
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.group_child import FIVE

pytestmark = pytest.mark.full

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels
    from sciextract_trainer.build import SubwordRules

CHILD = Path(group_child.__file__)
SETTINGS = {
    "epochs": 3, "evaluate_every": 2, "batch_documents": 1, "ema": 0.9, "negatives_per_word": 0.0
}  # fmt: skip


TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def _together(mode: str, folder: Path) -> int:
    command = [*TORCHRUN, str(CHILD), mode, str(folder)]
    ended = subprocess.run(command, check=False, env=ENVIRONMENT, capture_output=True, timeout=300)
    return ended.returncode


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """A run folder with the settings of a training."""

    def folder(name: str, config: TrainConfig) -> Path:
        made = tmp_path / name
        made.mkdir()
        (made / "config.json").write_text(json.dumps(config.to_json()), encoding="utf-8")
        return made

    return folder


def _networks(folder: Path) -> list[dict[str, torch.Tensor]]:
    return [load_file(folder / f"network-{rank}.safetensors") for rank in (0, 1)]


def _equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def test_what_processes_tell_each_other_and_the_gradients_they_add_up(
    make_config: Callable[..., TrainConfig], encoder_folder: Path, labels: Labels,
    rules: SubwordRules, folder: Callable[..., Path], tmp_path: Path,
) -> None:  # fmt: skip
    """After one step AdamW's first moment is a tenth of the gradient, and says which weights had none."""
    settings = {**SETTINGS, "epochs": 1, "clip": 1e9, "encoder": _sober(encoder_folder, tmp_path)}
    made = folder("two", make_config(**{**settings, "batch_documents": 2}, accumulate=2))
    assert _together("talk", made) == 0
    told = [json.loads((made / f"talk-{rank}.json").read_text("utf-8")) for rank in (0, 1)]
    assert told[0] == told[1] == TALK
    data = TrainingData(list(JOINT.examples(FIVE, labels, rules)), TEN_SENTENCES)
    one = make_config(**{**settings, "batch_documents": 8})
    train(one, labels, rules, data, tmp_path / "one", lambda event: None)
    two, expected = load_file(made / WEIGHTS), load_file(tmp_path / "one" / WEIGHTS)
    assert two.keys() == expected.keys()
    for name in (name for name in expected if name.endswith("exp_avg")):
        torch.testing.assert_close(two[name], expected[name], rtol=1e-3, atol=1e-5)
    events = [json.loads((made / f"events-{rank}.json").read_text("utf-8")) for rank in (0, 1)]
    assert [event["event"] for event in events[0]] == ["step", "dev"] and events[1] == []


TALK = {
    "sums": [2.0, 1.0],
    "gradients": [[1.0, 2.0], [3.0, 3.0], None],
    "spread": 3.0,
    "agreed": {"epoch": 0},
    "same": "",
    "differ": "GroupError: processes differ in data: 'f0' in process 0, 'f1' in process 1; "
    "the same files",
    "error": "LossError: the loss is nan at the document moss; look",
}


def _sober(encoder: Path, folder: Path) -> str:
    """A copy of an encoder without dropout of its own."""
    copy = shutil.copytree(encoder, folder / "sober")
    settings = json.loads((copy / "config.json").read_text("utf-8"))
    settings |= {"hidden_dropout_prob": 0.0}
    (copy / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    return str(copy)


def test_a_killed_process_ends_the_others_and_a_second_run_goes_on(
    make_config: Callable[..., TrainConfig], folder: Callable[..., Path]
) -> None:
    """With dropout, so that the random numbers of both processes have to come back as they were."""
    config = make_config(**SETTINGS, dropout=0.3, word_dropout=0.1)
    whole, parts = folder("whole", config), folder("parts", config)
    assert _together("train", whole) == 0
    assert _together("killed", parts) != 0
    assert _together("train", parts) == 0
    weights = [*_networks(whole), *_networks(parts)]
    assert all(_equal(weights[0], weight) for weight in weights)
    assert _equal(load_file(whole / WEIGHTS), load_file(parts / WEIGHTS))
    events = json.loads((parts / "events-0.json").read_text("utf-8"))
    assert events[0] == {"event": "resumed", "epoch": 1}
    assert [e["documents"] for e in events if e["event"] == "step"][2::3] == [5, 5]


def test_nobody_trains_on_when_the_launcher_is_killed(tmp_path: Path) -> None:
    member = (
        "import os, time; from sciextract_trainer.hardware import CPU, join_group\n"
        f"with join_group(CPU) as group: open(f'{tmp_path}/{{group.rank}}', 'w').close(); time.sleep(120)"
    )
    script = tmp_path / "member.py"
    script.write_text(member, "utf-8")
    with subprocess.Popen([*TORCHRUN, str(script)], env=ENVIRONMENT) as launcher:
        _wait_for(lambda: len(list(tmp_path.iterdir())) == 3)
        members = _children(launcher.pid)
        launcher.kill()
    assert len(members) == 2
    _wait_for(lambda: not any(_runs(member) for member in members))


def _wait_for(done: Callable[[], bool], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until, "too late"
        time.sleep(0.1)


def _runs(process: str) -> bool:
    """Whether a process is there and no zombie: not every machine's first process buries them."""
    with suppress(OSError):
        return "(zombie)" not in Path(f"/proc/{process}/status").read_text("utf-8")
    return False


def _children(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()


def test_shares_are_disjoint_and_whole() -> None:
    shares = [Group(rank, 3).share(range(7)) for rank in range(3)]
    assert sorted(example for share in shares for example in share) == list(range(7))
    assert [len(share) for share in shares] == [3, 2, 2]
    assert Group(2, 3).share([1]) == []


def test_documents_of_a_step(make_config: Callable[..., TrainConfig]) -> None:
    config = make_config(batch_documents=3, accumulate=2)
    assert documents_of_step(config) == 6
    assert documents_of_step(config, Group(0, 4)) == 24


def test_what_one_of_several_processes_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    require_alone()
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert own_device(CPU) == CPU
    with pytest.raises(UsageError, match="2 processes cannot train on a project"):
        require_alone()
    with pytest.raises(UsageError, match="cannot train on mps"):
        own_device(torch.device("mps"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(UsageError, match=r"more processes on this machine than GPUs \(1\)"):
        own_device(torch.device("cuda"))
