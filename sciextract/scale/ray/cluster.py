"""A Ray cluster: one of this machine that lives as long as the run, or one that is there already, with what its machines must have.

They need the same sciextract, and a model with the same hash.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from sciextract import __version__, atomic
from sciextract.errors import MissingExtraError, UsageError
from sciextract.inference.model_folder import (
    AUTO,
    MANIFEST,
    bundled_folders,
    listed_files,
    locate_model,
    manifest_hash,
)
from sciextract.scale.interface import WorkersFailedError
from sciextract.workflows.model_choice import ModelChoice

_ANSWER_SECONDS = 120.0
"""A node that is busy starting its first Python process may take a while; one that is gone never answers."""


class ClusterError(WorkersFailedError):
    """A Ray cluster cannot be reached or started, or one of its machines cannot do the work."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A machine of the cluster, or a process that stands for one.

    Attributes:
        id: Ray's name for it.
        name: Host name and address, for messages.
    """

    id: str
    name: str


def check_nodes() -> None:
    """Ask every machine that is there now for its sciextract; those that join later ask themselves.

    Raises:
        ClusterError: One lacks it, has another version, or does not answer; names the machine and both versions.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # Sent as code: a machine without sciextract could not import a function of it by its name.
    def version() -> str | None:
        try:
            import sciextract
        except ImportError:
            return None
        return sciextract.__version__

    asked = {}
    for node in live_nodes():
        place = NodeAffinitySchedulingStrategy(node.id, soft=False)
        query = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=place)(version)
        asked[node] = query.remote()
    _, late = ray.wait(list(asked.values()), num_returns=len(asked), timeout=_ANSWER_SECONDS)
    for node, answer in asked.items():
        state = "ray status shows its state"
        if answer in late:
            raise ClusterError(f"node {node.name} does not respond", state)
        try:
            found = ray.get(answer)
        except ray.exceptions.RayError as error:
            raise ClusterError(f"node {node.name} cannot answer: {error}", state) from error
        refuse_other(node.name, found)


def wait_for(kind: str) -> str:
    """A note when Ray will wait for processors before it begins, which it does without a message; else nothing.

    Args:
        kind: ``CPU`` or ``GPU``.
    """
    import ray

    if ray.cluster_resources().get(kind, 0) < 1:
        return f"no machine of the cluster has a {kind} yet; the run waits for one that has"
    if ray.available_resources().get(kind, 0) < 1:
        return f"other jobs use every {kind} of the cluster; the run waits until one is free"
    return ""


def live_nodes() -> list[ClusterNode]:
    """The machines of the cluster that can work.

    Raises:
        ClusterError: There is none.
    """
    import ray

    nodes = [
        ClusterNode(
            str(node["NodeID"]), f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
        )
        for node in ray.nodes()
        if node["Alive"]
    ]
    if not nodes:
        raise ClusterError("the Ray cluster has no machine that is alive", "ray status shows more")
    return nodes


def refuse_other(node: str, version: str | None) -> None:
    """Refuse a machine whose sciextract is missing or not the one of this process.

    Raises:
        ClusterError: It is so.
    """
    hint = f"install it there: pip install 'sciextract[scale]=={__version__}'"
    if version is None:
        raise ClusterError(f"node {node} lacks sciextract", hint)
    if version != __version__:
        problem = f"node {node} has sciextract {version}, this process has {__version__}"
        raise ClusterError(problem, f"{hint}, or use the other version here")


def this_node() -> str:
    import ray

    return f"{platform.node()} ({ray.util.get_node_ip_address()})"


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """A model on its way to other machines.

    Attributes:
        name: What names it there: a bundled name, ``auto``, or the folder that it has here.
        hash: Hex SHA-256 of its manifest; empty where the name is enough.
        files: Its files in the object store, by name; none where the name is enough.
    """

    name: str | None
    hash: str = ""
    files: Mapping[str, object] = field(default_factory=dict)


def ship(choice: ModelChoice) -> ShippedModel:
    """Puts the files of a model into the object store, unless every machine has them with sciextract itself.

    Raises:
        ModelNotFoundError: There is no such model here.
    """
    import ray

    if choice.model is None or choice.model == AUTO:
        return ShippedModel(choice.model)
    folder = locate_model(choice.model)
    if any(folder.samefile(bundled) for bundled in bundled_folders()):
        return ShippedModel(folder.name)
    files = {name: ray.put((folder / name).read_bytes()) for name in listed_files(folder)}
    return ShippedModel(str(folder.resolve()), manifest_hash(folder), files)


