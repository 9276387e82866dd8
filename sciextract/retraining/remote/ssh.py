"""Commands on another machine: the person's own ``ssh``, with everything that ``~/.ssh/config`` says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from sciextract.errors import RemoteError, UsageError, as_command

SSH_VARIABLE = "SCIEXTRACT_SSH"
"""Another command than ``ssh``, with options, as ``GIT_SSH_COMMAND`` is for git."""

FIRST_CONTACT_SECONDS = 15
# Never a question behind a screen, and a dead line is noticed after 15 seconds.
_OPTIONS = ("BatchMode=yes", "ConnectTimeout=10", "ConnectionAttempts=1",
            "ServerAliveInterval=5", "ServerAliveCountMax=3")  # fmt: skip
_HOST = re.compile(r"(?:[\w.+-]+@)?(?:[\w][\w.:-]*|\[[0-9a-fA-F:.]+(?:%\w+)?\])", re.ASCII)
_PYTHON = re.compile(r"[\w./~+-]+", re.ASCII)
CONNECTION_FAILED = 255


def check_host(host: str) -> str:
    """The host as it was given, if it is one.

    No shell of ours ever sees it, but commands in ``~/.ssh/config`` may (``ProxyCommand`` with ``%h``), and a
    first ``-`` would make it an option.

    Raises:
        UsageError: It has characters that no host name, address or alias has.
    """
    if not _HOST.fullmatch(host):
        raise UsageError(
            f"--remote {host!r} is not a host name",
            "give HOST or USER@HOST as ssh takes it: letters, digits and . _ - + only; "
            "an IPv6 address in brackets, as in [::1]",
        )
    return host


_SHOWN = 500
"""Characters of what another machine says: it may say anything."""


@dataclass(frozen=True, slots=True)
class Ssh:
    """One machine.

    Attributes:
        host: ``HOST`` or ``USER@HOST``, checked.
        python: Its Python.
    """

    host: str
    python: str = "python3"

    def __post_init__(self) -> None:
        """Refuses what is not a host, and a Python with characters that a shell would read.

        Raises:
            UsageError: Either cannot be used.
        """
        check_host(self.host)
        if not _PYTHON.fullmatch(self.python):
            raise UsageError(
                f"--remote-python {self.python!r} is not a path without spaces or quotes",
                "for example --remote-python ~/env/bin/python",
            )

    def command(self) -> list[str]:
        """The ``ssh`` command with its options, without the host; rsync takes it, too."""
        options = [word for option in _OPTIONS for word in ("-o", option)]
        return [*shlex.split(os.environ.get(SSH_VARIABLE) or "ssh"), *options]

    def words(self, *arguments: str) -> list[str]:
        """The command that gives a script on standard input to the machine's Python."""
        quoted = shlex.join(arguments)
        user, at, name = self.host.rpartition("@")
        host = f"{user}{at}{name.strip('[]')}"  # ssh takes an address without brackets
        # exec lets signals reach Python itself, not a shell before it.
        return [*self.command(), "-T", "--", host, f"exec {self.python} - {quoted}"]

    @property
    def rsync_host(self) -> str:
        """The host as rsync takes it in front of a colon: an IPv6 address in brackets."""
        user, at, name = self.host.rpartition("@")
        return f"{user}{at}[{name}]" if ":" in name.strip("[]") and name[0] != "[" else self.host

    def run(self, *arguments: str, seconds: float = 60.0) -> str:
        """Run a task of :mod:`sciextract.retraining.remote.other_machine`; gives what it printed.

        Raises:
            RemoteError: The machine cannot be reached in time, or the task failed.
        """
        try:
            ended = subprocess.run(
                self.words(*arguments), input=script(), capture_output=True, timeout=seconds, check=False
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise self.unreachable(f"no answer within {seconds:g} seconds") from None
        except FileNotFoundError as error:
            raise RemoteError(
                f"{error.filename}: no such command", "install OpenSSH's client"
            ) from error
        if ended.returncode:
            output = ended.stderr.decode("utf-8", "replace").strip()
            last = output.splitlines()[-1][-_SHOWN:] if output else f"exit code {ended.returncode}"
            if ended.returncode == CONNECTION_FAILED:
                raise self.unreachable(last)
            raise RemoteError(
                f"{self.host}: {last}", f"is {self.python} there? name another with --remote-python"
            )
        return ended.stdout.decode("utf-8", "replace")

    def ask(self, *arguments: str, seconds: float = 60.0) -> dict[str, Any]:
        """Run a task that prints one JSON object as its last line.

        Raises:
            RemoteError: The machine cannot be reached, or answers something else.
        """
        output = self.run(*arguments, seconds=seconds)
        lines = output.strip().splitlines() or [""]
        try:
            values = json.loads(lines[-1])  # before it a login script may have said something
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise RemoteError(
                f"{self.host} answers {output.strip()[-_SHOWN:]!r}",
                f"see what its login scripts print: {as_command('ssh', self.host, 'true')}",
            )
        return values

    def unreachable(self, why: str) -> RemoteError:
        """The error of a machine that does not answer."""
        return RemoteError(
            f"{self.host} cannot be reached: {why[-_SHOWN:]}",
            f"try by hand: {as_command('ssh', self.host, 'true')}",
        )


def script() -> bytes:
    """The text of what runs on the other machine."""
    return (files("sciextract.retraining.remote") / "other_machine.py").read_bytes()
