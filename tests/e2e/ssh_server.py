"""An OpenSSH server of one's own: keys, settings and port belong to the test, and nothing of the machine is used."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PRIVILEGES = Path("/run/sshd")
"""The empty folder that a server of root wants."""
_CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile {folder}/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
PubkeyAuthentication yes
PermitRootLogin yes
PermitUserRC no
PermitUserEnvironment no
StrictModes no
UsePAM no
PrintMotd no
PrintLastLog no
"""


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        folder: Where its keys are.
        port: Where it listens, on loopback.
    """

    folder: Path
    port: int

    def command(self, remote: str) -> list[str]:
        """A client that runs a command line there in a terminal."""
        options = {
            "BatchMode": "yes",
            "IdentitiesOnly": "yes",
            "IdentityFile": str(self.folder / "user_key"),
            "LogLevel": "ERROR",
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": str(self.folder / "known_hosts"),
        }
        words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        place = f"{getpass.getuser()}@127.0.0.1"
        return ["ssh", "-F", "none", "-tt", "-p", str(self.port), *words, place, remote]


def missing() -> str:
    """Why there can be no server here, empty where there can."""
    tools = {"sshd": sshd(), "ssh": shutil.which("ssh"), "ssh-keygen": shutil.which("ssh-keygen")}
    absent = [name for name, found in tools.items() if not found]
    return f"not installed: {', '.join(absent)}" if absent else ""


def sshd() -> str | None:
    """The server's program, which is not on every path."""
    return shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A server for as long as the block runs."""
    for name in ("host_key", "user_key"):
        _make_key(folder / name)
    if os.geteuid() == 0:
        PRIVILEGES.mkdir(mode=0o755, exist_ok=True)
    server = Server(folder, _free_port())
    config = folder / "sshd_config"
    config.write_text(_CONFIG.format(port=server.port, folder=folder))
    command = [str(sshd()), "-D", "-e", "-f", str(config)]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)
    try:
        _wait_for(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(10)


def _make_key(path: Path) -> None:
    words = ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)]
    subprocess.run(["ssh-keygen", *words], check=True, capture_output=True)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(server: Server, process: subprocess.Popen[bytes], seconds: float = 20.0) -> None:
    """Until it answers."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", server.port), 1) as greeted:
                if greeted.recv(4) == b"SSH-":
                    return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"sshd does not answer: {(server.folder / 'log').read_text()}")
