"""Carries out a plan: every stage that is not finished, then the model folders."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sciextract.errors import UsageError
from sciextract.formats.inputs import Part
from sciextract.inference.model_folder import MANIFEST, manifest_hash
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.files import explained
from sciextract_trainer.making.adopting import adopt, require_stages
from sciextract_trainer.making.plan import PlannedModel
from sciextract_trainer.making.products import NetworkMade
from sciextract_trainer.making.stage import Stage
from sciextract_trainer.making.stages.network_folder import ship
from sciextract_trainer.making.workshop import Workshop
from sciextract_trainer.sessions import require_time


def make(
    shop: Workshop, output: Path, adopted: Mapping[str, Path] | None = None
) -> dict[str, Path]:
    """Makes all models of a plan; a call that was stopped goes on.

    Args:
        shop: The plan, and where it is carried out.
        output: Gets one folder a model.
        adopted: Folders by stage that were made by hand with the plan's settings.

    Returns:
        The model folders by name.

    Raises:
        TimeIsUp: The time of this call is over; the same call goes on.
        UsageError: A finished stage had other settings or other data.
        SciextractError: A stage cannot be done; what is finished is kept.
    """
    make_stages(shop, adopted or {})
    return {
        name: _model(shop, name, each, output / name) for name, each in shop.plan.models.items()
    }


def make_stages(shop: Workshop, adopted: Mapping[str, Path] | None = None) -> None:
    """Makes all stages of a plan; arguments and errors are those of :func:`make`."""
    adopted = adopted or {}
    require_stages(shop, adopted)
    for number, (name, stage) in enumerate(shop.plan.stages.items(), start=1):
        told = {"stage": name, "number": number, "of": len(shop.plan.stages)}
        fingerprint = _fingerprint(shop, stage)
        if _is_finished(shop, name, stage, fingerprint):
            shop.report({"event": "stage_kept", **told})
            continue
        if name in adopted:
            adopt(shop, name, adopted[name], fingerprint)
            shop.report({"event": "stage_adopted", **told})
            continue
        shop.report({"event": "stage", **told})
        _make_one(shop, name, stage, fingerprint)
        shop.report({"event": "stage_finished", **told, **shop.record.stage(name)})


def _make_one(shop: Workshop, name: str, stage: Stage, fingerprint: dict[str, Any]) -> None:
    require_time(shop.until)
    folder = shop.folder(name)
    folder.mkdir(parents=True, exist_ok=True)
    shop.record.note_stage(name, **fingerprint)
    began = time.monotonic()
    try:
        with explained(folder):
            stage.work(shop, folder)
    finally:
        shop.record.spent(name, time.monotonic() - began)
    made = stage.product(shop, folder).sha256()
    shop.record.finish_stage(name, sha256=made, **stage.outcome(folder))


def _fingerprint(shop: Workshop, stage: Stage) -> dict[str, Any]:
    """What the outcome of a stage depends on."""
    used = {name: shop.made(name, kind).sha256() for name, kind in stage.uses().items()}
    return {
        "kind": type(stage).__name__,
        "settings": _plain(stage.settings()),
        "inputs": {**stage.inputs(shop), **used},
    }


def _plain(value: Any) -> Any:
    """A value as JSON gives it back."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _is_finished(shop: Workshop, name: str, stage: Stage, fingerprint: dict[str, Any]) -> bool:
    """Whether an earlier call has finished this very stage.

    Raises:
        UsageError: It began or finished with other settings or inputs.
    """
    known = shop.record.stage(name)
    for part in ("kind", "settings", "inputs"):
        if known and known.get(part) != fingerprint[part]:
            raise UsageError(
                f"{shop.folder(name)} was made with {part} {_first_difference(known, fingerprint, part)}",
                f"remove that folder and the entry {name!r} of {shop.record.path}, or give another --runs",
            )
    if "finished" not in known:
        return False
    return stage.product(shop, shop.folder(name)).sha256() == known.get("sha256")


def _first_difference(known: dict[str, Any], wanted: dict[str, Any], part: str) -> str:
    left, right = known.get(part), wanted[part]
    if not isinstance(left, dict):
        return f"{left!r}, now it is {right!r}"
    key = next(key for key in sorted({*left, *right}) if left.get(key) != right.get(key))
    return f"{key} = {left.get(key)!r}, now it is {right.get(key)!r}"


def _model(shop: Workshop, name: str, planned: PlannedModel, folder: Path) -> Path:
    """A model folder at the end of a plan; not made again while its network is the same."""
    made = shop.made(planned.network, NetworkMade)
    known = shop.record.to_json()["models"].get(name, {})
    same = known.get("network") == made.sha256() and known.get("plan_sha256") == shop.plan.sha256
    if same and (folder / MANIFEST).is_file() and manifest_hash(folder) == known.get("sha256"):
        shop.report({"event": "model_kept", "model": str(folder)})
        return folder
    require_time(shop.until)
    config = ship(made, folder, card_of(shop, planned), weights=planned.weights)
    shop.record.note_model(
        name, network=made.sha256(), plan_sha256=shop.plan.sha256, sha256=manifest_hash(folder),
        scores=config.scores,
    )  # fmt: skip
    shop.report({"event": "model", "model": str(folder), "scores": config.scores})
    return folder


def card_of(shop: Workshop, planned: PlannedModel) -> dict[str, Any]:
    """What the card says of the origin: the plan's own lines, starting encoders, data, each stage with its hash."""
    card: dict[str, Any] = dict(planned.card)
    for name, encoder in shop.plan.encoders.items():
        card[f"encoder {name}"] = f"{encoder.origin}, model.safetensors sha256 {encoder.sha256}"
    card["dev data"] = f"{shop.plan.dev}, sha256 {sha256(shop.file(shop.plan.dev), Part.DEV)}"
    for name, stage in shop.plan.stages.items():
        known = shop.record.stage(name)
        card[f"stage {name}"] = f"{told(stage, known)}; sha256 {known['sha256'][:12]}"
    return {**card, "plan": f"{shop.plan.name}, sha256 {shop.plan.sha256[:12]}"}


def told(stage: Stage, known: dict[str, Any]) -> str:
    """One line on a stage: its kind, settings and files."""
    settings = ", ".join(f"{key} {_words(value)}" for key, value in stage.settings().items())
    files = [f"{name} {value[:12]}" for name, value in known["inputs"].items() if "/" in name]
    kind = known["kind"]
    return f"{kind}: {settings}" + (f"; files {', '.join(files)}" if files else "")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={each}" for key, each in value.items())
    return " + ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
