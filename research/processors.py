"""Whether an int8 model predicts the same on processors without VNNI: ``python -m research.processors GOLD``.

Predicts GOLD on this processor and again under ``qemu-x86_64 -cpu max`` (Debian package qemu-user), a processor with AVX2
and neither AVX-512 nor VNNI; prints how far the scores of entities are apart, and both F1.
``--fast-kernels`` emulates with the kernels that ONNX Runtime takes there by default, ``--seven-bits`` with weights of
7 bits, whose sums cannot overflow.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sciextract.inference.model_folder import GRAPHS, listed_files, locate_model, write_manifest

EMULATOR = ("qemu-x86_64", "-cpu", "max")
COMMAND = """
import sys
from sciextract.inference import onnx_network
if sys.argv.pop(1) == "fast":
    onnx_network.sums_overflow = lambda: False
from sciextract.cli.main import main
main()
"""
Scores = dict[tuple[str, int, int, str], float]


def predict(
    gold: Path, model: Path, output: Path, *, emulated: bool, precise: bool
) -> tuple[Scores, dict[str, Any]]:
    """Scores of the predicted entities, and F1 by task."""
    paths = [*sys.path, sysconfig.get_paths()["purelib"]]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    python: list[str] = [*(EMULATOR if emulated else ()), os.path.realpath(sys.executable)]
    words = [
        "annotate",
        str(gold),
        "--model",
        str(model),
        "--export",
        "jsonl",
        "--output",
        str(output),
        "--quiet",
    ]
    subprocess.run(
        [*python, "-c", COMMAND, "exact" if precise else "fast", *words],
        env=environment,
        check=True,
    )
    evaluate = ["evaluate", str(gold), str(output), "--json", "--no-bootstrap"]
    done = subprocess.run(
        [sys.executable, "-m", "sciextract", *evaluate], env=environment, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    scores: Scores = {}
    for line in output.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for entity in record["entities"]:
            (start, end), *_ = entity["fragments"]
            scores[record["doc_key"], start, end, entity["label"]] = entity["score"]
    return scores, f1_of(json.loads(done.stdout))


def f1_of(report: dict[str, Any]) -> dict[str, float]:
    """F1 of entities, relations and coreference in a report of ``evaluate --json``."""
    return {
        "entities": report["ner"]["all"]["f1"],
        "relations": report["relation"]["boundaries"]["directed"]["f1"],
        "coreference": report["coreference"]["conll"]["f1"],
    }


def seven_bits(model: Path, output: Path) -> Path:
    """A copy of a model folder whose int8 weights are rounded to 7 bits, as ``reduce_range`` makes them."""
    import onnx
    from onnx import numpy_helper

    shutil.copytree(model, output, ignore=lambda _, names: set(names) - set(listed_files(model)))
    graph = onnx.load(output / GRAPHS["int8"])
    tensors = {tensor.name: tensor for tensor in graph.graph.initializer}
    matrices = {n.input[1] for n in graph.graph.node if n.op_type == "MatMulInteger"}
    for name in sorted(matrices & tensors.keys()):
        scale = tensors[f"{name.removesuffix('_quantized')}_scale"]
        weights = numpy_helper.to_array(tensors[name]).astype(np.int16)
        halved = np.clip(np.rint(weights / 2), -64, 63).astype(np.int8)
        doubled = numpy_helper.to_array(scale) * np.float32(2)
        tensors[name].CopyFrom(numpy_helper.from_array(halved, name))
        scale.CopyFrom(numpy_helper.from_array(doubled, scale.name))
    onnx.save(graph, output / GRAPHS["int8"])
    write_manifest(output)
    return output


def main(words: Sequence[str] | None = None) -> None:
    """Predicts twice and prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold", type=Path, help="gold in JSON Lines")
    parser.add_argument("--model", default="sci")
    parser.add_argument("--documents", type=int, default=50, help="how many of the gold")
    parser.add_argument("--fast-kernels", action="store_true")
    parser.add_argument("--seven-bits", action="store_true")
    arguments = parser.parse_args(words)
    if shutil.which(EMULATOR[0]) is None:
        sys.exit(f"{EMULATOR[0]} is not installed: apt-get install qemu-user")
    with tempfile.TemporaryDirectory() as temporary:
        folder, gold = Path(temporary), Path(temporary, "gold.jsonl")
        with arguments.gold.open(encoding="utf-8") as lines:
            gold.write_text("".join(islice(lines, arguments.documents)), encoding="utf-8")
        model = locate_model(arguments.model)
        if arguments.seven_bits:
            model = seven_bits(model, folder / "seven-bits")
        precise = not arguments.fast_kernels
        here, f1_here = predict(gold, model, folder / "here", emulated=False, precise=precise)
        there, f1_there = predict(gold, model, folder / "there", emulated=True, precise=precise)
    both = here.keys() & there.keys()
    differences = [abs(here[name] - there[name]) for name in both]
    found = {
        "documents": arguments.documents,
        "entities of both": len(both),
        "of one only": len(here.keys() ^ there.keys()),
        "largest difference": round(max(differences), 4),
        "mean difference": round(sum(differences) / len(differences), 4),
        "F1 here": f1_here,
        "F1 emulated": f1_there,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
