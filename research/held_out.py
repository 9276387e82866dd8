"""Held-out predictions of a bundled model, by which ``annotate --promise`` chooses thresholds: labels and scores, no text.

``python -m research.held_out --model sci --gold scierc/dev.jsonl --source "SciERC dev" --data FOLDER`` writes the file into the
package, named after the hash of the model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sciextract import Extractor
from sciextract.formats import BadRecord, read
from sciextract.inference.promise import held_out, write_held_out
from sciextract.inference.settings import TASKS
from sciextract.resources import bundled_models


def main() -> None:
    """Predict the gold down to low scores, and write what was right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="sci")
    parser.add_argument("--gold", default="scierc/dev.jsonl")
    parser.add_argument(
        "--source", default="SciERC dev, which thresholds and edition were chosen on, too"
    )
    options = parser.parse_args()
    extractor = Extractor.load(options.model).with_settings(dict.fromkeys(TASKS, 0.05))
    gold = [each for each in read([options.data / options.gold]) if not isinstance(each, BadRecord)]
    predicted = list(extractor.stream([each.document for each in gold]))
    held = held_out(f"{len(gold)} abstracts: {options.source}", gold, predicted)
    path = bundled_models() / "held_out" / f"{extractor.model.hash[:8]}.json"
    path.parent.mkdir(exist_ok=True)
    write_held_out(path, held)
    print(path, sum(map(len, held.items.values())), "items")


if __name__ == "__main__":
    main()
