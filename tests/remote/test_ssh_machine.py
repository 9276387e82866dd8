"""First contact: what is refused before any work, and what is said then."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sciextract.errors import RemoteError, UsageError
from sciextract.retraining.remote.ssh import Ssh, check_host
from sciextract.retraining.remote.start import Machine, RemoteTarget, RemoteTask, probe
from sciextract.retraining.run_folder import Run
from tests.remote.starting import start
from tests.ssh_server import Server

pytestmark = pytest.mark.xdist_group("sshd")


def test_the_probe_tells_what_the_machine_has(server: Server, python: str) -> None:
    machine = probe(Ssh("gpubox", python))
    assert machine.home == str(server.home)
    assert machine.python >= (3, 11)
    assert machine.free_bytes == pytest.approx(shutil.disk_usage(server.home).free, rel=0.2)
    assert machine.rsync
    assert machine.writable


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("stranger", "Permission denied"),
        ("closed", "Connection refused"),
        ("no-such-host.invalid", "cannot be reached"),
    ],
)
def test_a_machine_that_refuses_is_named_at_once(server: Server, host: str, words: str) -> None:
    with pytest.raises(RemoteError, match=words) as refused:
        probe(Ssh(host))
    assert host in refused.value.message
    assert f"ssh {host}" in refused.value.hint


def test_a_machine_that_never_answers_is_given_up_within_fifteen_seconds(server: Server) -> None:
    since = time.monotonic()
    with pytest.raises(RemoteError, match="silent cannot be reached"):
        probe(Ssh("silent"))
    assert time.monotonic() - since < 16


def test_a_python_that_is_not_there(server: Server) -> None:
    with pytest.raises(RemoteError, match="gpubox") as refused:
        probe(Ssh("gpubox", "/nowhere/python9"))
    assert "--remote-python" in refused.value.hint


@pytest.mark.parametrize(
    "host",
    [
        *("-oProxyCommand=touch x", "a;touch x", "a b", "$(touch x)", "`touch x`", "a|b", "a\nb"),
        *("", "a'b", 'a"b', "user@", "@host", "a/b", "a&b", "a>b", "gpübox"),
    ],
)
def test_hosts_with_shell_characters_never_reach_a_command(host: str) -> None:
    with pytest.raises(UsageError, match="not a host name"):
        check_host(host)


@pytest.mark.parametrize(
    "host", ["gpubox", "me@gpu.example.org", "10.0.0.7", "[fe80::1%eth0]", "me@[::1]", "node_1-a"]
)
def test_hosts_as_ssh_takes_them(host: str) -> None:
    assert check_host(host) == host


@pytest.mark.parametrize(
    ("host", "of_ssh", "of_rsync"),
    [
        ("me@[::1]", "me@::1", "me@[::1]"),
        ("fe80::1", "fe80::1", "[fe80::1]"),
        ("a.b", "a.b", "a.b"),
    ],
)
def test_addresses_have_brackets_for_rsync_only(host: str, of_ssh: str, of_rsync: str) -> None:
    assert Ssh(host).words()[-2] == of_ssh
    assert Ssh(host).rsync_host == of_rsync


@pytest.mark.parametrize("python", ["a b", "python;x", "$(x)", ""])
def test_a_python_with_shell_characters_is_refused(python: str) -> None:
    with pytest.raises(UsageError, match="--remote-python"):
        Ssh("gpubox", python)


GOOD = Machine(
    (3, 12, 1), "/usr/bin/python3", (), ("H200",), 10 << 30, "/home/me", True, True, True, "Linux"
)


@pytest.mark.parametrize(
    ("lacking", "wanted", "words"),
    [
        ({"python": (3, 8, 10)}, {}, "is Python 3.8.10, 3.11 or newer is needed"),
        ({"missing": ("torch",)}, {}, "lacks torch"),
        ({"free_bytes": 5 << 20}, {}, "5 MiB are free in /home/me, the job needs 1024 MiB"),
        ({"writable": False}, {}, "takes no files"),
        ({"rsync": False}, {}, "no rsync"),
        ({"gpus": ()}, {"device": "cuda"}, "no NVIDIA GPU"),
        ({"sbatch": False}, {"slurm": True}, "no sbatch"),
    ],
)
def test_what_is_lacking_is_said_before_any_work(
    lacking: dict[str, object], wanted: dict[str, Any], words: str
) -> None:
    target = RemoteTarget("gpubox", **wanted)
    target.require(GOOD, 1 << 30)
    with pytest.raises(RemoteError, match=words):
        target.require(replace(GOOD, **lacking), 1 << 30)  # type: ignore[arg-type]


def test_login_nodes_of_a_cluster_need_no_gpu() -> None:
    RemoteTarget("login", device="cuda", slurm=True).require(replace(GOOD, gpus=()), 1)


def test_nothing_is_sent_to_a_machine_without_room(
    server: Server, run: Run, task: Callable[..., RemoteTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sciextract.retraining.remote.start.ROOM_FOR_RESULTS", 1 << 60)
    with pytest.raises(RemoteError, match="MiB are free"):
        start(run, task("1", "0"))
    assert not (server.home / ".cache").exists()


def test_a_login_script_that_talks_does_no_harm(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = subprocess.CompletedProcess([], 255, b"", b"banner\nPermission denied (publickey).")
    with monkeypatch.context() as patch, pytest.raises(RemoteError) as told:
        patch.setattr("sciextract.retraining.remote.ssh.subprocess.run", lambda *a, **k: ended)
        Ssh("gpubox").run("probe")
    assert told.value.message.endswith("Permission denied (publickey).")
