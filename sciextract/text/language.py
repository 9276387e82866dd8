"""A cheap guess whether a text is English, good enough for a warning and for nothing else."""

from __future__ import annotations

import re

_SAMPLE_CHARACTERS = 4000
_LEAST_WORDS = 25
_LEAST_LETTERS = 40
_LEAST_SHARE = 0.06
_WORDS = re.compile(r"[^\W\d_]+")
# Words that the Germanic and Romance neighbours of English do not share.
_FUNCTION_WORDS = frozenset((
    "and", "are", "been", "between", "both", "by", "from", "have", "into", "its", "of", "our", "such", "than",
    "that", "the", "their", "these", "they", "this", "those", "to", "using", "were", "which", "with",
))  # fmt: skip


def looks_english(text: str) -> bool:
    """Whether a text may be English: Latin script, and enough English function words.

    Texts of fewer than 25 words count as English, for too few words decide nothing.

    >>> looks_english("Wir zeigen die Ergebnisse einer Studie an Patienten mit Diabetes und "
    ...               "vergleichen diese mit den Daten der früheren Arbeiten zu dem Thema, die "
    ...               "nicht die gleiche Genauigkeit hatten.")
    False
    """
    words = _WORDS.findall(text[:_SAMPLE_CHARACTERS])
    letters = "".join(words)
    if len(letters) >= _LEAST_LETTERS and 2 * sum(each < "\u0250" for each in letters) < len(
        letters
    ):
        return False
    if len(words) < _LEAST_WORDS:
        return True
    known = sum(word.lower() in _FUNCTION_WORDS for word in words)
    return known >= _LEAST_SHARE * len(words)
