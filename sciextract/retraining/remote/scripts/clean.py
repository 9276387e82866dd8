"""Removes the folder of a job; one that still runs stays."""

from __future__ import annotations

import os
import shutil
import sys


def main() -> None:
    """Only what lies below the folder of jobs is ever removed."""
    home = os.path.expanduser("~")
    folder = os.path.realpath(os.path.join(home, sys.argv[1]))
    if os.path.dirname(folder) == os.path.realpath(os.path.join(home, sys.argv[2])):
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
