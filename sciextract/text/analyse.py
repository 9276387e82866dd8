"""Tokens, sentences and documents from text; sentence ends never cut a span that matters.

Sentences of scientific abstracts are found by rule, on tokens. A token that ends in a terminator proposes an end; what
is written behind it (closing quotes, superscript citations) is taken along, and the next token decides. Abbreviations
and first words are data.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from sciextract.documents.annotations import Span, TokenRange
from sciextract.documents.document import Document, TokenTable
from sciextract.text.characters import SUPERSCRIPT
from sciextract.text.tokenizer import AbbreviationRule, first_words, rule_of_abbreviation, tokenize


def analyse(
    text: str,
    protected: Iterable[Span] = (),
    *,
    title_length: int = 0,
) -> TokenTable:
    """Tokens and sentences of a text.

    Args:
        text: Any Unicode text.
        protected: Spans that no sentence end may cut; sentences that do are merged.
        title_length: How many characters at the start are a known title, which then is one sentence
            whatever it looks like. Without it the layout decides.
    """
    spans = tokenize(text)
    sentences = split_sentences(text, spans)
    if title_tokens := bisect_left(spans, title_length, key=lambda span: span.char_start):
        behind = [
            TokenRange(max(sentence.token_start, title_tokens), sentence.token_end)
            for sentence in sentences
            if sentence.token_end > title_tokens
        ]
        sentences = (TokenRange(0, title_tokens), *behind)
    return _merge_sentences(TokenTable(spans, sentences), protected)


def make_document(
    doc_key: str,
    text: str,
    fields: Mapping[str, Any] | None = None,
    *,
    title_length: int = 0,
) -> Document:
    """A document with tokens and sentences derived from its text (see :func:`analyse`).

    Examples:
        >>> document = make_document("a", "We parse graphs. It works.", {"year": 2024})
        >>> len(document.tokens.spans), len(document.tokens.sentences)
        (7, 2)

    Args:
        doc_key: Its name in results and exports.
        text: The text, kept exactly.
        fields: Metadata such as ``title``, ``year`` or ``doi``.
        title_length: Characters of the title at the start of the text, which is then a sentence; 0 without one.
    """
    return Document(doc_key, text, analyse(text, title_length=title_length), fields or {})


def join_title(title: str, abstract: str) -> str:
    """Title and abstract as one text, a line end between them; either may be empty.

    Pass ``title_length=len(title)`` to :func:`analyse` so that the title is a sentence of its own
    whatever it looks like.

    Examples:
        >>> join_title("Graph parsing", "We parse graphs.")
        'Graph parsing\\nWe parse graphs.'
    """
    return f"{title}\n{abstract}" if title and abstract else title or abstract


def split_at(table: TokenTable, text: str, spans: Iterable[Span]) -> TokenTable:
    """The table with its tokens cut at the edges of spans, so that each span is made of whole tokens.

    Sentences that cut a span are merged. Given forms are kept for the tokens that stay whole; pieces
    get their characters of the text.
    """
    wanted = list(spans)
    cuts = sorted({edge for span in wanted for edge in (span.char_start, span.char_end)})
    pieces: list[list[Span]] = []
    firsts = [0]
    for token in table.spans:
        # The edges that lie within the token; most tokens have none.
        first, last = bisect_right(cuts, token.char_start), bisect_left(cuts, token.char_end)
        edges = [token.char_start, *cuts[first:last], token.char_end]
        pieces.append([Span(start, end) for start, end in pairwise(edges)])
        firsts.append(firsts[-1] + len(pieces[-1]))
    sentences = tuple(
        TokenRange(firsts[sentence.token_start], firsts[sentence.token_end])
        for sentence in table.sentences
    )
    forms: list[str] = []
    for form, parts in zip(table.forms or (), pieces, strict=False):
        forms.extend([form] if len(parts) == 1 else [part.of(text) for part in parts])
    flat = tuple(part for parts in pieces for part in parts)
    kept = None if table.forms is None else tuple(forms)
    return _merge_sentences(TokenTable(flat, sentences, kept), wanted)


def _merge_sentences(table: TokenTable, protected: Iterable[Span]) -> TokenTable:
    """The table with those sentences merged that share a protected span."""
    joined: set[int] = set()
    for span in protected:
        tokens = table.covering(span)
        if tokens is not None:
            first, last = tokens.token_start, tokens.token_end - 1
            joined.update(range(table.sentence_of(first) + 1, table.sentence_of(last) + 1))
    if not joined:
        return table
    starts = [s.token_start for index, s in enumerate(table.sentences) if index not in joined]
    edges = pairwise([*starts, len(table.spans)])
    sentences = tuple(TokenRange(start, end) for start, end in edges)
    return TokenTable(table.spans, sentences, table.forms)


_LINE_END = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_FIRST_WORD = re.compile(r"\s*(\S+)")
# β-Catenin, n-gram, mRNA, p53: terms that keep their small first letter at the start of a sentence.
_LOWER_TERM = re.compile(r"[a-z]-[A-Za-z]|[α-ωµ]|[a-z]+[A-Z0-9]|[a-z]{1,3}-[A-Z0-9]")
_TERMINATOR = re.compile(r"[.!。]['\"”’)\]]{0,9}\s{0,99}$")
_TITLE_CHARACTERS = 400


def breaks_of(text: str) -> tuple[int, ...]:
    """The code-point offsets of the line ends at which a sentence ends, ascending.

    An empty line always separates. A single line end separates where the next line opens like a
    sentence and the line was not filled up, that is, the next word would still have fitted into the
    longest line of the text. A single line end in the whole text is never taken for wrapping.
    """
    ends = [*_LINE_END.finditer(text)]
    starts = [0, *(match.end() for match in ends)]
    stops = [*(match.start() for match in ends), len(text)]
    lines = [Span(start, stop) for start, stop in zip(starts, stops, strict=True)]
    is_wrapped = sum(1 for line in lines if line.of(text).strip()) > 2
    width = max(len(line.of(text).rstrip()) for line in lines) if is_wrapped else math.inf
    is_lower_case = text == text.lower()
    breaks = []
    for line, following in pairwise(lines):
        shown = line.of(text).rstrip()
        if not shown.strip():
            continue
        opening = _FIRST_WORD.match(following.of(text))
        word = opening.group(1) if opening else ""
        # A line that had room for the next word was ended on purpose, not wrapped.
        is_full = len(shown) + 1 + len(word) > width
        opens = not word or not word[0].isalnum() or opens_sentence(word, is_lower_case)
        if not word or (opens and not is_full):
            breaks.append(line.char_end)
    return tuple(breaks)


def title_end_of(text: str, breaks: tuple[int, ...]) -> int:
    """Where the first line ends if it looks like a title (not long, no full stop at its end), else 0."""
    if not breaks or breaks[0] > _TITLE_CHARACTERS or _TERMINATOR.search(text[: breaks[0]]):
        return 0
    return breaks[0]


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
_OPENERS = frozenset("([{⟨\"'“‘«`•◦▪‣-–—*·©~∼≈<>≤≥±∆") | {"``", "''", "--"}
_MOST_OPENERS = 4
_ORDINAL = re.compile(r"[0-9]{1,2}|[IVX]{1,4}")


def split_sentences(text: str, tokens: Sequence[Span]) -> tuple[TokenRange, ...]:
    """Groups tokens into sentences.

    Args:
        text: The text that the tokens are ranges of.
        tokens: All tokens, ascending.

    Returns:
        Token ranges that cover all tokens without gaps; none for a text without tokens.
    """
    if not tokens:
        return ()
    edges = pairwise([*sorted(_Splitter(text, tokens).starts()), len(tokens)])
    return tuple(TokenRange(start, end) for start, end in edges)


class _Splitter:
    """The rules, with what they need to know of one text."""

    def __init__(self, text: str, tokens: Sequence[Span]) -> None:
        self.text = text
        self.tokens = tokens
        self.is_lower_case = text == text.lower()
        self.parentheses = [match.span() for match in _PARENTHESIS.finditer(text)]

    def starts(self) -> set[int]:
        """The indices of the tokens that open a sentence."""
        text, tokens = self.text, self.tokens
        breaks = breaks_of(text)
        found = {
            following
            for offset in breaks
            if (following := bisect_left(tokens, offset, key=_char_start)) < len(tokens)
        }
        for match in _LABEL.finditer(text):
            index = bisect_left(tokens, match.start(), key=_char_start)
            if index < len(tokens) and self._start_of(index) == match.start():
                found.add(index)
        current = covered = 0
        for index, token in enumerate(tokens):
            if text[token.char_end - 1] not in _TERMINATORS or index < covered:
                continue
            # Closing marks and citations behind a terminator belong to the sentence that it ends.
            tail = _TAIL.match(text, token.char_end)
            end = tail.end() if tail else token.char_end
            following = max(index + 1, bisect_left(tokens, end, lo=index, key=_char_start))
            covered = following
            if following < len(tokens) and self._ends(index, following, current):
                current = following
                found.add(following)
        title_end = title_end_of(text, breaks)
        return {0, *(start for start in found if self._start_of(start) >= title_end)}

    def _ends(self, index: int, following: int, current: int) -> bool:
        """Whether the sentence that starts at ``current`` ends before ``following``."""
        start, end = self.tokens[index].char_start, self._start_of(following)
        nearest = bisect_right(self.parentheses, (start, len(self.text))) - 1
        if nearest >= 0 and end < self.parentheses[nearest][1]:
            return False  # both lie inside one pair of parentheses that opened within a sentence
        if end == self.tokens[following - 1].char_end:
            return self._ends_without_space(index, following)
        token = self._string(index)
        if token == ".":
            before = self._string(index - 1) if index else ""
            # "1. Introduction" numbers a sentence
            if index - 1 == current and _ORDINAL.fullmatch(before):
                return False
        elif token[-1] == "." and token[0] != ".":
            return self._ends_at_abbreviation(token[:-1], following)
        return self._opens_sentence(following)

    def _ends_at_abbreviation(self, word: str, following: int) -> bool:
        usual = AbbreviationRule.BEFORE_CAPITAL
        if word != word.lower():
            usual = AbbreviationRule.BEFORE_FIRST_WORD
        rule = rule_of_abbreviation(word) or usual
        never = len(word) == 1 or rule is AbbreviationRule.NEVER
        next_word = self._string(following)
        if never or (next_word[0].islower() and not self.is_lower_case):
            return False
        is_capitalised = next_word[0].isupper() and not next_word[1:].isupper()
        is_first_word = next_word.lower() in first_words()
        return is_first_word or (rule is AbbreviationRule.BEFORE_CAPITAL and is_capitalised)

    def _ends_without_space(self, index: int, following: int) -> bool:
        """``increased.We``: only a well-known word or a label shows that the space is missing."""
        if self._string(following) == "©":
            return True
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

    def _string(self, index: int) -> str:
        return self.tokens[index].of(self.text)

    def _start_of(self, index: int) -> int:
        return self.tokens[index].char_start


def _char_start(span: Span) -> int:
    return span.char_start
