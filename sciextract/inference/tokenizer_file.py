"""A tokenizer of a file from elsewhere: read only where each of its components is one that encoders use.

``tokenizer.json`` is a program: a chain of ``Replace`` steps can turn one sentence into gigabytes, and a pattern with nested
repetition can take years. Both run in native code, which Ctrl-C does not interrupt, so they are refused beforehand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from sciextract.errors import ModelDamagedError

MOST_BYTES = 100_000_000
MOST_COMPONENTS = 32
MOST_ADDED_TOKENS = 20_000
_LONGEST_PATTERN, _LONGEST_CHARACTER_MAP = 500, 1_000_000
_PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_CHILDREN = ("normalizers", "pretokenizers", "processors", "decoders")
_MODELS = ("WordPiece", "BPE", "Unigram", "WordLevel")
_COMPONENTS = frozenset(
    ("Sequence", "BertNormalizer", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Nmt",
     "Precompiled", "Prepend", "Replace", "BertPreTokenizer", "ByteLevel", "Metaspace", "Whitespace", "WhitespaceSplit",
     "Digits", "Punctuation", "Split", "TemplateProcessing", "BertProcessing", "RobertaProcessing", "WordPiece",
     "BPEDecoder", "ByteFallback", "Fuse")
)  # fmt: skip
# A repeated group is what makes a backtracking pattern exponential; no published tokenizer has one.
_REPEATED_GROUP = re.compile(r"\)[+*{]")


def read_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a ``tokenizer.json``.

    Raises:
        ModelDamagedError: It cannot be read, or has a component that encoders do not use: names it.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _refused(path, f"has more than {MOST_BYTES:,} bytes")
        values = json.loads(path.read_text(encoding="utf-8"))
        _require_known(values, path)
        return Tokenizer.from_file(str(path))
    except ModelDamagedError:
        raise
    # The library raises bare Exceptions, and its PanicException is none; Ctrl-C and exits go on.
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise _refused(path, f"cannot be read: {type(error).__name__}: {error}") from error


def _require_known(values: Any, path: Path) -> None:
    if not isinstance(values, dict) or not isinstance(values.get("model"), dict):
        raise _refused(path, "is not a tokenizer: it has no model")
    kind = values["model"].get("type", "BPE")  # files of old versions do not name it
    if kind not in _MODELS:
        raise _refused(path, f"has a model of type {kind!r}; allowed: {', '.join(_MODELS)}")
    if len(values.get("added_tokens") or ()) > MOST_ADDED_TOKENS:
        raise _refused(path, f"has more than {MOST_ADDED_TOKENS:,} added tokens")
    components = [each for part in _PARTS for each in _components(values.get(part), part)]
    if len(components) > MOST_COMPONENTS:
        raise _refused(
            path, f"has {len(components)} components; at most {MOST_COMPONENTS} are read"
        )
    for part, component in components:
        kind = component.get("type")
        if kind not in _COMPONENTS:
            raise _refused(
                path, f"has {part} of type {kind!r}; allowed: {', '.join(sorted(_COMPONENTS))}"
            )
        if problem := _excess(component):
            raise _refused(path, f"has {part} {kind} {problem}")


def _components(value: Any, part: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All components of a part with their part, those within sequences too."""
    if not isinstance(value, dict):
        return
    yield part, value
    for each in _CHILDREN:
        for child in value.get(each) or ():
            yield from _components(child, part)


def _excess(component: dict[str, Any]) -> str:
    """Why a component may cost more than its share; empty for the usual ones."""
    pattern = component.get("pattern")
    text = next(iter(pattern.values()), "") if isinstance(pattern, dict) else ""
    if len(text) > _LONGEST_PATTERN or _REPEATED_GROUP.search(text):
        return f"with a pattern that may take very long: {text[:60]!r}"
    # A text must not grow by its pattern: of a regular expression one character is certain.
    least = 1 if isinstance(pattern, dict) and "Regex" in pattern else max(1, len(text))
    if component.get("type") == "Replace" and len(str(component.get("content", ""))) > least:
        return "that makes the text longer"
    if len(str(component.get("prepend", ""))) > least:
        return "that makes the text longer"
    if len(str(component.get("precompiled_charsmap", ""))) > _LONGEST_CHARACTER_MAP:
        return f"with a character map of more than {_LONGEST_CHARACTER_MAP:,} bytes"
    return ""


def _refused(path: Path, problem: str) -> ModelDamagedError:
    return ModelDamagedError(f"{path} {problem}", "do not use this file; get the model again")
