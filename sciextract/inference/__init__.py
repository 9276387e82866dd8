"""From documents to predictions with an ONNX model; no torch."""
