"""From the word after ``--model`` to a model folder."""

from __future__ import annotations

from pathlib import Path

from sciextract.errors import ModelNotFoundError, UsageError, as_command
from sciextract.inference.folder import MANIFEST
from sciextract.inference.registered import bundled_folders, folders_called, known_words, unchanged

DEFAULT_MODEL = "sci"
BIOMEDICAL_MODEL = "bio"
AUTO = "auto"
"""No model, but the word for choosing one of the two above by the words of a text."""
_WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json")


def locate_model(name: str | Path) -> Path:
    """The model folder that a name means: a folder, a bundled or registered model, or one of the hub.

    Args:
        name: A path, a bundled name, ``NAME`` or ``NAME-hash8`` of a registered model, or a Hugging Face id
            (``owner/model``). A bundled name, given as a word, always means the model in the package, else a
            path wins: ``./sci`` is a folder, ``sci`` is not.

    Raises:
        ModelNotFoundError: Nothing of that name can be had; says what there is.
        ModelDamagedError: A registered model is not the one that it was.
        UsageError: Several registered models have the name, or it is an encoder without trained heads;
            says what to do.
    """
    if isinstance(name, str) and name in bundled_names():
        return _called(name)
    path = Path(name).expanduser()
    if path.is_dir():
        return _with_heads(path, str(name))
    if path.is_file():
        raise UsageError(f"{path} is a file", "give the model folder that holds manifest.json")
    if "/" not in str(name) and "\\" not in str(name):
        return _called(str(name))
    if str(name).count("/") == 1 and not str(name).startswith((".", "/", "~")):
        return _with_heads(_from_hub(str(name)), str(name))
    raise ModelNotFoundError(f"no model folder at {name}", _known())


def bundled_names() -> list[str]:
    """Names of the models in the package."""
    return [path.name for path in bundled_folders()]


def _called(name: str) -> Path:
    if name == AUTO:
        raise UsageError(
            f"{AUTO!r} is no model: it lets the words of a text choose",
            f"it serves annotate, evaluate and tui; here name a model: {', '.join(known_words())}",
        )
    found = folders_called(name)
    if not found:
        raise ModelNotFoundError(f"no model is called {name!r}", _known())
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise UsageError(f"{len(found)} models are called {name!r}", f"say which: {names}")
    return unchanged(found[0])


def _known() -> str:
    return f"known models: {', '.join(known_words()) or 'none'}; or give a model folder"


def _with_heads(folder: Path, name: str) -> Path:
    """Refuses a bare encoder, with the command that makes a model of it."""
    encoder = (folder / "config.json").is_file() and any(
        (folder / file).is_file() for file in _WEIGHT_FILES
    )
    if (folder / MANIFEST).is_file():
        return folder
    if encoder:
        raise UsageError(
            f"{name} is an encoder without trained heads; it cannot annotate yet",
            "train it first: "
            + as_command(
                "sciextract",
                "retrain",
                "--encoder",
                name,
                "--data",
                "train.jsonl",
                "--dev",
                "dev.jsonl",
            ),
        )
    raise ModelNotFoundError(f"{name} is no model folder: it has no {MANIFEST}", _known())


def _from_hub(hub_id: str) -> Path:
    """Downloads a repository without pickled weights, or finds it in the cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        patterns = ["*.json", "*.onnx", "*.toml", "README.md", "model.safetensors"]
        return Path(snapshot_download(hub_id, allow_patterns=patterns))
    except LocalEntryNotFoundError as error:
        raise _unreachable(hub_id, "the network cannot be reached and nothing is cached") from error
    except HfHubHTTPError as error:
        raise _unreachable(hub_id, f"the hub answers: {error}") from error
    except (OSError, ValueError) as error:
        raise _unreachable(hub_id, str(error)) from error


def _unreachable(hub_id: str, reason: str) -> ModelNotFoundError:
    return ModelNotFoundError(
        f"{hub_id} cannot be fetched: {reason}",
        f"without a network use a bundled model ({', '.join(bundled_names()) or 'none'}) "
        "or the folder of a model you already have",
    )
