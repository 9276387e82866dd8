"""A connection to a Ray cluster: one of this machine that lives as long as the run, or one that is there already."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from sciextract.errors import MissingExtraError, UsageError
from sciextract.scale.ray.nodes import ClusterError

OBJECT_STORE_BYTES = 256 << 20
"""Shared memory of a local cluster: what the reader may be ahead of the model, and results that wait for the disk."""
_SOCKET_PATH_LEAST = 64
"""Characters that Ray adds to its folder for the names of its sockets, which may have 107 in all."""
_ALLOWED = "--address auto, or --address HOST:PORT"
_ANSWER_SECONDS = 10.0
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
        _check_answers(address)
    else:
        _set_up_own()
    with _without_ray_output():
        import_ray()
        import ray

        if ray.is_initialized():
            yield
            return
        with _connected(address) if address else _started(workers):
            yield


@contextmanager
def _connected(address: str) -> Iterator[None]:
    import ray

    try:
        with _silent_start():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split()) or repr(error)
        raise ClusterError(f"no Ray cluster at {address!r}: {reason}", _START_HINT) from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _started(workers: int) -> Iterator[None]:
    import ray

    with _temporary_folder() as folder:
        try:
            with _silent_start():
                ray.init(
                    address="local",
                    num_cpus=workers,
                    object_store_memory=OBJECT_STORE_BYTES,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    _temp_dir=str(folder),
                )
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise ClusterError(f"Ray cannot start on this machine: {error}") from error
        try:
            yield
        finally:
            ray.shutdown()


_START_HINT = "start one with ray start --head, join it with ray start --address HOST:6379, and run this on one of its machines"


def _check_address(address: str) -> None:
    if address.startswith("ray://"):
        problem = f"--address {address!r} is one for Ray Client, which does not support Ray Data"
        raise UsageError(problem, f"run this on a machine of the cluster: {_ALLOWED}")
    if "://" in address:
        raise UsageError(f"--address {address!r} is not an address of a Ray cluster", _ALLOWED)


def _check_answers(address: str) -> None:
    """Ray itself tries for minutes where nobody listens."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ClusterError(f"no Ray cluster at {address!r}: {reason}", _START_HINT) from error


def _set_up_own() -> None:
    """What Ray reads while it is imported, or whenever it starts a process, and takes for the whole of this process.

    A password of its own keeps others on this machine out of the cluster, and lies in no file.
    """
    os.environ.setdefault("RAY_worker_niceness", _NICENESS)
    if "RAY_AUTH_MODE" not in os.environ and "ray" not in sys.modules:
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """A folder for logs and sockets that is gone afterwards; its name is short enough for sockets."""
    place = tempfile.gettempdir()
    if len(place) > 107 - _SOCKET_PATH_LEAST - len("/sciextract-ray-12345678"):
        place = "/tmp"
    folder = Path(tempfile.mkdtemp(prefix="sciextract-ray-", dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _without_ray_output() -> Iterator[None]:
    """Ray prints what it hears from the cluster to standard output, where the results go; its logs hold it as well."""
    with contextlib.redirect_stdout(_WithoutListener(sys.stdout)):  # type: ignore[type-var]
        yield


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
