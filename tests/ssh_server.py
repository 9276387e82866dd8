"""A real sshd on loopback with keys of its own, and what the client must know to reach it."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

PATIENCE_SECONDS = 20.0
SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
PRIVILEGES = Path("/run/sshd")
"""The empty folder that a server of root wants."""
_SERVER = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile {folder}/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin yes
SetEnv HOME={home} PATH={home}/bin:{path}
"""
_CLIENT = """\
Host gpubox
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking accept-new
  LogLevel ERROR
Host stranger
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/other
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking accept-new
  LogLevel ERROR
Host silent
  HostName 127.0.0.1
  Port {silent}
Host closed
  HostName 127.0.0.1
  Port {closed}
"""


def missing() -> str:
    """Why there can be no server here, empty where there can."""
    tools = {name: shutil.which(name) for name in ("ssh", "ssh-keygen", "rsync")}
    absent = [name for name, found in {"sshd": SSHD, **tools}.items() if not found]
    return f"not installed: {', '.join(absent)}" if absent else ""


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A server for as long as the block runs."""
    server = Server(folder)
    try:
        yield server
    finally:
        server.stop()


def served(folders: pytest.TempPathFactory) -> Iterator[Server]:
    """The body of a fixture: an sshd of its own, or a skip where there is none."""
    if missing():
        pytest.skip(missing())
    with serving(folders.mktemp("gpubox")) as server:
        yield server


_PYTHON = """\
#!/bin/sh
# The other machine's Python: scripts run in it as they are, trainings are those of the test.
case "$1" in
-m) shift 2; exec {python} {training} "$@" ;;
*) exec {python} "$@" ;;
esac
"""


def put_python(server: Server, training: Path) -> Path:
    """A Python on the machine whose ``-m`` runs a script of the test instead."""
    python = server.home / "python"
    python.write_text(_PYTHON.format(python=sys.executable, training=training))
    python.chmod(0o755)
    return python


class Server:
    """The server; ``gpubox`` reaches it, ``stranger`` has no key, ``silent`` never answers, ``closed`` refuses.

    Args:
        folder: Keys and configuration.

    Attributes:
        home: The home folder on the other machine.
        ssh: The client's command, for ``SCIEXTRACT_SSH``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self._silent = socket.create_server(("127.0.0.1", 0))
        for name in ("host", "user", "other"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)],
                check=True,
            )
        ports = {
            "port": _free_port(),
            "closed": _free_port(),
            "silent": self._silent.getsockname()[1],
        }
        values = {**ports, "folder": folder, "home": self.home, "user": getpass.getuser()}
        values["path"] = os.environ.get("PATH", "/usr/bin:/bin")
        (folder / "sshd_config").write_text(_SERVER.format(**values))
        (folder / "config").write_text(_CLIENT.format(**values))
        self.ssh = f"ssh -F {folder / 'config'}"
        self._port = ports["port"]
        self._start()

    def _start(self) -> None:
        if os.geteuid() == 0:
            PRIVILEGES.mkdir(mode=0o755, exist_ok=True)
        words = [str(SSHD), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with (self.folder / "sshd.log").open("ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + PATIENCE_SECONDS
        while not _answers(self._port):
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError((self.folder / "sshd.log").read_text())
            time.sleep(0.05)

    def command(self, remote: str) -> list[str]:
        """A client that runs a command line there in a terminal."""
        return ["ssh", "-F", str(self.folder / "config"), "-tt", "gpubox", remote]

    def cut_lines(self) -> int:
        """Kill every connection, not the server; gives how many there were."""
        found = subprocess.run(
            ["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False
        )
        cut = 0
        for number in found.stdout.split():
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(int(number), signal.SIGKILL)
                cut += 1
        return cut

    def stop(self) -> None:
        """End the server and its connections."""
        self.cut_lines()
        self.process.terminate()
        self.process.wait()
        self._silent.close()

    def again(self) -> None:
        """Start the server once more on the same port."""
        self._start()

    def down(self) -> None:
        """The machine is away for a while."""
        self.cut_lines()
        self.process.terminate()
        self.process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as line:
            return line.recv(4) == b"SSH-"
    except OSError:
        return False
