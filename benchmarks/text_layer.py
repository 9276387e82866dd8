"""Compares the text layer with other tokenisers and sentence splitters and prints Markdown tables.

Usage: ``python benchmarks/text_layer.py [--data DIR]``. Without ``--data`` only the hand-marked abstracts of
the repository are used; with it, ``DIR/scierc/{train,dev}.jsonl`` as well. The rules were tuned on train only.
Libraries that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sciextract.text.analyse import analyse
from sciextract.text.tokenizer import unescape
from tests.unit.text.marked import read_marked

Range = tuple[int, int]
ROUNDS = 3


@dataclass(frozen=True)
class Gold:
    text: str
    tokens: tuple[Range, ...]
    sentences: tuple[Range, ...]
    entities: tuple[Range, ...] = ()


@dataclass(frozen=True)
class Output:
    """What a library finds in one text: token ranges and sentence starts, ``None`` if it does not look."""

    tokens: Sequence[Range] | None = None
    starts: Sequence[int] | None = None


Method = Callable[[str], Output]


def tricky_gold() -> list[Gold]:
    return [Gold(item.text, item.tokens, item.sentences) for item in read_marked()]


def scierc_gold(path: Path) -> list[Gold]:
    with path.open(encoding="utf-8") as lines:
        return [_from_scierc(json.loads(line)) for line in lines]


def _from_scierc(record: dict[str, Any]) -> Gold:
    text = ""
    tokens: list[Range] = []
    sentences: list[Range] = []
    for sentence in record["sentences"]:
        text += " " if text else ""
        first = len(tokens)
        for glue, form in zip(glues(sentence), map(unescape, sentence), strict=True):
            text += glue
            tokens.append((len(text), len(text) + len(form)))
            text += form
        sentences.append((tokens[first][0], tokens[-1][1]))
    mentions = [mention for of_sentence in record["ner"] for mention in of_sentence]
    entities = tuple((tokens[start][0], tokens[end][1]) for start, end, _ in mentions)
    return Gold(text, tuple(tokens), tuple(sentences), entities)


_GLUED_BEHIND = {*",.;:?!%'", "-RRB-", "-RSB-", "-RCB-", "n't"}
_GLUED_BEHIND |= {"'s", "'re", "'ve", "'ll", "'d", "'m"}
_GLUED_IN_FRONT = {"-LRB-", "-LSB-", "-LCB-", "`", "~", "$"}


def glues(tokens: Sequence[str]) -> list[str]:
    """What stood in front of each token of a sentence: a space or nothing (a small PTB detokeniser)."""
    result: list[str] = []
    previous, open_double = "", False
    glue_next = True
    for token in tokens:
        glue, glue_after = glue_next, False
        if token in ("``", "''"):
            glue, glue_after = glue or open_double, not open_double
            open_double = not open_double
        elif token in _GLUED_BEHIND:
            glue = True
        elif token in _GLUED_IN_FRONT:
            glue_after = True
        elif token == "-" and previous == "-RRB-":
            glue = glue_after = True
        result.append("" if glue else " ")
        glue_next, previous = glue_after, token
    return result


def sciextract_method() -> Method:
    def run(text: str) -> Output:
        table = analyse(text)
        starts = [table.spans[sentence.token_start].char_start for sentence in table.sentences]
        return Output([(span.char_start, span.char_end) for span in table.spans], starts)

    return run


def spacy_default() -> Method:
    import spacy

    nlp = spacy.blank("en")
    return lambda text: Output(_spacy_tokens(nlp.make_doc(text)))


def spacy_without_infixes() -> Method:
    import spacy
    from spacy.util import compile_infix_regex

    nlp: Any = spacy.blank("en")
    infixes = [r"\.\.+", r"…", r"(?<=[0-9])[+*^](?=[0-9-])", r"--+|—", r"(?<=[a-z]),(?=[A-Za-z])"]
    nlp.tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    return lambda text: Output(_spacy_tokens(nlp.make_doc(text)))


def spacy_sentencizer() -> Method:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")

    def run(text: str) -> Output:
        doc = nlp(text)
        return Output(_spacy_tokens(doc), [sentence.start_char for sentence in doc.sents])

    return run


def _spacy_tokens(doc: Any) -> list[Range]:
    return [(token.idx, token.idx + len(token)) for token in doc if not token.is_space]


def pysbd_method() -> Method:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        pysbd: Any = import_module("pysbd")
    splitter = pysbd.Segmenter(language="en", clean=False, char_span=True)
    return lambda text: Output(starts=[span.start for span in splitter.segment(text)])


def syntok_method() -> Method:
    segmenter: Any = import_module("syntok.segmenter")

    def run(text: str) -> Output:
        sentences = [sentence for paragraph in segmenter.analyze(text) for sentence in paragraph]
        tokens = [token for sentence in sentences for token in sentence]
        ranges = [(token.offset, token.offset + len(token.value)) for token in tokens]
        return Output(ranges, [sentence[0].offset for sentence in sentences])

    return run


def bert_pre_tokenizer() -> Method:
    from tokenizers.pre_tokenizers import BertPreTokenizer

    splitter = BertPreTokenizer()
    return lambda text: Output([offsets for _, offsets in splitter.pre_tokenize_str(text)])


METHODS: dict[str, Callable[[], Method]] = {
    "**sciextract**": sciextract_method,
    "spaCy blank, default": spacy_default,
    "spaCy, no hyphen/slash infixes": spacy_without_infixes,
    "spaCy blank + sentencizer": spacy_sentencizer,
    "pysbd": pysbd_method,
    "syntok": syntok_method,
    "BertPreTokenizer": bert_pre_tokenizer,
}


def available() -> dict[str, Method]:
    methods: dict[str, Method] = {}
    for name, build in METHODS.items():
        try:
            methods[name] = build()
        except ImportError as error:
            print(f"{name}: absent ({error})")
    return methods


def table(golds: Sequence[Gold], methods: dict[str, Method]) -> list[str]:
    own = milliseconds(next(iter(methods.values())), golds)
    lines = [
        "| method | token F1 | sentence F1 (missed, false) | sentences identical "
        + "| entity boundaries kept | ms/abstract (ratio) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, method in methods.items():
        outputs = [method(gold.text) for gold in golds]
        elapsed = milliseconds(method, golds)
        cells = [*figures(golds, outputs), f"{elapsed:.2f} ({elapsed / own:.1f}x)"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def figures(golds: Sequence[Gold], outputs: Sequence[Output]) -> list[str]:
    pairs = list(zip(golds, outputs, strict=True))
    tokens = [(set(gold.tokens), set(out.tokens)) for gold, out in pairs if out.tokens is not None]
    starts = [
        (inner_starts(gold, [start for start, _ in gold.sentences]), inner_starts(gold, out.starts))
        for gold, out in pairs
        if out.starts is not None
    ]
    return [
        f"{f1(tokens):.2f}" if tokens else "–",
        f"{f1(starts):.2f} ({missed(starts)}, {missed((b, a) for a, b in starts)})"
        if starts
        else "–",
        percentage([same for gold, out in pairs for same in identical(gold, out)]),
        percentage([kept for gold, out in pairs for kept in boundaries_kept(gold, out)]),
    ]


def inner_starts(gold: Gold, starts: Iterable[int]) -> set[int]:
    """Sentence starts moved to the gold token they stand before, without that of the first sentence."""
    token_starts = [start for start, _ in gold.tokens]
    indices = {bisect_left(token_starts, start) for start in starts}
    return indices - {0, len(token_starts)}


def f1(pairs: Iterable[tuple[set[Any], set[Any]]]) -> float:
    pairs = list(pairs)
    common = sum(len(gold & found) for gold, found in pairs)
    return 200 * common / max(1, sum(len(gold) + len(found) for gold, found in pairs))


def missed(pairs: Iterable[tuple[set[int], set[int]]]) -> int:
    return sum(len(gold - found) for gold, found in pairs)


def identical(gold: Gold, out: Output) -> list[bool]:
    """Per gold sentence, whether its tokens are exactly the ones found inside it."""
    if out.tokens is None:
        return []
    found = sorted(out.tokens)
    return [
        [token for token in gold.tokens if start <= token[0] < end]
        == [token for token in found if start <= token[0] < end]
        for start, end in gold.sentences
    ]


def boundaries_kept(gold: Gold, out: Output) -> list[bool]:
    if out.tokens is None:
        return []
    starts, ends = {start for start, _ in out.tokens}, {end for _, end in out.tokens}
    return [start in starts and end in ends for start, end in gold.entities]


def percentage(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.2f} %" if values else "–"


def milliseconds(method: Method, golds: Sequence[Gold]) -> float:
    """The best of some rounds over all texts, per abstract."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for gold in golds:
            method(gold.text)
        best = min(best, time.perf_counter() - begin)
    return 1000 * best / len(golds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, help="folder that holds scierc/train.jsonl and dev.jsonl"
    )
    data = parser.parse_args().data
    methods = available()
    sets = {"30 tricky abstracts": tricky_gold()}
    if data is not None:
        train, dev = (scierc_gold(data / "scierc" / f"{name}.jsonl") for name in ("train", "dev"))
        sets |= {"SciERC train+dev": train + dev, "SciERC dev only": dev}
    print(f"Measured {datetime.date.today().isoformat()}.")
    for name, golds in sets.items():
        sizes = f"{len(golds)} abstracts, {sum(len(gold.tokens) for gold in golds):,} tokens"
        print(f"\n### {name} ({sizes})\n", *table(golds, methods), sep="\n")


if __name__ == "__main__":
    main()
