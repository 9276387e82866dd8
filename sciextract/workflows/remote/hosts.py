"""Machines that a person may mean: those of ``~/.ssh/config``, and those that trained before."""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from sciextract.errors import UsageError
from sciextract.workflows.remote.jobs import jobs
from sciextract.workflows.remote.ssh import SSH_VARIABLE, check_host

_PATTERN = frozenset("*?!")
_DEEPEST = 4
"""Files that include files that include files: enough for people, and an end where they do so in a circle."""
_FILE_BYTES = 1 << 20


def known_hosts() -> list[str]:
    """Hosts to offer: those of earlier trainings first, newest first, then those of the configuration.

    What ``--remote`` would refuse is left out, and so are patterns such as ``*.example.org``.
    """
    found = [place.host for _, place in jobs()]
    return [host for host in dict.fromkeys([*found, *configured_hosts()]) if _is_host(host)]


def configured_hosts() -> list[str]:
    """The names behind ``Host`` in the configuration that ``ssh`` reads, in its order.

    A file that cannot be read names none: ``ssh`` itself will say what is wrong with it.
    """
    return list(dict.fromkeys(_hosts_of(_configuration(), _DEEPEST)))


def _configuration() -> Path:
    """The file that ``ssh`` reads: that of its option ``-F`` where the person gives one."""
    try:
        words = shlex.split(os.environ.get(SSH_VARIABLE, ""))
    except ValueError:
        words = []
    named = [after for word, after in pairwise(words) if word == "-F"]
    return Path(named[-1]) if named else _own_folder() / "config"


def _own_folder() -> Path:
    return Path(os.path.expanduser("~")) / ".ssh"


def _hosts_of(path: Path, depth: int) -> Iterator[str]:
    for key, values in _settings(path):
        if key == "host":
            yield from (value for value in values if not _PATTERN & set(value))
        elif key == "include" and depth:
            for value in values:
                pattern = os.path.join(_own_folder(), os.path.expanduser(value))
                for each in sorted(glob.glob(pattern)):
                    yield from _hosts_of(Path(each), depth - 1)


def _settings(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Keywords in lower case with their values; ``Host=a b`` is ``Host a b``."""
    try:
        with path.open("rb") as stream:
            text = stream.read(_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            words = shlex.split(line.replace("=", " ", 1), comments=True)
        except ValueError:
            continue
        if words:
            yield words[0].lower(), words[1:]


def _is_host(host: str) -> bool:
    try:
        check_host(host)
    except UsageError:
        return False
    return True
