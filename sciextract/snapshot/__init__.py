"""The training snapshot: what of a project a model is trained, chosen and judged on."""
