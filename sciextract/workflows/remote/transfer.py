"""Files to another machine and back, by rsync over the same ssh."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sciextract.errors import RemoteError
from sciextract.workflows.remote.ssh import Ssh

MAX_FILE_BYTES = 4 << 30
"""A file from another machine that is larger stays there; models take far less."""
_PRIVATE = ("--archive", "--chmod=go=", "--rsync-path=umask 077 && rsync", "--mkpath")
_PLAIN = (
    "--recursive",
    "--times",
    "--no-links",
    "--chmod=D755,F644",
    f"--max-size={MAX_FILE_BYTES}",
)
_HINTS = {
    11: "make room on the machine that takes the files",
    12: "is the disk there full, or rsync missing?",
    255: "the line is down: the same command goes on where it stopped",
}


def push(ssh: Ssh, sources: Sequence[Path], folder: str, exclude: Sequence[str] = ()) -> None:
    """Copy folders and files into a folder of the other machine, where nobody but their owner may read them.

    Files that are there already are not sent again.

    Args:
        ssh: The machine.
        sources: What to copy; each keeps its name.
        folder: Where to, absolute; made if it is not there.
        exclude: Patterns of names that are left out.

    Raises:
        RemoteError: The line broke, or there is no room.
    """
    target = f"{ssh.rsync_host}:{folder}/"
    leave_out = [f"--exclude={pattern}" for pattern in exclude]
    _rsync(ssh, [*_PRIVATE, *leave_out, "--", *map(_local, sources), target])


def fetch(ssh: Ssh, path: str, into: Path) -> None:
    """Copy a folder or file of the other machine into a folder here: plain files with plain permissions.

    Links, devices and files of more than ``MAX_FILE_BYTES`` stay there.

    Raises:
        RemoteError: The line broke, it is not there, or there is no room here.
    """
    into.mkdir(parents=True, exist_ok=True)
    _rsync(ssh, [*_PLAIN, "--", f"{ssh.rsync_host}:{path}", f"{_local(into)}/"])


def _local(path: Path) -> str:
    """A path that rsync takes for no host: absolute, so that a colon in it means nothing."""
    return str(path.absolute())


def _rsync(ssh: Ssh, words: Sequence[str]) -> None:
    command = ["rsync", "--partial", "--secluded-args", "--no-specials",
               "--no-devices", "--timeout=60", f"--rsh={shlex.join(ssh.command())}", *words]  # fmt: skip
    try:
        ended = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise RemoteError("rsync: no such command", "install rsync on this machine") from error
    if ended.returncode:
        told = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = next((line for line in told if line), f"exit code {ended.returncode}")
        raise RemoteError(f"{ssh.host}: {reason}", _HINTS.get(ended.returncode, ""))
