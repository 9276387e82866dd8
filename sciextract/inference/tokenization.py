"""Words as subwords: encoder input, sliding windows for long texts, words cut at punctuation, tokenizers of files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from sciextract.documents.annotations import Span, TokenRange
from sciextract.documents.document import Document
from sciextract.errors import ModelDamagedError
from sciextract.text.analyse import split_at

Ints = NDArray[np.int64]

MAX_SUBWORDS_PER_WORD = 48
"""Longer words (URLs, sequences) lose their middle subwords, so that one word never fills a window."""

MOST_KNOWN_WORDS = 30_000
"""Words whose subwords are remembered: nine of ten words of an abstract occurred in the ones before."""

LONGEST_KNOWN_WORD = 40
"""In characters; longer words hardly ever come again."""


@dataclass(frozen=True, slots=True)
class Subwords:
    """Subwords of a document without special tokens.

    Attributes:
        ids: (subwords,) vocabulary ids.
        starts: (words + 1,) index of the first subword of each word, then the number of subwords.
    """

    ids: Ints
    starts: Ints

    @property
    def counts(self) -> Ints:
        """Subwords per word, at least one. Shape: (words,)."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class EncoderInput:
    """One window ready for the encoder.

    Attributes:
        input_ids: (subwords,) with special tokens.
        word_first: (words,) index of each word's first subword in ``input_ids``.
        word_last: (words,) index of its last subword.
    """

    input_ids: Ints
    word_first: Ints
    word_last: Ints


