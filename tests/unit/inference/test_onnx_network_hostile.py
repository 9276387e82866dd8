"""Graphs from elsewhere: what onnxruntime says of them reaches no terminal as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_RUN = """
import sys
import numpy as np
from pathlib import Path
from sciextract.errors import ModelDamagedError
from sciextract.inference.onnx_network import _Session
session = _Session(Path(sys.argv[1]), 1, "cpu")
try:
    session.run(["y"], {"x": np.zeros(4, np.float32), "shape": np.array([3], np.int64)})
except ModelDamagedError as error:
    print(ascii(error.message))
"""


def test_names_of_nodes_do_not_reach_the_terminal(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    helper, kind = onnx.helper, onnx.TensorProto
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], name="\x1b]0;owned\x07")
    inputs = [
        helper.make_tensor_value_info("x", kind.FLOAT, ["n"]),
        helper.make_tensor_value_info("shape", kind.INT64, [1]),
    ]
    outputs = [helper.make_tensor_value_info("y", kind.FLOAT, ["m"])]
    graph = helper.make_graph([node], "g", inputs, outputs)
    opset = [helper.make_opsetid("", 17)]
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), str(path))
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "\x1b" not in done.stderr
    assert "model.onnx cannot be run" in done.stdout, done.stderr
