"""The Ray engine on a real cluster of two node processes: what one process writes, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import pytest

from sciextract.scale.interface import ChunkResult, InputShard, Work
from sciextract.scale.ray.engine import RayEngine
from tests.cluster.conftest import SmallCluster
from tests.cluster.processes import processes_of
from tests.unit.scale.support import InProcess, given, lines, work_of

pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
]


def test_an_own_cluster_gives_results_in_order_keeps_poison_aside_and_leaves_nothing(
    tmp_path: Path, short_folder: Path
) -> None:
    texts = [lines(9), lines(9, d0="CRASH", d1="HANG")]
    paths = [given(tmp_path / f"{number}.jsonl", text) for number, text in enumerate(texts)]
    words = [sys.executable, "-m", "tests.cluster.run_local", *paths]
    environment = {
        **os.environ,
        "TMPDIR": str(short_folder),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    run = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=300, check=False
    )

    assert (run.returncode, run.stderr) == (0, "")
    results = [json.loads(line) for line in run.stdout.splitlines()]
    assert [tuple(key) for key, _, _ in results] == [(0, 1), (0, 2), (1, 0), (1, 2)]
    healthy = {result.key: result.data.decode() for result in found(shards_of(paths[:1] * 2))}
    assert [data for (_, number), data, _ in results if number == 2] == [healthy[0, 2]] * 2
    assert [data.count("\n") for _, data, _ in results] == [4, 1, 2, 1]
    lost = [["quarantined", "d0"], ["quarantined", "d1"]]
    assert [problems for _, _, problems in results] == [[], [], lost, []]
    assert not list(short_folder.iterdir()) and not processes_of(short_folder)


def test_a_killed_actor_and_a_killed_node_cost_nothing_but_time(
    small_cluster: SmallCluster, tmp_path: Path
) -> None:
    paths = [given(tmp_path / f"{number}.jsonl", lines(50, "SLOW")) for number in range(2)]
    work = replace(shards_of(paths), ordered=False)
    lost: list[str] = []
    engine = RayEngine(None, small_cluster.address, note=lost.append)

    results = engine.results(work, {})
    taken = list(islice(results, 2))
    os.kill(small_cluster.actors()[0], signal.SIGKILL)
    taken += islice(results, 4)
    small_cluster.cluster.remove_node(small_cluster.node, allow_graceful=False)
    taken += results

    assert sorted(taken, key=lambda piece: piece.key) == found(work)
    assert [note.startswith("node ") and "was lost" in note for note in lost] == [True]


def shards_of(paths: list[str]) -> Work:
    """A shard for each file, four records a chunk."""
    shards = tuple(InputShard(number, (path,)) for number, path in enumerate(paths))
    return replace(work_of(paths, "poisoned"), shards=shards)


def found(work: Work) -> list[ChunkResult]:
    """What one process makes of it."""
    return list(InProcess().results(work, {}))
