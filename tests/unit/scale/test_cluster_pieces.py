"""What the Ray engine is made of, without a cluster: refusals, rows, and the way of the model."""

from __future__ import annotations

import pickle
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sciextract import __version__
from sciextract.errors import MissingExtraError, UsageError, install_command
from sciextract.inference.model_folder import manifest_hash, open_folder
from sciextract.resources import bundled_models
from sciextract.scale.interface import ChunkResult, InputShard, WorkerRefusedError
from sciextract.scale.ray import cluster
from sciextract.scale.ray.cluster import receive_model, ship
from sciextract.scale.ray.engine import (
    Envelope,
    ModelActor,
    RayEngine,
    ShardReader,
    pack,
    readable_on_cluster,
    refuse,
    unpack,
)
from sciextract.scale.shards import remaining_chunks
from sciextract.workflows.model_choice import ModelChoice
from tests.unit.scale.support import given, lines, work_of

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
HERE = "login1 (10.0.0.1)"


@pytest.fixture(autouse=True)
def node(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("cluster", "engine"):
        monkeypatch.setattr(f"sciextract.scale.ray.{module}.this_node", lambda: HERE)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, bytes]]:
    """An object store that is a dictionary."""
    held: dict[int, bytes] = {}

    def put(content: bytes) -> int:
        held[len(held)] = content
        return len(held) - 1

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(put=put, get=held.__getitem__))
    yield held


def first_of(engine: RayEngine, **changed: Any) -> object:
    with closing(engine.results(replace(work_of([]), **changed), {})) as results:
        return next(results)


def test_without_ray_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError) as caught:
        first_of(RayEngine(1))
    assert caught.value.hint == install_command("scale")


@pytest.mark.parametrize("address", ["http://host:1", "ray://host:10001"])
def test_addresses_that_lead_to_no_cluster_are_refused(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        first_of(RayEngine(1, address))
    assert address in caught.value.message and "--address HOST:PORT" in caught.value.hint


def test_a_port_where_nobody_listens_is_told_at_once() -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(
            cluster.ClusterError, match=rf"no Ray cluster at '{address}': Connection"
        ):
            first_of(RayEngine(1, address))


def test_standard_input_is_refused_and_paths_hang_on_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read standard input"):
        first_of(RayEngine(1), shards=(InputShard(0, ("-",)),))
    [shard] = readable_on_cluster((InputShard(0, ("a.jsonl", "s3://bucket/b.jsonl")),))
    assert shard.paths == (str(Path.cwd() / "a.jsonl"), "s3://bucket/b.jsonl")


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (None, "lacks sciextract"),
        ("0.0.1", f"has sciextract 0.0.1, this process has {__version__}"),
    ],
)
def test_a_machine_with_another_sciextract_is_named(version: str | None, words: str) -> None:
    with pytest.raises(cluster.ClusterError, match=rf"node login1 \(10\.0\.0\.1\) {words}"):
        cluster.refuse_other(HERE, version)
    cluster.refuse_other(HERE, __version__)


@pytest.mark.parametrize(
    ("there", "free", "words"),
    [
        ({}, {}, "has a GPU yet"),
        ({"GPU": 2.0}, {"GPU": 0.5}, "other jobs use"),
        ({"GPU": 1.0},) * 2 + ("",),
    ],
)
def test_a_run_that_waits_for_processors_says_so(
    monkeypatch: pytest.MonkeyPatch, there: dict[str, float], free: dict[str, float], words: str
) -> None:
    found = SimpleNamespace(cluster_resources=lambda: there, available_resources=lambda: free)
    monkeypatch.setitem(sys.modules, "ray", found)
    told = cluster.wait_for("GPU")
    assert words in told if words else told == ""


def envelopes_of(tables: Iterator[Any]) -> list[Envelope]:
    return [envelope for table in tables for envelope in unpack(table)]


def test_a_shard_becomes_chunks_without_those_that_are_done(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    work = work_of([given(tmp_path / "in.jsonl", lines(9))])
    first, *others = remaining_chunks(work, {})
    read = envelopes_of(ShardReader(work, {first.key: first.fingerprint})(pa.table({"place": [0]})))
    assert read == others
    [refusal] = envelopes_of(ShardReader(work, {first.key: "other"})(pa.table({"place": [0]})))[:1]
    assert isinstance(refusal, WorkerRefusedError) and refusal.message.endswith(f"(on node {HERE})")


def test_an_input_that_a_machine_does_not_see_is_told_with_its_name(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    work = replace(work_of([]), shards=(InputShard(0, (str(tmp_path / "gone.jsonl"),)),))
    [refusal] = envelopes_of(ShardReader(work, {})(pa.table({"place": [0]})))
    assert isinstance(refusal, WorkerRefusedError)
    assert "gone.jsonl" in refusal.message and "shared" in refusal.hint


def test_an_actor_predicts_and_hands_refusals_through(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    work = work_of([given(tmp_path / "in.jsonl", lines(5))])
    chunk, _ = remaining_chunks(work, {})
    refusal = WorkerRefusedError("a shard is gone", "look for it", 4)
    actor = ModelActor(work, ship(ModelChoice()), __version__, 60.0)
    [result, through] = envelopes_of(
        answer for envelope in (chunk, refusal) for answer in actor(pack(envelope))
    )
    assert isinstance(result, ChunkResult) and result.key == (0, 0)
    assert isinstance(through, WorkerRefusedError)
    assert through.__reduce__() == refusal.__reduce__()


def test_an_actor_of_another_version_says_so_itself(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    work = work_of([given(tmp_path / "in.jsonl", lines(1))])
    [chunk] = remaining_chunks(work, {})
    actor = ModelActor(work, ship(ModelChoice()), "0.0.1", 60.0)
    [refusal] = envelopes_of(actor(pack(chunk)))
    assert isinstance(refusal, WorkerRefusedError) and "has sciextract" in refusal.message


def test_a_bundled_model_travels_by_its_name(store: dict[int, bytes]) -> None:
    choice = ModelChoice(str(bundled_models() / "sci"))
    assert receive_model(ship(choice), choice).model == "sci" and not store


def test_a_model_of_the_user_travels_in_whole_files(
    store: dict[int, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(bundled_models() / "sci", tmp_path / "mine")
    choice = ModelChoice(str(folder))
    shipped = ship(choice)
    assert receive_model(shipped, choice).model == str(folder)  # a shared file system shows it
    folder.rename(tmp_path / "elsewhere")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    there = [Path(str(receive_model(shipped, choice).model)) for _ in range(2)]
    assert there[0] == there[1] and manifest_hash(there[0]) == open_folder(there[0]).hash
    assert there[0].is_relative_to(tmp_path)


def test_a_refusal_keeps_its_exit_code() -> None:
    error = pickle.loads(pickle.dumps(refuse(UsageError("a word too much", "leave it out"))))
    assert isinstance(error, WorkerRefusedError) and error.message.endswith(f"(on node {HERE})")
    assert (error.exit_code, error.hint) == (UsageError.exit_code, "leave it out")
