"""Making a project brings along nothing that takes long to import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
from sciextract.documents.schema_file import load_schema
from sciextract.store import create_project
create_project(sys.argv[1], load_schema("scierc")).close()
print(sorted(name for name in ("numpy", "pandas", "pyarrow") if name in sys.modules))
import numpy
print(numpy.arange(2).sum())
"""


def test_neither_pandas_nor_numpy(tmp_path: Path) -> None:
    target = str(tmp_path / "p.sciextract")
    done = subprocess.run(
        [sys.executable, "-c", CODE, target], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["[]", "1"]
