"""What the machines of a cluster must have: the same sciextract, and a model with the same hash."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sciextract import __version__, atomic
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
class Node:
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

    nodes = live_nodes()
    asked = {node: _version_query(node) for node in nodes}
    _, late = ray.wait(list(asked.values()), num_returns=len(asked), timeout=_ANSWER_SECONDS)
    for node, answer in asked.items():
        if answer in late:
            raise ClusterError(f"node {node.name} does not respond", "ray status shows its state")
        refuse_other(node.name, _version(answer, node))


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


def live_nodes() -> list[Node]:
    """The machines of the cluster that can work.

    Raises:
        ClusterError: There is none.
    """
    import ray

    nodes = [_node(each) for each in ray.nodes() if each["Alive"]]
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
    """The name of the machine that this runs on."""
    import ray

    return f"{platform.node()} ({ray.util.get_node_ip_address()})"


def _node(description: Mapping[str, object]) -> Node:
    return Node(
        str(description["NodeID"]),
        f"{description['NodeManagerHostname']} ({description['NodeManagerAddress']})",
    )


def _version_query(node: Node) -> object:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    place = NodeAffinitySchedulingStrategy(node.id, soft=False)
    question = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=place)(_version_function())
    return question.remote()


def _version_function() -> Callable[[], str | None]:
    """A function that is sent as code: a machine without sciextract could not import it by its name."""

    def version() -> str | None:
        try:
            import sciextract
        except ImportError:
            return None
        return sciextract.__version__

    return version


def _version(answer: object, node: Node) -> str | None:
    import ray

    try:
        version: str | None = ray.get(answer)
    except ray.exceptions.RayError as error:
        raise ClusterError(
            f"node {node.name} cannot answer: {error}", "ray status shows its state"
        ) from error
    return version


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
    if any(folder.samefile(each) for each in bundled_folders()):
        return ShippedModel(folder.name)
    files = {name: ray.put((folder / name).read_bytes()) for name in listed_files(folder)}
    return ShippedModel(str(folder.resolve()), manifest_hash(folder), files)


def received(shipped: ShippedModel, choice: ModelChoice) -> ModelChoice:
    """The choice as this machine can load it; files that it lacks are fetched once for all its actors."""
    if not shipped.files:
        return replace(choice, model=shipped.name)
    here = Path(shipped.name or "")
    if not _is_same(here, shipped.hash):
        here = _fetched(shipped)
    return replace(choice, model=str(here))


def _is_same(folder: Path, wanted: str) -> bool:
    """Whether a shared file system shows the same model here; its files are verified when it is loaded."""
    return (folder / MANIFEST).is_file() and manifest_hash(folder) == wanted


def _fetched(shipped: ShippedModel) -> Path:
    """The folder of the files, put in place as a whole, so that an actor next to this one finds all or nothing."""
    import ray

    place = Path(tempfile.gettempdir()) / f"sciextract-models-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    folder = place / shipped.hash
    if _is_same(folder, shipped.hash):
        return folder
    with suppress(FileExistsError), atomic.creating(folder) as partial:  # another actor is faster
        partial.mkdir()
        for name, content in shipped.files.items():
            (partial / name).write_bytes(ray.get(content))
    return folder
