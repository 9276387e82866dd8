"""The number and the unit in the words of a quantity: ``about 3.2 ± 0.1 GPa``, ``between 5 and 10 m s−1``."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from tokenize import TokenError
from typing import Any, NamedTuple

from sciextract.errors import MissingExtraError, UsageError

# What units are called beside their symbols; those of the second group take prefixes.
_CALLED = {
    "%": "percent pct", "°": "deg degs degree degrees", "°C": "celsius degc", "min": "mins minute minutes", "h": "hr hrs hour hours",
    "d": "day days", "wk": "week weeks", "mo": "month months", "a": "yr yrs year years", "t": "tonne tonnes", "ha": "hectare hectares",
    "µm": "micron microns", "K": "kelvin", "rad": "radian radians",
}  # fmt: skip
_SCALED = {
    "m": "metre metres meter meters", "g": "gram grams gramme grammes", "L": "l litre litres liter liters", "Hz": "hertz", "Pa": "pascal pascals",
    "s": "sec secs second seconds", "J": "joule joules", "W": "watt watts", "V": "volt volts", "N": "newton newtons", "eV": "electronvolt electronvolts",
}  # fmt: skip
_PREFIXES = {"": "", "k": "kilo", "M": "mega", "G": "giga", "c": "centi", "m": "milli", "µ": "micro", "n": "nano"}  # fmt: skip
_SYMBOLS = {word: unit for unit, words in _CALLED.items() for word in (unit, *words.split())} | {
    written: short + unit
    for unit, words in _SCALED.items()
    for short, long in _PREFIXES.items()
    for written in (*(long + word for word in words.split()), short + unit)
}

IN_TEXT = "|".join(
    re.escape(word)
    for word in sorted(_SYMBOLS, key=len, reverse=True)
    if _SYMBOLS[word] in ("°", "rad", "min", "h") or re.fullmatch("[kMGcmµn]?(?:m|s|Hz)", _SYMBOLS[word])
)  # fmt: skip
"""A pattern of units of length, time, angle and frequency, which cannot be taken for something else behind a number."""

_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: float(number) for number, word in enumerate(_COUNTED.split())}
_WORDS |= {word: 10.0 * number for number, word in enumerate(_TENS.split(), start=2)}
_WORDS |= {"once": 1.0, "twice": 2.0, "half": 0.5, "single": 1.0, "dozen": 12.0, "both": 2.0}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_ANY_WORD = "|".join([*_WORDS, *_SCALES])
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
# A power of ten: "10−4", "× 106" (a superscript that was lost), "e-3". A sign begins a number unless a word ends there.
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w)%°])[-+])?(?:"
    r"(?P<value>[0-9]{1,3}(?:[,\u2009\u202f ][0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?:\s?[×x·*]\s?10\s?\^?\{?(?P<power>-?[0-9]{1,2})\}?(?![0-9.])|[eE](?P<e>[-+]?[0-9]{1,2})(?!\w))?"
    r"(?:\s(?P<scale>hundred|thousand|million|billion)\b)?"
    rf"|(?i:\b(?P<words>(?:{_ANY_WORD})(?:[-\s](?:and\s)?(?:{_ANY_WORD}))*)\b))"
)
_BARE_POWER = re.compile(r"(?<![\w.×·*])(?<![×·*]\s)10-(?=[0-9]{1,2}(?![0-9]))")
# Digits of a unit: "mm3", "m s-1", "g- 1".
_IN_UNIT = re.compile(r"[^\W\d_]$|[^\W\d_]-\s?$")
_COMPARATORS = [
    (sign, re.compile(rf"(?i)^\W*(?:{words})(?![a-z])"))
    for sign, words in (
        ("≥", r"≥|≧|⩾|at least|no less than|as low as|minimum"),
        ("≤", r"≤|≦|⩽|at most|up to|no more than|as much as|as high as|within|maximum"),
        (">", r">|≳|(?:greater|more|better|larger|higher) than|above|over|exceeding"),
        ("<", r"<|≲|(?:less|fewer|smaller|lower) than|below|under"),
        ("~", r"~|∼|≈|≃|about|approximately|around|circa|ca\.?|nearly|near|close to|roughly|almost"),
    )
]  # fmt: skip
_TOLERANCE = re.compile(r"[^0-9]*(?:±|\+/-|\\pm)\s*")
_RANGE = re.compile(r"[^\d,;(]*(?:-|–|—|\bto\b)[^\d,;(]*")
_NO_UNIT = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"|^(?:1[5-9]|20)[0-9]{2}$"
)
_BETWEEN = re.compile(r"\b(?:and|to|or|from|about|over)\b|[±∼~–×<>/]")
_EDGES = " \t\n.,;:-–)(]["


class Quantity(NamedTuple):
    """What a quantity says.

    Attributes:
        numbers: One, both ends of a range, or a list.
        unit: As it is written; empty where there is none.
        comparator: ``<``, ``≤``, ``>``, ``≥``, ``~`` or nothing.
        tolerance: What stands behind ±.
        is_range: Whether the numbers are ends of a range.
    """

    numbers: tuple[float, ...]
    unit: str
    comparator: str = ""
    tolerance: float | None = None
    is_range: bool = False

    def __str__(self) -> str:
        """Everything but the unit."""
        listed = ("–" if self.is_range else ", ").join(f"{number:g}" for number in self.numbers)
        tolerance = "" if self.tolerance is None else f" ± {self.tolerance:g}"
        return f"{self.comparator} {listed}{tolerance}".strip()


def quantity_of(words: str) -> Quantity | None:
    """What the words of a quantity say; ``None`` where they have no number.

    >>> quantity_of("between 5 and 10 m s−1")
    Quantity(numbers=(5.0, 10.0), unit='m s−1', comparator='', tolerance=None, is_range=True)
    >>> str(quantity_of("about 3.2 ± 0.1 GPa")), quantity_of("room temperature")
    ('~ 3.2 ± 0.1', None)
    """
    words = words.strip()
    plain = words.translate(_RAISED)  # of the same length
    # "10-4" alone is a power of ten, and a range where the hyphen was no minus.
    if any(sign in words for sign in "−⁻"):
        plain = _BARE_POWER.sub("1e-", plain)
    found = [
        number
        for number in _NUMBER.finditer(plain)
        if number["words"] or not _IN_UNIT.search(plain, 0, number.start())
    ] or list(_NUMBER.finditer(plain))[:1]
    if not found:
        return None
    numbers, last, tolerance = [_value_of(number) for number in found], found[-1], None
    gaps = [plain[one.end() : two.start()] for one, two in pairwise(found)]
    if gaps and _TOLERANCE.fullmatch(gaps[-1]):
        tolerance = abs(numbers.pop())
    is_pair = len(numbers) == 2
    is_range = is_pair and bool(
        _RANGE.fullmatch(gaps[0]) or re.search(r"(?i)\bbetween\b", plain[: found[0].start()])
    )
    comparator = next((sign for sign, pattern in _COMPARATORS if pattern.match(plain)), "")
    behind = len(plain) - last.end()
    unit = re.split(r"[,;(]", words[len(words) - behind :].strip(_EDGES))[0].strip(_EDGES)
    if not unit and gaps:
        unit = _BETWEEN.sub("", gaps[0]).strip(_EDGES)
    before = plain[: found[0].start()].strip()
    if not unit and before in ("pH", "$", "€", "£"):
        unit = before
    unit = "" if _NO_UNIT.search(plain) else re.sub(r"^(?:of|the|an?)\s+", "", unit)
    return Quantity(tuple(numbers), unit, comparator, tolerance, is_range)


def in_unit(words: str, unit: str) -> Quantity | None:
    """What the words of a quantity say in a unit; as they are where that measures something else, or none is wanted.

    >>> in_unit("3.2 ± 0.1 GPa", "MPa"), in_unit("5 kg", "MPa").unit
    (Quantity(numbers=(3200.0,), unit='MPa', comparator='', tolerance=100.0, is_range=False), 'kg')
    """
    found = quantity_of(words)
    if found is None or not unit or not _UNIT.fullmatch(spelled := symbol_of(found.unit)):
        return found
    registry, wanted = _units(), _parse_unit(unit)
    try:
        given = registry.parse_units(_in_pint(spelled))

        def change(number: float) -> float:
            return float(f"{registry.Quantity(number, given).to(wanted).magnitude:.12g}")

        numbers, tolerance = tuple(map(change, found.numbers)), found.tolerance
        if tolerance is not None:
            tolerance = float(f"{change(tolerance) - change(0.0):.12g}")
    except _NO_SUCH_UNIT:
        return found
    return found._replace(numbers=numbers, unit=symbol_of(unit), tolerance=tolerance)


def check_unit(unit: str) -> None:
    """Raises:
    MissingExtraError: pint is not installed.
    UsageError: It is no unit.
    """
    _parse_unit(unit)


# What is given to pint: names and one-digit powers, so that nobody's text is computed.
_UNIT = re.compile(
    r"(?=.{1,40}$)[°%]?[^\W\d_]*(?:\^?-?[0-9])?(?:[ ·/(]{1,2}[°%]?[^\W\d_]+(?:\^?-?[0-9])?\)?)*"
)


# What pint raises for words that are no unit, or one of something else.
_NO_SUCH_UNIT = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    TokenError,
)


@cache
def _parse_unit(unit: str) -> Any:
    try:
        if _UNIT.fullmatch(spelled := symbol_of(unit)):
            return _units().parse_units(_in_pint(spelled))
    except _NO_SUCH_UNIT:
        spelled = ""
    raise UsageError(f"{unit!r} is no unit", "such as MPa, kg/ha or °C")


@cache
def _units() -> Any:
    try:
        from pint import UnitRegistry
    except ImportError as error:
        raise MissingExtraError("to convert units", "table") from error
    return UnitRegistry(autoconvert_offset_to_baseunit=True)


def _in_pint(unit: str) -> str:
    unit = unit.replace("°C", "degC").replace("°", "degree").replace("%", "percent")
    unit = re.sub(r"\bwk\b", "week", re.sub(r"\bmo\b", "month", unit))
    unit = re.sub(r"([^\W\d_])\^?(-?[0-9])", r"\1**\2", unit)
    return re.sub(r"[ ·]+", "*", unit.strip())


def symbol_of(unit: str) -> str:
    """The usual symbol of a unit, so that those that are written differently compare equal; others as they are.

    >>> symbol_of("percent"), symbol_of("millimetres"), symbol_of("m s−1"), symbol_of("kg per hectare")
    ('%', 'mm', 'm/s', 'kg/ha')
    """
    unit = unit.translate(_RAISED).replace("per cent", "%").replace(" per ", "/")
    unit = re.sub(r"[\s·]([^\W\d_]+)-\s?1\b", r"/\1", unit)  # "m s-1"
    return re.sub(r"°\w*|[^\W\d_]+", lambda word: _symbol_in(word[0]) or word[0], unit)


def is_unit(word: str) -> bool:
    """Whether a word is a unit that is known here.

    >>> is_unit("degrees"), is_unit("cm"), is_unit("accuracy")
    (True, True, False)
    """
    return bool(_symbol_in(word))


def _symbol_in(word: str) -> str:
    """The symbol that a word stands for; words may begin with a capital, "Mm" and "mm" differ."""
    word = word.replace("μ", "µ")
    return _SYMBOLS.get(word) or (_SYMBOLS.get(word.lower(), "") if len(word) > 3 else "")


def _value_of(number: re.Match[str]) -> float:
    if number["words"]:
        total, part = 0.0, 0.0
        for word in re.split(r"[-\s]+(?:and\s)?", number["words"].lower()):
            scale = _SCALES.get(word)
            part = (part or 1.0) * scale if scale else part + _WORDS[word]
            if scale and scale > 100:
                total, part = total + part, 0.0
        return total + part
    value = float(re.sub(r"[,\u2009\u202f ]", "", number["value"]))
    value *= 10.0 ** int(number["power"] or number["e"] or 0) * _SCALES.get(number["scale"], 1.0)
    return -value if number["sign"] == "-" else value
