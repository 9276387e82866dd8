"""Other processes that use a project, for the tests of two at once and of sudden ends.

Run as ``python -m tests.unit.store.processes WORK PATH ...``: every line that a process prints says how far it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def running(work: str, *words: object, drop_root: bool = False) -> Iterator[subprocess.Popen[str]]:
    """A process that works until the end of the block; killed then if it is still there.

    Args:
        drop_root: Whether the process obeys file permissions although it may belong to root.
    """
    command = [sys.executable, "-m", "tests.unit.store.processes", work, *map(str, words)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=_obey_permissions if drop_root and os.geteuid() == 0 else None,  # noqa: PLW1509
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    """The next line of a process; empty when it has ended."""
    if process.stdout is None:
        raise ValueError("the process has no output")
    return process.stdout.readline().rstrip("\n")


def tell(process: subprocess.Popen[str]) -> None:
    """Let a process that waits go on."""
    if process.stdin is None:
        raise ValueError("the process has no input")
    process.stdin.write("\n")
    process.stdin.flush()


def hold(path: str, longer: str = "0") -> None:
    """Begin a transaction, and end it so many seconds after being told to."""
    from sciextract.store.sqlite import connect

    connection = connect(Path(path), "write")
    connection.execute("BEGIN IMMEDIATE")
    _say("held")
    sys.stdin.readline()
    time.sleep(float(longer))
    connection.execute("ROLLBACK")
    connection.close()


def read(path: str) -> None:
    """Keep a reading transaction open until told to end it."""
    from sciextract.store.sqlite import connect

    connection = connect(Path(path), "read")
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM document").fetchone()
    _say("reading")
    sys.stdin.readline()
    connection.close()


def note(path: str, author: str, count: str) -> None:
    """Write so many notes, one action each."""
    from sciextract.store import open_project

    with open_project(path, author) as project:
        _say("ready")
        sys.stdin.readline()
        for number in range(int(count)):
            project.actions.note(1, f"{author} {number}")
    _say("done")


def come_and_go(path: str, author: str, count: str) -> None:
    """Open the project, write one note and close it, so many times."""
    from sciextract.store import open_project

    _say("ready")
    sys.stdin.readline()
    for number in range(int(count)):
        with open_project(path, author) as project:
            project.actions.note(1, f"{author} {number}")
    _say("done")


def note_and_stay(path: str) -> None:
    """Write one note and wait without closing."""
    from sciextract.store import open_project

    project = open_project(path, "victim")
    project.actions.note(1, "written before the end")
    _say("written")
    sys.stdin.readline()


def keep_noting(path: str) -> None:
    """Write notes until killed."""
    from sciextract.store import open_project

    project = open_project(path, "writer")
    for number in range(1_000_000):
        project.actions.note(1, f"note {number}")
        if number == 0:
            _say("writing")


def show_mode(path: str) -> None:
    """Say how the project can be opened, what is in it, and why nothing can be written."""
    from sciextract.errors import ProjectError
    from sciextract.store import open_project

    try:
        with open_project(path, "reader") as project:
            progress = project.document_state(1).progress
            _say(f"{project.mode} {progress.note if progress else 'none'}")
            project.actions.note(1, "never")
    except ProjectError as error:
        _say(f"{type(error).__name__} {error.message}")


def fill(path: str, kind: str, limit: str) -> None:
    """Work with a limit on the size of files, as on a full disk, until it is reached."""
    import resource
    import signal

    from sciextract.errors import ProjectError
    from tests.unit.store import filling

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with filling.prepared(Path(path), kind) as work:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
        try:
            for done in work:
                _say(str(done))
        except ProjectError as error:
            _say(type(error).__name__)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def open_within(path: str, limit: str) -> None:
    """Open a project for writing with a limit on the size of files, as on a full disk."""
    import resource
    import signal

    from sciextract.errors import ProjectError
    from sciextract.store import open_project

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        open_project(path).close()
    except ProjectError as error:
        _say(type(error).__name__)


def convert(path: str, most: str) -> None:
    """Open a project for writing, and be killed before its statement or replacement of a file of this number."""
    import signal

    from sciextract.store import open_project, sqlite

    count = 0

    def counting(doing: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*words: Any) -> Any:
            nonlocal count
            count += 1
            if count == int(most):
                os.kill(os.getpid(), signal.SIGKILL)
            return doing(*words)

        return counted

    setattr(sqlite.Connection, "execute", counting(sqlite.Connection.execute))  # noqa: B010
    os.replace = counting(os.replace)
    open_project(path).close()
    _say(str(count))


def _say(text: str) -> None:
    print(text, flush=True)


def _obey_permissions() -> None:
    """Take root's right to pass over permissions from the program that is started next."""
    import ctypes

    drop, capabilities = 24, (1, 2)  # PR_CAPBSET_DROP; CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    for capability in capabilities:
        if ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0):
            raise OSError("root cannot give up its rights here")


WORK: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        hold,
        read,
        note,
        come_and_go,
        note_and_stay,
        keep_noting,
        show_mode,
        fill,
        open_within,
        convert,
    )
}

if __name__ == "__main__":
    WORK[sys.argv[1]](*sys.argv[2:])
