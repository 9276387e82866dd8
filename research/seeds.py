"""How much of a difference is luck: dev F1 of stages that were trained with several seeds, as a table.

Usage: ``python -m research.seeds --build runs/sci/build.json [--precision fp32]``. The file is the record of
``python -m research.models sci-2-seeds``: a stage ``NAME-seed-N`` is the stage ``NAME`` with another seed. Thresholds of
each seed are fitted on the same dev abstracts, so that the spread is that of training and fitting together.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TASKS = {"ner": "entities", "relation": "relations", "coreference": "coreference"}
OTHER_SEED = re.compile(r"(.+)-seed-\d+")

Scores = Mapping[str, float]


def main(words: Sequence[str] | None = None) -> int:
    """Reads the record and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="build.json of the run folder")
    parser.add_argument("--precision", choices=("int8", "fp32"), default="int8")
    options = parser.parse_args(words)
    try:
        stages = json.loads(options.build.read_text(encoding="utf-8"))["stages"]
    except (OSError, ValueError, LookupError) as error:
        print(f"error: {options.build} is not a build record: {error}", file=sys.stderr)
        return 2
    print(markdown(seeds_of(stages, options.precision)))
    return 0


def seeds_of(stages: Mapping[str, Any], precision: str) -> dict[str, list[Scores]]:
    """F1 of every seed of the stages that were trained with several."""
    found: dict[str, list[Scores]] = defaultdict(list)
    for name, stage in stages.items():
        scores = stage.get("scores", {}).get(precision)
        if scores and "finished" in stage:
            match = OTHER_SEED.fullmatch(name)
            found[match[1] if match else name].append(scores)
    return {name: seeds for name, seeds in found.items() if len(seeds) > 1}


def markdown(groups: Mapping[str, Sequence[Scores]]) -> str:
    """Mean, standard deviation (of a sample) and all values; one row a stage and the mean of its tasks last."""
    lines = [
        f"| stage | seeds | {' | '.join(TASKS.values())} | mean of three |",
        "|---|---|" + "---|" * (len(TASKS) + 1),
    ]
    for name, seeds in groups.items():
        columns = [[seed[task] for seed in seeds] for task in TASKS]
        means = [statistics.mean(row) for row in zip(*columns, strict=True)]
        cells = " | ".join(_spread(column) for column in (*columns, means))
        lines.append(f"| {name} | {len(seeds)} | {cells} |")
    return "\n".join(lines)


def _spread(values: Sequence[float]) -> str:
    told = ", ".join(f"{value:.1f}" for value in values)
    spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{spread} ({told})"


if __name__ == "__main__":
    sys.exit(main())
