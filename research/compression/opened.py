"""A model with the gold documents that it is measured on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from research.partial_labels.scores import card_of
from sciextract import atomic
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ModelMismatchError, OutputError
from sciextract.formats.inputs import Part
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    CARD,
    CONFIG,
    MANIFEST,
    PAIRS_GRAPH,
    ModelFolder,
    listed_files,
    locate_model,
    open_folder,
    write_manifest,
)
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings
from sciextract_trainer.calibration import Dev
from sciextract_trainer.checkpoint import explaining
from sciextract_trainer.data.gold import read_gold, sha256
from sciextract_trainer.evaluate import GivenPredictor, Serve, dev_scores, serve_pipeline
from sciextract_trainer.network.joint import RememberingNetwork
from sciextract_trainer.warm_start import subword_rules


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """A verified model folder and its dev documents.

    Attributes:
        folder: The model.
        schema: Its label schema.
        dev: Gold documents.
        dev_file: Where they are from.
    """

    folder: ModelFolder
    schema: LabelSchema
    dev: Sequence[AnnotatedDocument]
    dev_file: Path

    @property
    def serve(self) -> Serve:
        """What makes a pipeline with settings to something that annotates documents."""
        return GivenPredictor if self.folder.config.given_entities else serve_pipeline

    @property
    def fitted_on(self) -> Dev:
        """The documents as settings are fitted on them."""
        return Dev(self.dev, given=self.folder.config.given_entities, serve=self.serve)

    @property
    def dev_origin(self) -> str:
        """What a model card says of them."""
        return origin_of_dev(self.dev_file)

    def scores(self, pipeline: Pipeline, settings: DecodeSettings) -> dict[str, float | None]:
        """Dev F1 as a configuration states it."""
        symmetric = self.folder.config.labels.relations.symmetric
        return dev_scores(self.serve(pipeline, settings), self.dev, symmetric).stated()

    def pipeline(self, graph: Path | None = None) -> Pipeline:
        """The model as it predicts, remembering what it said; with another encoder graph if one is given."""
        return self.plain_pipeline(graph, remembering=True)

    def plain_pipeline(self, graph: Path | None = None, remembering: bool = False) -> Pipeline:
        """The model as it predicts."""
        config, pairs = self.folder.config, self.folder.path / PAIRS_GRAPH
        network = OnnxNetwork(graph or self.folder.graph(None), pairs if pairs.is_file() else None)
        rules = subword_rules(self.folder.path, config)
        return Pipeline(
            RememberingNetwork(network) if remembering else network,
            rules.encoder(), config.labels, config.subword_limit,
        )  # fmt: skip


def open_measured(model: str | Path, dev: Path, schema: str | None = None) -> MeasuredModel:
    """A model by name or folder with its dev documents.

    Args:
        model: What ``sciextract annotate --model`` takes.
        dev: Gold documents, or a folder with such a split.
        schema: Name of a label schema or a TOML file; the one that the model names when ``None``.

    Raises:
        ModelNotFoundError: No such model; ``ModelDamagedError`` where it is not whole.
        ModelMismatchError: The schema is not the one that the model was trained with.
        UsageError: The documents have labels that the schema does not know.
    """
    folder = open_folder(locate_model(model))
    found = schema_of(folder, schema)
    return MeasuredModel(folder, found, read_gold(dev, found, Part.DEV), dev)


def origin_of_dev(file: Path) -> str:
    """What a model card says of dev documents."""
    return f"{file.name}, sha256 {sha256(file, Part.DEV)}"


def schema_of(folder: ModelFolder, schema: str | None = None) -> LabelSchema:
    """The label schema that a model was trained with.

    Raises:
        ModelMismatchError: It is another one; says what to give.
    """
    config = folder.config
    found = load_schema(schema or config.schema_name)
    if found.content_hash != config.schema_hash:
        raise ModelMismatchError(
            f"{folder.path} was trained with a schema {config.schema_name!r} of the hash "
            f"{config.schema_hash[:12]}, {schema or config.schema_name} has {found.content_hash[:12]}",
            "give the schema that it was trained with: --schema FILE",
        )
    return found


def require_new(output: Path) -> None:
    """Refuses to write over something.

    Raises:
        OutputError: There is something already.
    """
    if output.is_file() or (output.is_dir() and any(output.iterdir())):
        raise OutputError(
            f"{output} exists already, and nothing is written over it",
            "give another --output, or remove it first",
        )


@contextmanager
def new_folder(output: Path) -> Iterator[Path]:
    """A folder to write into, which takes its place when the block is done; nothing is left of a failed one.

    Raises:
        OutputError: There is something already, or the disk is full.
    """
    require_new(output)
    with explaining(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        with atomic.creating(output) as work:
            work.mkdir()
            yield work


def write_like(
    folder: ModelFolder, work: Path, config: ModelConfig, without: Collection[str]
) -> None:
    """Fills a new folder with the files of another one, a new configuration and card, and the manifest.

    Args:
        folder: The other one.
        work: The new one; what lies there already stays.
        config: What the new one says of itself.
        without: Files that are not taken over.
    """
    left = {CONFIG, CARD, MANIFEST, *without}
    for name in listed_files(folder.path):
        if name not in left and not (work / name).exists():
            shutil.copyfile(folder.path / name, work / name)
    text = json.dumps(config.to_json(), indent=2) + "\n"
    (work / CONFIG).write_text(text, encoding="utf-8")
    (work / CARD).write_text(card_of(config), encoding="utf-8")
    write_manifest(work)
