"""Runs docs/notebook.ipynb and stores its outputs: python tools/run_notebook.py"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "notebook.ipynb"


def executed(path: Path = NOTEBOOK) -> Any:
    """The notebook after a run in a fresh kernel of this interpreter; only what does not depend on the machine is kept.

    Raises:
        CellExecutionError: A cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, kernel_name="python3")
    spec = client.create_kernel_manager().kernel_spec
    assert spec is not None
    spec.argv[0] = sys.executable
    client.execute()
    notebook.metadata = {
        "kernelspec": notebook.metadata.kernelspec,
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output.data.pop("text/plain", None)
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
