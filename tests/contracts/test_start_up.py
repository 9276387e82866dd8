"""What the command line may load before it knows what to do."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    *("torch", "numpy", "pandas", "spacy", "textual", "onnxruntime", "pydantic"),
    *(
        "rich",
        "transformers",
        "tokenizers",
        "huggingface_hub",
        "platformdirs",
        "sciextract_trainer",
    ),
}
SCRIPT = """
import sys
from sciextract.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as leaving:
    assert leaving.code in (0, None), leaving.code
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("annotate", "--help")])
def test_help_is_light(words: tuple[str, ...]) -> None:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, check=True
    )
    assert result.stdout
    assert not HEAVY & set(result.stderr.split())


def test_a_command_loads_no_other_command() -> None:
    script = SCRIPT.replace('.partition(".")[0]', "")
    words = [sys.executable, "-c", script, "annotate", "--help"]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    loaded = set(result.stderr.split())
    assert "sciextract.cli.annotate" in loaded
    others = {
        "cli.training",
        "cli.graph",
        "inference.promise",
        "inference.held_out",
        "workflows.models.registry",
    }
    assert not {f"sciextract.{each}" for each in others} & loaded
