"""Penn-Treebank-like tokens for scientific text: one regular expression and two repairs.

The choices follow SciERC: hyphen and slash compounds stay whole, punctuation, brackets, quotes and
contractions stand apart. Repetitions inside words are possessive and look-aheads bounded, so that time grows
linearly with the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise

from sciextract.documents.annotations import Span, TokenRange
from sciextract.documents.document import TokenTable
from sciextract.text.characters import BLANK, SUPERSCRIPT, WORD


class AbbreviationRule(Enum):
    """When an abbreviation may end a sentence; the values are the headings of ``abbreviations.txt``."""

    NEVER = "never ends a sentence"
    BEFORE_CAPITAL = "ends a sentence before a capitalised word"
    BEFORE_FIRST_WORD = "ends a sentence before a common first word"


_BEFORE_NUMBER = "only before a number"


def rule_of_abbreviation(word: str) -> AbbreviationRule | None:
    """When an abbreviation (without its last full stop) ends a sentence; ``None`` for other words.

    Words in capitals are acronyms, not abbreviations: ``MS`` is not ``Ms.``, ``IE`` is not ``ie.``.
    """
    return _rules().get(word if word.isupper() else word.lower(), _rules().get(word))


@cache
def _rules() -> dict[str, AbbreviationRule]:
    return {word: rule for rule in AbbreviationRule for word in _sections()[rule.value]}


@cache
def number_abbreviations() -> frozenset[str]:
    """Lower-case words that are abbreviations only in front of a number: ``no. 5`` but ``the answer is no.``."""
    return frozenset(_sections()[_BEFORE_NUMBER])


@cache
def first_words() -> frozenset[str]:
    """Lower-case words that often open a sentence."""
    return frozenset(_lines("first_words.txt"))


@cache
def _sections() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in _lines("abbreviations.txt"):
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), [])
        else:
            words.append(line)
    return sections


def _lines(name: str) -> list[str]:
    content = files("sciextract.text").joinpath(name).read_text(encoding="utf-8")
    return [line for line in content.splitlines() if line and not line.startswith("#")]


_W = f"[{WORD}]"
_LOCANT = "(?:[0-9]{1,2}[a-zα-ω]?|[NOSHα-ω])['’′]?"
_JOINT = rf"""(?=[^\s()\[\]"]) (?:
    (?: [-‐‑–−/&@·+] | [-+]/ | \+[-−] | \^[-−+]? )      # n-gram, and/or, R&D, K+-ATPase, 10^-5
  | \.(?=[a-z]) | (?<=[0-9])[.:×](?=[0-9])              # github.com, 3.14, 3:1, 3×3, not used.3
  | (?<=[0-9]),(?=[0-9]{{3}}(?![0-9])|[0-9]{{1,2}}\s?%) # 12,000 and 97,5 %, not [3,4]
  | (?<=[0-9NOSHα-ωa-c'’′]),(?=(?:{_LOCANT},){{0,8}}{_LOCANT}-[A-Za-z(])  # 2,4-dinitrophenol
  | :(?=[0-9]{{4}})                                     # GO:0008150, arXiv:1706.03762
  | (?<=\b[A-Z][a-z]):(?=[A-Za-z]) | (?:(?<=[a-z]O)|(?<=O[2-5])):(?=[A-Z])     # Nd:YAG, ZnO:Al
  | (?<=[0-9N])['’](?=[-,][0-9A-Za-z])[-,]              # 5'-UTR, 2,2'-bipyridine
  | ['’](?!(?i:s|t|d|m|re|ve|ll)(?!{_W}))(?=[A-Za-z])    # O'Brien, not model's
)"""
_WORD = rf"""
    (?: [{SUPERSCRIPT}]*+ {_W}++ | [{SUPERSCRIPT}]++ )
    (?> (?: {_JOINT} {_W}++ | (?<![a-z][a-z][a-z]) [{SUPERSCRIPT}]++ {_W}*+ )* )   # m²/s, not method¹²
    (?: \+{{1,2}} | [-−](?=[{BLANK}(\[,;)]|\Z)                                   # Ca2+, pre-
      | (?: (?<=\b[A-Z])\* | (?<=\b[CF])\# | (?<=\b[2-5])['’] )(?!{_W}) )?       # A*, C#, 5' end
"""
_TOKEN = rf"""
    https?://[^\s<>"{BLANK}]*[^\s<>"{BLANK}.,;:!?'’”)\]}}]
  | 10\.[0-9]{{4,9}}/[^\s<>"{BLANK}]*[^\s<>"{BLANK}.,;:!?'’”)\]}}]     # DOI
  | (?>(?:[A-Za-z]\.){{2,}})(?:[A-Za-z](?!{_W}))? | Ph\.D\.             # e.g., U.S.A
  | [Cc]an(?=not(?!{_W}))
  | (?: \#(?![{SUPERSCRIPT}])                                               # #P-complete
      | (?<![^\s({{\[<>=~≈≤≥±,;:]) (?: [-−](?=\.?[0-9])\.?             # -0.5
                                    | \.(?=[0-9]) ) )??             # .05, but not "used".3
    {_WORD}
  | (?: ['’](?i:s|t|d|m|re|ve|ll) | °[CFK] )(?!{_W})
  | \+/[-−] | [<>!=]= | [-=]> | \\[A-Za-z]++
  | ''|``|\.{{3,}}+
  | ([-!?:*=~\#+|/\\<>^&%$@…—–•])\1++
  | [\u2600-\u27bf\U0001f000-\U0001faff](?>(?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d[\u2600-\u27bf\U0001f000-\U0001faff])*)
  | [^{BLANK}][\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f]*+
    """
_AFTER_PERIOD = re.compile(r"\s*([^\s]?)([^\W\d_]*)")
_FUNCTION_WORDS = {"and", "by", "for", "from", "in", "of", "or", "the", "to", "with"}
_LETTERED_THINGS = {
    "figure", "group", "hepatitis", "influenza", "phase", "table", "type", "vitamin",
}  # fmt: skip


def tokenize(text: str) -> tuple[Span, ...]:
    """The tokens of a text as code-point ranges.

    Every character is in exactly one token, except whitespace and control characters (line ends,
    zero-width spaces, bidirectional overrides), which are in none.

    >>> [span.of("It isn't state-of-the-art [12].") for span in tokenize("It isn't state-of-the-art [12].")]
    ['It', 'is', "n't", 'state-of-the-art', '[', '12', ']', '.']
    """
    spans: list[Span] = []
    for match in _token_pattern().finditer(text):
        start, end = match.span()
        if text[start] not in ".'’" or not spans or spans[-1].char_end != start:
            spans.append(Span(start, end))
            continue
        # A mark that touches the token before it: ``al.`` gets its period, ``isn't`` its ``n't``.
        word = spans[-1]
        if text[start] == "." and end == start + 1 and _keeps_period(text, spans):
            spans[-1] = Span(word.char_start, end)
        elif text[start + 1 : end] in ("t", "T") and text[start - 1] in "nN":
            spans[-1:] = [Span(word.char_start, start - 1)] if len(word.of(text)) > 1 else []
            spans.append(Span(start - 1, end))
        else:
            spans.append(Span(start, end))
    return tuple(spans)


@cache
def _token_pattern() -> re.Pattern[str]:
    """Compiled on first use: it takes 25 ms, nearly all for sets of characters, which are made anew wherever they stand."""
    return re.compile(_TOKEN, re.VERBOSE)


def _keeps_period(text: str, spans: list[Span]) -> bool:
    """Whether the last token is an abbreviation, so that the period behind it is part of it.

    A single letter abbreviates a name: ``E. coli``, ``H. Kamp``, ``p. 5``, not ``vitamin C. The``.
    """
    word = spans[-1].of(text)
    is_letter = len(word) == 1 and word.isalpha()
    if not is_letter:
        if rule_of_abbreviation(word) is not None:
            return True
        if word.isupper() or word.lower() not in number_abbreviations():
            return False
    match = _AFTER_PERIOD.match(text, spans[-1].char_end + 1)
    first, rest = match.groups() if match else ("", "")
    if not is_letter:
        return first.isdigit()
    if first.islower() or (first.isdigit() and word == "p"):
        return True
    if not first.isupper() or word.islower() or (first + rest).lower() in first_words():
        return False
    before = spans[-2].of(text) if len(spans) > 1 else ""
    is_noun = before.islower() and before.isalpha() and before not in _FUNCTION_WORDS
    return not is_noun and before.lower() not in _LETTERED_THINGS


# Both directed quotes become the straight one: that is what the escapes were made from.
ESCAPES = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', r"\/": "/", r"\*": "*",
}  # fmt: skip
_WHOLE_TOKENS = ("``", "''")
_INSIDE = re.compile(
    "|".join(re.escape(form) for form in ESCAPES if form not in _WHOLE_TOKENS), re.IGNORECASE
)


def unescape(form: str) -> str:
    r"""The characters that a Penn Treebank token stands for.

    Brackets and slashes are replaced anywhere in the token, quotes only as whole tokens: in ``5''-end``
    they are primes.

    >>> unescape("-LRB-"), unescape("``"), unescape(r"and\/or"), unescape("5''-end")
    ('(', '"', 'and/or', "5''-end")
    """
    if form in _WHOLE_TOKENS:
        return ESCAPES[form]
    return _INSIDE.sub(lambda match: ESCAPES[match.group().upper()], form)


def from_token_lists(sentences: Sequence[Sequence[str]]) -> tuple[str, TokenTable]:
    """The text and token table of ready-made sentences.

    Args:
        sentences: Token strings that are not empty, sentence by sentence; sentences without tokens are left out.

    Returns:
        The unescaped tokens joined by one space, and their table. The table keeps the given forms if
        any of them differs from its unescaped text.
    """
    forms = [token for sentence in sentences for token in sentence]
    strings = [unescape(form) for form in forms]
    starts = accumulate((len(string) + 1 for string in strings), initial=0)
    spans = tuple(
        Span(start, start + len(word)) for start, word in zip(starts, strings, strict=False)
    )
    edges = pairwise([0, *accumulate(len(sentence) for sentence in sentences if sentence)])
    ranges = tuple(TokenRange(start, end) for start, end in edges)
    return " ".join(strings), TokenTable(spans, ranges, tuple(forms) if forms != strings else None)
