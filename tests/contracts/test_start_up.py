"""What the command line may load before it knows what to do."""

from __future__ import annotations

import json
import subprocess
import sys

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
import json, sys
from sciextract.cli.main import main
loaded = []
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as leaving:
        assert leaving.code in (0, None), leaving.code
    loaded.append(sorted(sys.modules))
print(json.dumps(loaded), file=sys.stderr)
"""
RUNS = (["annotate", "--help"], ["--help"], ["--version"])
OTHERS = (
    "cli.training",
    "cli.graph",
    "inference.promise",
    "inference.held_out",
    "workflows.models.registry",
)


def test_help_is_light_and_a_command_loads_no_other_command() -> None:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(RUNS)], capture_output=True, text=True, check=True
    )
    assert result.stdout
    for words, modules in zip(RUNS, json.loads(result.stderr), strict=True):
        assert not HEAVY & {name.partition(".")[0] for name in modules}, words
    annotate = set(json.loads(result.stderr)[0])
    assert "sciextract.cli.annotate" in annotate
    assert not {f"sciextract.{name}" for name in OTHERS} & annotate
