"""What ends a run over many abstracts."""

from __future__ import annotations

from sciextract.errors import ExitCode, SciextractError


class WorkersFailedError(SciextractError):
    """Workers cannot be started, or do nothing but die."""


class InputChangedError(SciextractError):
    """An input has other records than when a part of it was done."""


class WorkerRefusedError(SciextractError):
    """A worker found that the work cannot be done; carries its message and exit code.

    Args:
        message: What is wrong.
        hint: The next step.
        exit_code: The exit code of the original error.
    """

    def __init__(self, message: str, hint: str, exit_code: int) -> None:
        super().__init__(message, hint)
        self.exit_code = ExitCode(exit_code)