class SubwordTokenizer:
    """Splits words into subwords of a trained vocabulary and frames windows with special tokens.

    Args:
        tokenizer: A trained tokenizer of any family; its truncation and padding are switched off.
        prefix: Special token ids before the text (``[CLS]``).
        suffix: Special token ids after it (``[SEP]``).
        unknown: Id for words the tokenizer maps to nothing (control characters).
        limit: Most subwords of a window; a word keeps at most half as many.

    Each word is split by itself, as if it began a text: its subwords depend on no neighbour, whatever the
    tokenizer's family, so that they can be remembered.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        prefix: Sequence[int],
        suffix: Sequence[int],
        unknown: int,
        limit: int = 2 * MAX_SUBWORDS_PER_WORD,
    ) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._prefix = np.array(prefix, dtype=np.int64)
        self._suffix = np.array(suffix, dtype=np.int64)
        self._unknown = unknown
        self._most = min(MAX_SUBWORDS_PER_WORD, limit // 2)
        self._known: dict[str, tuple[int, ...]] = {}

    def split(self, words: Sequence[str]) -> Subwords:
        """The subwords of each word; every word has at least one."""
        if len(self._known) > MOST_KNOWN_WORDS:
            self._known = {}
        known = self._known  # another thread may start a new table meanwhile
        unknown = [word for word in dict.fromkeys(words) if word not in known]
        new = self._subwords_of(unknown) if unknown else {}
        parts = [known.get(word) or new[word] for word in words]
        known.update({word: p for word, p in new.items() if len(word) <= LONGEST_KNOWN_WORD})
        counts = np.array([len(part) for part in parts], dtype=np.int64)
        ids = np.array(list(chain.from_iterable(parts)), dtype=np.int64)
        return Subwords(ids, np.concatenate([[0], np.cumsum(counts)]))

    def _subwords_of(self, words: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """The subwords of words that differ: the unknown one for none, without a middle where too many."""
        # A lone surrogate cannot be handed over to native code.
        clean = [
            word if word.isprintable() else word.encode("utf-8", "replace").decode("utf-8")
            for word in words
        ]
        encoding = self._tokenizer.encode(clean, is_pretokenized=True, add_special_tokens=False)
        found: list[list[int]] = [[] for _ in words]
        for subword, owner in zip(encoding.ids, encoding.word_ids, strict=True):
            if owner is not None:  # special subwords have no owner
                found[owner].append(subword)
        half = self._most // 2
        for ids in found:
            if len(ids) > self._most:
                ids[half:-half] = []
        return {
            word: tuple(ids) or (self._unknown,) for word, ids in zip(words, found, strict=True)
        }

    def frame(self, subwords: Subwords, word_start: int, word_end: int) -> EncoderInput:
        """The encoder input of the words [word_start, word_end)."""
        starts = subwords.starts[word_start : word_end + 1]
        body = subwords.ids[starts[0] : starts[-1]]
        shifted = starts - starts[0] + len(self._prefix)
        ids = np.concatenate([self._prefix, body, self._suffix])
        return EncoderInput(ids, shifted[:-1], shifted[1:] - 1)


@dataclass(frozen=True, slots=True)
class PaddedInput:
    """Several windows as one encoder call; words are numbered through.

    Attributes:
        input_ids: int64 (windows, subwords), padded with 0.
        attention_mask: int64 (windows, subwords).
        word_first: int64 (words of all windows,), index into the flattened subwords.
        word_last: int64 (words of all windows,).
        offsets: Index of each window's first word, then the number of words.
    """

    input_ids: Ints
    attention_mask: Ints
    word_first: Ints
    word_last: Ints
    offsets: tuple[int, ...]


def pad(windows: Sequence[EncoderInput], pad_id: int = 0) -> PaddedInput:
    """Pads windows to the longest one."""
    length = max(len(window.input_ids) for window in windows)
    ids = np.full((len(windows), length), pad_id, dtype=np.int64)
    mask = np.zeros((len(windows), length), dtype=np.int64)
    offsets = [0]
    for row, window in enumerate(windows):
        ids[row, : len(window.input_ids)] = window.input_ids
        mask[row, : len(window.input_ids)] = 1
        offsets.append(offsets[-1] + len(window.word_first))
    first = np.concatenate([w.word_first + row * length for row, w in enumerate(windows)])
    last = np.concatenate([w.word_last + row * length for row, w in enumerate(windows)])
    return PaddedInput(ids, mask, first, last, tuple(offsets))


CONTEXT_SHARE = 4
"""A window gives up to a quarter of its subwords to context on each side."""


@dataclass(frozen=True, slots=True)
class Window:
    """Words the encoder sees, and the part of them whose predictions are kept."""

    seen: TokenRange
    kept: TokenRange

    @property
    def kept_rows(self) -> slice:
        """The kept words, counted from the first one that the encoder sees."""
        first = self.seen.token_start
        return slice(self.kept.token_start - first, self.kept.token_end - first)


def plan_windows(
    subword_counts: NDArray[np.int64], sentences: tuple[TokenRange, ...], limit: int
) -> list[Window]:
    """Windows whose kept parts cover all words once, cut between sentences where possible.

    Args:
        subword_counts: (words,) subwords of each word, each at most ``limit // 2``.
        sentences: Token ranges that cover all words.
        limit: Most subwords a window may hold, special tokens not counted.
    """
    if int(subword_counts.sum()) <= limit:
        whole = TokenRange(0, len(subword_counts))
        return [Window(whole, whole)] if len(whole) else []
    ends = np.concatenate([[0], np.cumsum(subword_counts)])
    context = limit // CONTEXT_SHARE
    windows = []
    for kept in _cut(ends, sentences, limit - 2 * context):
        left = int(np.searchsorted(ends, ends[kept.token_start] - context, side="left"))
        right = int(np.searchsorted(ends, ends[kept.token_end] + context, side="right")) - 1
        seen = TokenRange(min(left, kept.token_start), max(right, kept.token_end))
        windows.append(Window(seen, kept))
    return windows


def _cut(
    ends: NDArray[np.int64], sentences: tuple[TokenRange, ...], room: int
) -> Iterator[TokenRange]:
    """Runs of whole sentences with at most ``room`` subwords; longer sentences are cut between words."""
    parts = []
    for sentence in sentences:
        start = sentence.token_start
        while ends[sentence.token_end] - ends[start] > room:
            cut = int(np.searchsorted(ends, ends[start] + room, side="right")) - 1
            cut = max(cut, start + 1)
            parts.append(TokenRange(start, cut))
            start = cut
        if start < sentence.token_end:
            parts.append(TokenRange(start, sentence.token_end))
    start = end = 0
    for part in parts:
        if end > start and ends[part.token_end] - ends[start] > room:
            yield TokenRange(start, end)
            start = end
        end = part.token_end
    if end > start:
        yield TokenRange(start, end)


_PART = re.compile(r"[^\W_]+|[\W_]")


def with_cut_words(document: Document) -> Document:
    """The document with tokens of letters and digits, or of one other character; the sentences stay.

    >>> from sciextract.text.analyse import make_document
    >>> document = with_cut_words(make_document("1", "IL-2-induced"))
    >>> document.tokens.slices(document.text)
    ('IL', '-', '2', '-', 'induced')
    """
    parts = [
        Span(found.start(), found.end())
        for token in document.tokens.spans
        for found in _PART.finditer(document.text, token.char_start, token.char_end)
    ]
    if len(parts) == len(document.tokens):
        return document
    return replace(document, tokens=split_at(document.tokens, document.text, parts))


# ``tokenizer.json`` is a program: a chain of ``Replace`` steps can turn one sentence into gigabytes, and a pattern with
# nested repetition can take years. Both run in native code, which Ctrl-C does not interrupt, so they are refused beforehand.
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
    """The tokenizer of a ``tokenizer.json``, read only where each of its components is one that encoders use.

    Raises:
        ModelDamagedError: It cannot be read, or has a component that encoders do not use: names it.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _refused(path, f"has more than {MOST_BYTES:,} bytes")
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict) or not isinstance(values.get("model"), dict):
            raise _refused(path, "is not a tokenizer: it has no model")
        kind = values["model"].get("type", "BPE")  # files of old versions do not name it
        if kind not in _MODELS:
            raise _refused(path, f"has a model of type {kind!r}; allowed: {', '.join(_MODELS)}")
        if len(values.get("added_tokens") or ()) > MOST_ADDED_TOKENS:
            raise _refused(path, f"has more than {MOST_ADDED_TOKENS:,} added tokens")
        components = [pair for part in _PARTS for pair in _components(values.get(part), part)]
        if len(components) > MOST_COMPONENTS:
            problem = f"has {len(components)} components; at most {MOST_COMPONENTS} are read"
            raise _refused(path, problem)
        for part, component in components:
            if problem := _problem_of(component):
                raise _refused(path, f"has {part} {problem}")
        return Tokenizer.from_file(str(path))
    except ModelDamagedError:
        raise
    # The library raises bare Exceptions, and its PanicException is none; Ctrl-C and exits go on.
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise _refused(path, f"cannot be read: {type(error).__name__}: {error}") from error


