"""One small Ray cluster for all tests of this folder: two node processes with a core each."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.processes import processes_of

_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "of a test" * 4,
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_worker_niceness": "0",
    # A node that is gone is given up after one second, not after ten.
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "2",
}
_STORE_BYTES = 80 << 20


@dataclass(frozen=True, slots=True)
class SmallCluster:
    """A head and another node.

    Attributes:
        cluster: Ray's own object.
        node: The other node.
        folder: Where Ray keeps its files.
    """

    cluster: Any
    node: Any
    folder: Path

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def actors(self) -> list[int]:
        """Process numbers of the model actors."""
        found = processes_of(self.folder)
        return [pid for pid, command in found.items() if command.startswith(b"ray::MapWorker")]


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder for temporary files whose name leaves room for Ray's sockets."""
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def small_cluster() -> Iterator[SmallCluster]:
    """The cluster. Ray reads its settings while it is imported, so that this comes first."""
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    (folder / "ray").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**_SETTINGS, "RAY_TMPDIR": str(folder)}.items():
            patch.setenv(name, value)
        yield from _running(folder)
    shutil.rmtree(folder)


def _running(folder: Path) -> Iterator[SmallCluster]:
    from ray.cluster_utils import Cluster

    options = {"num_cpus": 1, "object_store_memory": _STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args={**options, "include_dashboard": False})
    try:
        yield SmallCluster(cluster, cluster.add_node(**options), folder)
    finally:
        cluster.shutdown()