def receive_model(shipped: ShippedModel, choice: ModelChoice) -> ModelChoice:
    """The choice as this machine can load it; files that it lacks are fetched once for all its actors."""
    if not shipped.files:
        return replace(choice, model=shipped.name)
    import ray

    # Another actor may have put it there, or a shared file system shows the folder of the process that ships it.
    place = Path(tempfile.gettempdir()) / f"sciextract-models-{os.getuid()}"
    folder = place / shipped.hash
    for here in (Path(shipped.name or ""), folder):
        # Its files are verified when it is loaded.
        if (here / MANIFEST).is_file() and manifest_hash(here) == shipped.hash:
            return replace(choice, model=str(here))
    place.mkdir(mode=0o700, exist_ok=True)
    # As a whole, so that an actor next to this one finds all or nothing; that one may be faster.
    with suppress(FileExistsError), atomic.creating(folder) as partial:
        partial.mkdir()
        for name, content in shipped.files.items():
            (partial / name).write_bytes(ray.get(content))
    return replace(choice, model=str(folder))


OBJECT_STORE_BYTES = 256 << 20
"""Shared memory of a local cluster: what the reader may be ahead of the model, and results that wait for the disk."""
_SOCKET_PATH_LEAST = 64
"""Characters that Ray adds to its folder for the names of its sockets, which may have 107 in all."""
_ALLOWED = "--address auto, or --address HOST:PORT"
_ADDRESS_SECONDS = 10.0
_LISTENER_THREAD = "ray_listen_error_messages"
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}
_NICENESS = "0"
"""Ray's workers are the run itself: at Ray's default of 15 anything else on the machine goes first."""


def import_ray() -> None:
    """Import Ray Data without its reports to its makers and without its progress bars.

    Raises:
        MissingExtraError: The extra ``scale`` is not installed.
    """
    os.environ.update({name: os.environ.get(name, value) for name, value in _QUIET.items()})
    try:
        import ray.data
    except ModuleNotFoundError as error:
        raise MissingExtraError("--engine ray", "scale") from error
    warnings.filterwarnings("ignore", module=r"ray\.")  # advice to those who program it
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False


@contextmanager
def session(address: str | None, workers: int) -> Iterator[None]:
    """Connects to a cluster for as long as the block lasts; a connection that is there already is used and kept.

    Args:
        address: ``auto`` or ``HOST:PORT``; ``None`` starts a cluster of this machine's own, which ends with the block,
            or with this process however that ends.
        workers: CPUs of a cluster that is started.

    Raises:
        MissingExtraError: Ray is not installed.
        UsageError: The address is none of a cluster.
        ClusterError: The cluster cannot be reached or started.
    """
    if address:
        _check_address(address)
    # Ray reads these while it is imported, or whenever it starts a process, and takes them for the whole of this one.
    os.environ.setdefault("RAY_worker_niceness", _NICENESS)
    if not address and "RAY_AUTH_MODE" not in os.environ and "ray" not in sys.modules:
        # A password of its own keeps others on this machine out of the cluster, and lies in no file.
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    # Ray prints what it hears from the cluster to standard output, where the results go; its logs hold it as well.
    quiet = contextlib.redirect_stdout(_WithoutListener(sys.stdout))  # type: ignore[type-var]
    with quiet, contextlib.ExitStack() as at_end:
        import_ray()
        import ray

        if ray.is_initialized():
            yield
            return
        options: dict[str, object] = {"address": address or "local"}
        if not address:
            # The names of sockets may have 107 characters in all.
            place = tempfile.gettempdir()
            if len(place) > 107 - _SOCKET_PATH_LEAST - len("/sciextract-ray-12345678"):
                place = "/tmp"
            folder = tempfile.mkdtemp(prefix="sciextract-ray-", dir=place)
            at_end.callback(shutil.rmtree, folder, ignore_errors=True)
            options |= {
                "num_cpus": workers,
                "object_store_memory": OBJECT_STORE_BYTES,
                "include_dashboard": False,
                "_temp_dir": folder,
            }
        try:
            with _silent_start():
                ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            reason = " ".join(str(error).split()) or repr(error)
            if address:
                problem = f"no Ray cluster at {address!r}: {reason}"
                raise ClusterError(problem, _START_HINT) from error
            raise ClusterError(f"Ray cannot start on this machine: {reason}") from error
        at_end.callback(ray.shutdown)
        yield


_START_HINT = "start one with ray start --head, join it with ray start --address HOST:6379, and run this on one of its machines"


def _check_address(address: str) -> None:
    if address.startswith("ray://"):
        problem = f"--address {address!r} is one for Ray Client, which does not support Ray Data"
        raise UsageError(problem, f"run this on a machine of the cluster: {_ALLOWED}")
    if "://" in address:
        raise UsageError(f"--address {address!r} is not an address of a Ray cluster", _ALLOWED)
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        try:
            # Ray itself tries for minutes where nobody listens.
            socket.create_connection((host.strip("[]"), int(port)), _ADDRESS_SECONDS).close()
        except OSError as error:
            problem = f"no Ray cluster at {address!r}: {error.strerror or error}"
            raise ClusterError(problem, _START_HINT) from error


class _WithoutListener:
    """A stream that is deaf to Ray's listening thread, and otherwise the stream that it stands for."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if threading.current_thread().name == _LISTENER_THREAD:
            return len(text)
        return self._stream.write(text)


@contextmanager
def _silent_start() -> Iterator[None]:
    """Hides what Ray's C++ part says on standard error before it reads how much it should say."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)