def _components(value: Any, part: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All components of a part with their part, those within sequences too."""
    if isinstance(value, dict):
        yield part, value
        for key in _CHILDREN:
            for child in value.get(key) or ():
                yield from _components(child, part)


def _problem_of(component: dict[str, Any]) -> str:
    """Why a component is refused: not one of encoders, or it may cost more than its share; empty for the usual ones."""
    kind = component.get("type")
    if kind not in _COMPONENTS:
        return f"of type {kind!r}; allowed: {', '.join(sorted(_COMPONENTS))}"
    pattern = component.get("pattern")
    text = next(iter(pattern.values()), "") if isinstance(pattern, dict) else ""
    if len(text) > _LONGEST_PATTERN or _REPEATED_GROUP.search(text):
        return f"{kind} with a pattern that may take very long: {text[:60]!r}"
    # A text must not grow by its pattern: of a regular expression one character is certain.
    least = 1 if isinstance(pattern, dict) and "Regex" in pattern else max(1, len(text))
    grows = kind == "Replace" and len(str(component.get("content", ""))) > least
    if grows or len(str(component.get("prepend", ""))) > least:
        return f"{kind} that makes the text longer"
    if len(str(component.get("precompiled_charsmap", ""))) > _LONGEST_CHARACTER_MAP:
        return f"{kind} with a character map of more than {_LONGEST_CHARACTER_MAP:,} bytes"
    return ""


def _refused(path: Path, problem: str) -> ModelDamagedError:
    return ModelDamagedError(f"{path} {problem}", "do not use this file; get the model again")
