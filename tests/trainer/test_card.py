"""What the model card says of quantisation."""

from __future__ import annotations

from sciextract_trainer.package import int8_losses

FP32 = {"ner": 68.4, "relation": 41.5, "coreference": 57.9}
INT8 = {"ner": 68.7, "relation": 41.5, "coreference": 57.0}


def test_losses_are_fp32_minus_int8() -> None:
    assert int8_losses({"fp32": FP32, "int8": INT8}) == {
        "ner": -0.3,
        "relation": 0.0,
        "coreference": 0.9,
    }


def test_one_graph_alone_has_no_losses() -> None:
    assert int8_losses({"int8": INT8}) == {}
