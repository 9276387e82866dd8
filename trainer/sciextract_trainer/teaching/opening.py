"""A lesson from the words of a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sciextract.documents.schema_file import load_schema
from sciextract_trainer.build import load_piece_rules
from sciextract_trainer.config import load_config
from sciextract_trainer.hardware.device import choose_device, has_fast_bf16
from sciextract_trainer.run import find_recipe
from sciextract_trainer.teaching.student import Lesson
from sciextract_trainer.teaching.teachers import Panel, student_labels
from sciextract_trainer.warm_start.start_model import open_start_model


def open_lesson(
    panel: Panel,
    recipe: str,
    changes: Mapping[str, Any],
    *,
    schema: str | None,
    dev: Path,
    gold: Path | None,
    run: Path,
    output: Path,
    gold_times: int = 1,
    device: str = "auto",
) -> Lesson:
    """A lesson for a student of a panel.

    Args:
        panel: The teachers; the first one is trained on where ``changes`` name no encoder.
        recipe: Name of a packaged recipe, or a TOML file.
        changes: Settings that replace the recipe's; those that are ``None`` do not.
        schema: Name of a label schema, or a TOML file; the teachers' one when ``None``.
        dev: Gold to select on.
        gold: Gold to learn from.
        run: Run folder.
        output: The model folder.
        gold_times: How often an epoch has each gold document.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.

    Raises:
        ModelMismatchError: The student's schema is not that of its teachers.
        ModelNotFoundError: The encoder cannot be loaded.
        UsageError: A setting is unknown or cannot work.
        InputMissingError: There is no such recipe or file.
        DeviceMissingError: There is no such device here.
    """
    chosen, wanted = choose_device(device), load_schema(schema or panel.schema_name)
    settings = {key: value for key, value in changes.items() if value is not None}
    config = load_config(find_recipe(recipe), **settings)
    config = replace(config, bf16=config.bf16 and has_fast_bf16(chosen))
    start = None if "encoder" in settings else open_start_model(panel.folders[0])
    if start is not None:
        config = start.fit(config)
    return Lesson(
        config=config,
        schema=wanted,
        labels=student_labels(panel, wanted, config.max_span_width),
        rules=start.rules if start else load_piece_rules(config.encoder),
        dev=dev,
        run=run,
        output=output,
        gold=gold,
        gold_times=gold_times,
        device=chosen,
        network=start.network(config) if start else None,
    )
