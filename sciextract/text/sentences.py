"""Sentences of scientific abstracts by rule, on tokens.

A token that ends in a terminator proposes an end; what is written behind it (closing quotes, superscript
citations) is taken along, and the next token decides. Abbreviations and first words are data.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sciextract.documents.spans import Span, TokenRange
from sciextract.text.characters import SUPERSCRIPT
from sciextract.text.tokenizer import AbbreviationRule, first_words, rule_of_abbreviation

_LINE_END = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_FIRST_WORD = re.compile(r"\s*(\S+)")
# β-Catenin, n-gram, mRNA, p53: terms that keep their small first letter at the start of a sentence.
_LOWER_TERM = re.compile(r"[a-z]-[A-Za-z]|[α-ω]|[a-z]+[A-Z0-9]|[a-z]{1,3}-[A-Z0-9]")
_TERMINATOR = re.compile(r"[.!。]['\"”’)\]]{0,9}\s{0,99}$")
_TITLE_CHARACTERS = 400


def breaks_of(text: str) -> tuple[int, ...]:
    """The code-point offsets of the line ends at which a sentence ends, ascending.

    An empty line always separates. A single line end separates where the next line opens like a
    sentence and the line was not filled up, that is, the next word would still have fitted into the
    longest line of the text. A single line end in the whole text is never taken for wrapping.
    """
    lines = _lines_of(text)
    is_wrapped = sum(1 for line in lines if line.of(text).strip()) > 2
    width = max(len(line.of(text).rstrip()) for line in lines) if is_wrapped else None
    is_lower_case = text == text.lower()
    return tuple(
        line.char_end
        for line, following in pairwise(lines)
        if line.of(text).strip() and _separates(text, line, following, width, is_lower_case)
    )


def title_end_of(text: str, breaks: tuple[int, ...]) -> int:
    """Where the first line ends if it looks like a title (not long, no full stop at its end), else 0."""
    if not breaks or breaks[0] > _TITLE_CHARACTERS or _TERMINATOR.search(text[: breaks[0]]):
        return 0
    return breaks[0]


def _lines_of(text: str) -> list[Span]:
    lines, start = [], 0
    for match in _LINE_END.finditer(text):
        lines.append(Span(start, match.start()))
        start = match.end()
    lines.append(Span(start, len(text)))
    return lines


def opens_sentence(word: str, is_lower_case: bool) -> bool:
    """Whether a word that comes after a full stop or a line end can open a sentence.

    Args:
        word: The word, or at least its beginning.
        is_lower_case: Whether the whole text is lower case, so that capitals tell nothing.
    """
    first = word[0]
    has_case = first.lower() != first.upper()
    if first.isdigit() or (first.isalpha() and (is_lower_case or not has_case)):
        return True
    return first.isupper() or bool(_LOWER_TERM.match(word))


def _separates(
    text: str, line: Span, following: Span, width: int | None, is_lower_case: bool
) -> bool:
    opening = _FIRST_WORD.match(following.of(text))
    if opening is None:
        return True
    word = opening.group(1)
    is_full = width is not None and len(line.of(text).rstrip()) + 1 + len(word) > width
    return not is_full and (not word[0].isalnum() or opens_sentence(word, is_lower_case))


_TERMINATORS = frozenset(".!?…。！？")
_CLOSERS = "\"'”’»)\\]}"
_TAIL = re.compile(
    rf"""
    [{_CLOSERS}]*+
    (?:(?<=[.{_CLOSERS}]) (?:[0-9]{{1,3}}(?:[,–-][0-9]{{1,3}}){{0,20}}(?=\s) | [{SUPERSCRIPT}]++(?>(?:[,⁻–-][{SUPERSCRIPT}]++)*)))?
    (?:\s\([A-Za-z]{{1,3}}\s?[<=>≤≥≈][^()]{{1,60}}\))?             # "... was safe. (P < 0.05) We"
    (?:\s["”](?=\s|\Z))?                                      # " FAR therapy. " In
    (?:\s?(?>(?:\[[0-9][0-9,;\s–-]{{0,60}}\])+)(?=\s+[^\W\d_a-z]|\s*\Z))?        # "... shown. [12] We"
    """,
    re.VERBOSE,
)
_PARENTHESIS = re.compile(r"(?<![.!?]\s)\((?>(?:[^()]|\([^()]{0,200}\)){0,600})\)")
_LABEL = re.compile(
    r"\b(?:[A-Z]{2,20}(?:['’]S|['’])? ){0,6}"
    r"(?:AIMS?|BACKGROUND|CONCLUSIONS?|CONTEXT|DESIGN|DISCUSSION|FINDINGS|INTERPRETATION|INTRODUCTION|METHODS?"
    r"|METHODOLOGY|MOTIVATION|OBJECTIVES?|PATIENTS|PURPOSE|RATIONALE|RESULTS?|SETTING|SIGNIFICANCE|SUMMARY):"
)
_WORD_OR_LABEL = re.compile(r"([^\W\d_]+)(:?)")
_OPENERS = frozenset("([{⟨\"'“‘«`•◦▪‣-–—*·") | {"``", "''", "--"}
_MOST_OPENERS = 4
_ORDINAL = re.compile(r"[0-9]{1,2}|[IVX]{1,4}")


def split_sentences(
    text: str, tokens: Sequence[Span], extra_abbreviations: Iterable[str] = ()
) -> tuple[TokenRange, ...]:
    """Groups tokens into sentences.

    Args:
        text: The text that the tokens are ranges of.
        tokens: All tokens, ascending.
        extra_abbreviations: Words that never end a sentence, with or without their full stop; a
            user's additions to the shipped list. Case does not matter.

    Returns:
        Token ranges that cover all tokens without gaps; none for a text without tokens.
    """
    if not tokens:
        return ()
    extra = frozenset(word.lower().rstrip(".") for word in extra_abbreviations)
    starts = sorted(_Splitter(text, tokens, extra).starts())
    return tuple(
        TokenRange(start, end)
        for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True)
    )


class _Splitter:
    """The rules, with what they need to know of one text."""

    def __init__(self, text: str, tokens: Sequence[Span], extra: frozenset[str]) -> None:
        self.text = text
        self.tokens = tokens
        self.extra = extra
        self.is_lower_case = text == text.lower()
        self.parentheses = [match.span() for match in _PARENTHESIS.finditer(text)]

    def starts(self) -> set[int]:
        """The indices of the tokens that open a sentence."""
        breaks = breaks_of(self.text)
        title_end = title_end_of(self.text, breaks)
        found = {*self._after_terminators(), *self._after_breaks(breaks), *self._labels()}
        return {0, *(start for start in found if self._start_of(start) >= title_end)}

    def _after_terminators(self) -> Iterator[int]:
        text, current, covered = self.text, 0, 0
        for index, token in enumerate(self.tokens):
            if text[token.char_end - 1] not in _TERMINATORS or index < covered:
                continue
            following = covered = self._after_closing_marks(index)
            if following < len(self.tokens) and self._ends(index, following, current):
                current = following
                yield following

    def _after_closing_marks(self, index: int) -> int:
        """The first token after a terminator's closing marks and citations."""
        end = self.tokens[index].char_end
        tail = _TAIL.match(self.text, end)
        end = tail.end() if tail else end
        return max(index + 1, bisect_left(self.tokens, end, lo=index, key=_char_start))

    def _ends(self, index: int, following: int, current: int) -> bool:
        """Whether the sentence that starts at ``current`` ends before ``following``."""
        if self._in_parentheses(index, following):
            return False
        if self._start_of(following) == self.tokens[following - 1].char_end:
            return self._ends_without_space(index, following)
        token = self._string(index)
        if len(token) == 1 and token == ".":
            return self._ends_at_period(index, following, current)
        if token[-1] == "." and token[0] != ".":
            return self._ends_at_abbreviation(token[:-1], following)
        return self._opens_sentence(following)

    def _ends_at_period(self, index: int, following: int, current: int) -> bool:
        before = self._string(index - 1) if index else ""
        if before.lower() in self.extra:
            return False
        if index - 1 == current and _ORDINAL.fullmatch(before):
            return False  # "1. Introduction" numbers a sentence
        return self._opens_sentence(following)

    def _ends_at_abbreviation(self, word: str, following: int) -> bool:
        rule = _abbreviation_rule(word, self.extra)
        next_word = self._string(following)
        if rule is AbbreviationRule.NEVER or (next_word[0].islower() and not self.is_lower_case):
            return False
        is_capitalised = next_word[0].isupper() and not next_word[1:].isupper()
        is_first_word = next_word.lower() in first_words()
        return is_first_word or (rule is AbbreviationRule.BEFORE_CAPITAL and is_capitalised)

    def _ends_without_space(self, index: int, following: int) -> bool:
        """``increased.We``: only a well-known word or a label shows that the space is missing."""
        match = _WORD_OR_LABEL.match(self.text, self._start_of(following))
        if match is None or self._string(index) not in (".", "?", "!") or index == 0:
            return False
        word, colon = match.groups()
        is_label = word.isupper() and len(word) > 3 and colon == ":"
        return is_label or (word[0].isupper() and word.lower() in first_words())

    def _opens_sentence(self, index: int) -> bool:
        """Whether a sentence can begin with this token."""
        for _ in range(_MOST_OPENERS):
            word = self._string(index)
            if word not in _OPENERS or index + 1 == len(self.tokens):
                break
            index += 1
        return opens_sentence(word, self.is_lower_case)

    def _in_parentheses(self, index: int, following: int) -> bool:
        """Whether both tokens lie inside one pair of parentheses that opened within a sentence."""
        start, end = self.tokens[index].char_start, self._start_of(following)
        nearest = bisect_right(self.parentheses, (start, len(self.text))) - 1
        return nearest >= 0 and end < self.parentheses[nearest][1]

    def _after_breaks(self, breaks: Iterable[int]) -> Iterator[int]:
        for offset in breaks:
            following = bisect_left(self.tokens, offset, key=_char_start)
            if following < len(self.tokens):
                yield following

    def _labels(self) -> Iterator[int]:
        for match in _LABEL.finditer(self.text):
            index = bisect_left(self.tokens, match.start(), key=_char_start)
            if index < len(self.tokens) and self._start_of(index) == match.start():
                yield index

    def _string(self, index: int) -> str:
        return self.tokens[index].of(self.text)

    def _start_of(self, index: int) -> int:
        return self.tokens[index].char_start


def _abbreviation_rule(word: str, extra: frozenset[str]) -> AbbreviationRule:
    """When the abbreviation (without its last full stop) ends a sentence."""
    lower = word.lower()
    if lower in extra or len(word) == 1:
        return AbbreviationRule.NEVER
    by_rule = (
        AbbreviationRule.BEFORE_CAPITAL if word == lower else AbbreviationRule.BEFORE_FIRST_WORD
    )
    return rule_of_abbreviation(word) or by_rule


def _char_start(span: Span) -> int:
    return span.char_start
