"""English words: whether a text may be English, one rule for plurals, numbers with their nouns, durations."""

from __future__ import annotations

import re
from functools import lru_cache

_IRREGULAR = {
    "analyses": "analysis", "hypotheses": "hypothesis", "syntheses": "synthesis", "theses": "thesis",
    "parentheses": "parenthesis", "diagnoses": "diagnosis", "prognoses": "prognosis",
    "axes": "axis", "matrices": "matrix", "indices": "index", "vertices": "vertex",
    "simplices": "simplex", "appendices": "appendix", "corpora": "corpus", "criteria": "criterion",
    "phenomena": "phenomenon", "automata": "automaton", "stimuli": "stimulus", "loci": "locus",
    "nuclei": "nucleus", "radii": "radius", "formulae": "formula", "schemata": "schema",
    "lemmata": "lemma", "bacteria": "bacterium", "spectra": "spectrum", "optima": "optimum",
    "minima": "minimum", "maxima": "maximum", "quanta": "quantum", "leaves": "leaf",
    "halves": "half", "women": "woman", "men": "man", "children": "child", "mice": "mouse",
    "caches": "cache", "movies": "movie", "cookies": "cookie", "ties": "tie", "calories": "calorie",
    "buses": "bus", "biases": "bias", "viruses": "virus", "corpuses": "corpus", "statuses": "status",
    "lenses": "lens", "gases": "gas", "atlases": "atlas", "quizzes": "quiz", "toes": "toe",
}  # fmt: skip
_SINGULAR = frozenset(
    ("bias", "atlas", "gas", "alias", "canvas", "pandas", "lens", "news", "series", "species", "means",
     "always", "chaos", "pathos", "ethos", "kudos", "texas", "kansas", "paris", "always", "odds")
)  # fmt: skip
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics")
_TAKES_ES = ("sses", "shes", "ches", "xes", "oes", "zzes")
_SHORTEST = 4


@lru_cache(maxsize=1 << 16)
def singular(word: str) -> str:
    """The singular of a word in lower case; a word that is none, or that is too short to tell, stays.

    >>> [singular(word) for word in ("networks", "analyses", "boxes", "bases", "batteries", "bias", "gan")]
    ['network', 'analysis', 'box', 'base', 'battery', 'bias', 'gan']
    """
    # Before the rules, which would make "analyse" of "analyses".
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < _SHORTEST or not word.endswith("s") or word in _SINGULAR:
        return word
    if word.endswith(_SINGULAR_ENDINGS):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(_TAKES_ES) else word[:-1]


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "abstract"), counted(3, "entity", "entities"), counted(12_000, "abstract")
    ('1 abstract', '3 entities', '12,000 abstracts')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """Seconds in the two largest units, as people say them.

    >>> duration(42), duration(100), duration(180), duration(7300)
    ('42 s', '1 min 40 s', '3 min', '2 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else rest, "s")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"


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
    if len(letters) >= _LEAST_LETTERS and 2 * sum(letter < "\u0250" for letter in letters) < len(
        letters
    ):
        return False
    if len(words) < _LEAST_WORDS:
        return True
    known = sum(word.lower() in _FUNCTION_WORDS for word in words)
    return known >= _LEAST_SHARE * len(words)
