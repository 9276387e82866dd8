"""English plurals: one rule for names in graphs, terms and features of mentions."""

from __future__ import annotations

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
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < _SHORTEST or not word.endswith("s") or word in _SINGULAR:
        return word
    if word.endswith(_SINGULAR_ENDINGS):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(_TAKES_ES) else word[:-1]
