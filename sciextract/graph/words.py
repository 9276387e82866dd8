"""The words by which names are merged and marked; all in lower case and in the singular."""

from __future__ import annotations

from sciextract.graph.normalisation import normal_form
from sciextract.text.plurals import singular

METHOD_HEADS = frozenset(
    ("algorithm", "approach", "architecture", "baseline", "engine", "framework", "method", "methodology", "model",
     "network", "paradigm", "procedure", "scheme", "setup", "solution", "strategy", "system", "technique",
     "technology")
)  # fmt: skip
"""Last words that add nothing to the name of a method: an "NMT system" is NMT."""

TASK_HEADS = frozenset(("application", "challenge", "problem", "task"))
"""Last words that add nothing to the name of a task."""

METRIC_HEADS = frozenset(("measure", "metric", "point", "score"))
"""Last words that add nothing to an acronym or a proper name of a metric, as in "BLEU score"."""

DATA_HEADS = frozenset(("corpus", "data", "dataset"))
"""Last words that stand for each other: "parallel corpus" and "parallel data"."""

MECHANISM = "mechanism"
"""Adds nothing to a single word either: an "attention mechanism" is attention."""

ADJECTIVES = frozenset(
    ("art", "aware", "based", "box", "domain", "driven", "end", "free", "language", "level", "resource", "scale",
     "shot", "source", "space", "specific", "step", "target", "time", "trained", "wise")
)  # fmt: skip
"""Last words of what describes a thing, such as "sentence-level" or "low-resource", and is not a thing itself."""

EMPTY_MODIFIERS = frozenset(
    ("conventional", "current", "different", "existing", "many", "new", "novel", "popular", "powerful",
     "proposed", "recent", "several", "strong", "traditional", "typical", "various", "vanilla")
)  # fmt: skip
"""First words that say how somebody judges a thing, not which one it is."""

GENERIC_WORDS = frozenset((
    "ability", "accuracy", "advantage", "aim", "algorithm", "amount", "analysis", "application", "approach",
    "architecture", "area", "aspect", "assumption", "attribute", "author", "background", "baseline", "benchmark",
    "benefit", "bias", "case", "category", "challenge", "change", "characteristic", "choice", "class", "code",
    "cohort", "community", "comparison", "complexity", "component", "computation", "computational", "concept",
    "condition", "configuration", "constraint", "content", "context", "contribution", "control", "corpus", "cost",
    "current", "data", "dataset", "dependency", "design", "detail", "development", "difference", "different",
    "difficulty", "direction", "distribution", "document", "domain", "drawback", "effect", "effectiveness",
    "efficiency", "effort", "element", "entity", "environment", "error", "evaluation", "evidence", "example",
    "existing", "experiment", "experimental", "experimentation", "expert", "extension", "factor", "feature",
    "field", "file", "finding", "form", "formulation", "framework", "function", "gain", "generalization", "goal",
    "group", "human", "hypothesis", "idea", "image", "impact", "implementation", "improvement", "increase",
    "individual", "information", "infrastructure", "input", "instance", "insight", "interaction", "interest",
    "issue", "item", "kind", "knowledge", "label", "language", "large", "layer", "learning", "length", "level",
    "limitation", "literature", "loss", "machine", "material", "measure", "measurement", "mechanism", "member",
    "memory", "method", "methodology", "metric", "model", "modeling", "modelling", "module", "need", "network",
    "new", "noise", "novel", "number", "object", "objective", "observation", "operation", "optimization", "order",
    "outcome", "output", "paper", "parameter", "part", "participant", "pattern", "people", "performance",
    "person", "phase", "phenomenon", "phrase", "pipeline", "point", "population", "power", "practice",
    "precision", "prediction", "principle", "problem", "procedure", "process", "processing", "program", "project",
    "property", "proposed", "protocol", "quality", "question", "range", "rate", "real", "recall", "reference",
    "region", "relation", "relationship", "representation", "requirement", "research", "researcher", "resource",
    "response", "result", "robustness", "role", "rule", "runtime", "sample", "scale", "scenario", "scheme",
    "score", "sentence", "sequence", "series", "set", "setting", "shared", "sign", "signal", "size", "small",
    "software", "solution", "source", "space", "speed", "stage", "standard", "state", "step", "strategy",
    "structure", "study", "subject", "system", "target", "task", "technique", "technology", "term", "test",
    "text", "theory", "time", "tool", "topic", "training", "trial", "type", "unit", "usage", "use", "user",
    "value", "variable", "variation", "version", "view", "weakness", "web", "window", "word", "work", "world",
))  # fmt: skip
"""Words that tell little by themselves in any field."""


def is_generic(name: str) -> bool:
    """Whether a name holds nothing but words that tell little by themselves.

    >>> [is_generic(name) for name in ("training data", "Features", "feature selection", "DATA")]
    [True, True, False, False]
    """
    first = name.split(" ", 1)[0].casefold()
    if first.isalpha() and first not in GENERIC_WORDS and singular(first) not in GENERIC_WORDS:
        return False
    form = normal_form(name)
    return not form.is_acronym and GENERIC_WORDS.issuperset(map(singular, form.spaced.split()))
