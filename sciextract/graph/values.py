"""The values that an abstract reports: a number of a metric on a material, by a method, read from single sentences.

A number counts where the words between tie it to a metric, and where one material (or as many as there are numbers)
can be meant; what is ambiguous is left out, because a wrong value is worse than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sciextract.documents.annotations import Span
from sciextract.graph.normalisation import normal_form
from sciextract.text.quantities import IN_TEXT, is_unit, symbol_of

METRIC = "Metric"
MATERIALS = ("Material", "Dataset", "Task")
"""What a value can be measured on; abstracts name a data set by its task as often as by itself."""
METHOD = "Method"


class Spot(NamedTuple):
    """A mention.

    Attributes:
        start: Where it begins, in characters.
        end: Where it ends, exclusive.
        key: The normal form of what it names.
        label: Its entity type.
        name: Its words.
    """

    start: int
    end: int
    key: str
    label: str
    name: str

    def overlaps(self, other: Spot) -> bool:
        return self.start < other.end and other.start < self.end


class Value(NamedTuple):
    """A value that an abstract reports.

    Attributes:
        metric: The normal form of what is measured.
        material: That of what it is measured on; empty where the abstract names none.
        method: That of what is measured; empty where nobody tells.
        value: The number.
        unit: ``%``, the symbol of a unit of length, time, angle or frequency, or nothing.
        split: ``test``, ``val``, ``test-dev`` and the like; empty where nobody tells.
        is_difference: Whether it is an improvement or another distance, not a value of its own.
        char_start: Where its sentence begins.
        char_end: Where it ends.
        places: Where number, metric and, if the sentence names it, material begin and end, in characters.
    """

    metric: str
    material: str
    method: str
    value: float
    unit: str
    split: str
    is_difference: bool
    char_start: int
    char_end: int
    places: tuple[int, ...]


_LONGEST, _LONGEST_TEXT = 2_000, 50_000
"""Characters of a sentence, and of an abstract, that values are looked for in: more is none, and takes time."""

# A number that stands by itself: no part of a name or "t(26)", a range, a fraction, a factor or a thousand.
NUMBER = re.compile(
    r"(?<![\w.,/|'’–%-])(?<!\w\()(?P<sign>[+−-])?(?P<value>[0-9]+(?:\.[0-9]+)?)"
    rf"(?P<unit>\s?\\?%|\s?percent\b|\s?°(?!\s?[CFNSEW])|\s?(?:{IN_TEXT})\b(?![/·^]))?"
    r"(?:\s?(?:±|\\pm|\+/-)\s?[0-9.]+(?P<shared>%)?|(?P<gain>\s\(\+[0-9.]+\s?%?\)))?"
    r"(?![\w/×|]|[.,:][0-9]|[-–]{1,2}\w|\s?(?:\\?%|percent\b|(?:up\s)?to\s[0-9]|Cr?Is?\b|confidence\b|or\s(?:more|less|lower|higher)\b)"
    r"|\s?(?:x|times|imes\S*|fold|[kKmMbB]|million|billion|thousand)\b)"
)
_RANGE_BEFORE = re.compile(rf"(?:[0-9%](?:\s?(?:{IN_TEXT}))?\s*(?:[–-]|\\sim|to)|±|\\pm|\+/-)\s*$")
_LIST = re.compile(r"\s*(?:,|,?\s?and|or|/)\s*")
# What measures in any field, where a model has not marked it.
_MEASURE = re.compile(
    r"\b(?:(?:micro|macro|weighted|average|mean|top-?[0-9]|test|classification)[ -])*"
    r"(?:(?i:accurac(?:y|ies)|precision|recall|exact match|error rate|success rate|perplexity)"
    r"|F_?[0-9](?:[- ](?:score|measure))?|F-?(?:score|measure)s?|AUC|AUROC|ROC[- ]AUC|mAP|m?IoU|MAE|RMSE|MSE|MRR|EER"
    r"|[WCP]ER|(?:Hits|Recall|Precision|[nN]?DCG|pass|R|P)@[0-9k]+)\b"
)
_RANK = re.compile(r"\b(?:[Tt]op-?[0-9]+|[Rr]ank-?[0-9]+|[Bb]alanced|[Mm]acro|[Mm]icro)[\s-]$")
# "28.4 BLEU", "3.2 points in BLEU", "a 5 % relative improvement in accuracy"; but "test loss", "log loss", "training loss"
# and "validation loss" are metrics.
_CHANGES = (
    r"improv\w+|gain\w*|increas\w+|boost\w*|reduc\w+|decreas\w+|degrad\w+|drop\w*"
    r"|(?<!test )(?<!train )(?<!entropy )(?<!log )(?<!ation )(?<!ing )loss(?:es)?|margins?|higher|lower|better"
    r"|worse|(?:less|more|fewer)(?!\sthan)|ris(?:es?|en|ing)|rais\w+|jump\w*|grow\w*|enhanc\w+"
)
_METRIC_AFTER = re.compile(
    rf"(?:[\s(]|\b(?:absolute|relative|averaged?|mean|overall|macro|micro|test|cased|uncased|tokeni[sz]ed|further|points?|percentage"
    rf"|significant|substantial|on|of|in|for|over|the|its|terms|top-?[0-9]|sentence-level|case-(?:in)?sensitive|{_CHANGES})\b|-)*"
)
# "BLEU score of 28.4", "accuracy (94 %)", "BLEU from 20.1 to 23.4", "error rate by 3 %", "accuracy on X is 81.5"
_METRIC_BEFORE = re.compile(
    r"(?:\s*\([^()0-9]{1,30}\))?(?:[\s=:(,~]|\b(?:scores?|values?|rates?|points?|metrics?|measures?|of|is|was|are|were|at|to|by|up|as"
    r"|high|low|least|most|than|about|around|approximately|over|above|below|under|nearly|almost|only|roughly|an?|average|averaging"
    rf"|the|best|baselines?|existing|models?|methods?|reach\w*|equals|exceed\w*|approach\w*|{_CHANGES}|from\s[0-9.]+\s?\\?%?\s(?P<change>to))\b"
    r"|\b(?:on|for|in)\s(?:[\w-]+\s){0,3}§+(?!\s[0-9]))*"
)
# "outperforming the validation score of 63 %" tells the value of what is outperformed.
_OF_BEATEN = re.compile(
    r"\b(?:outperform|surpass|exceed|beat|compared|than)\w*\b(?![^;]*\b(?:achiev|reach|obtain|attain|with|and)\w*)[^;]*$"
)
# What says that the number is the value of the metric, whatever comes before.
_IS = re.compile(
    r"\s*(?:\([^()]*\)\s*)?(?:(?:scores?|values?|rates?)\s)?(?:of|is|was|are|were|=|:|\()\s*"
    r"(?:(?:about|around|only|nearly|over|up\sto|approximately)\s)?"
)
# "a gain in accuracy of", "the discrepancy between both AUC values was"
_CHANGE_OF = re.compile(
    rf"(?i)\b(?:(?:(?!better|worse)(?:{_CHANGES})\s(?:in|on|of|by|to|its|their|the|both)|additional)\s(?:[\w-]+\s){{0,3}}"
    r"|(?:differences?|discrepanc\w+|gaps?)\s(?:between|of|in)\b[^,;]*)$"
)
_NO_UNIT = re.compile(
    r"\s*(?:$|[.,;:()/±§]|\\pm|(?:points?|on|for|in|at|and|or|with|which|using|over|across|from|to|when|while|compared|after|by"
    r"|under|respectively|where|as|than|against|averaged|is|are|was|were|has|outperform\w+|surpass\w+|without|among|between"
    r"|relative|absolute|percentage|improvements?|scores?|higher|lower|better)\b)"
)
_DISTANCE = (
    rf"{_CHANGES}|outperform\w*|surpass\w*|exceed\w*(?!\s(?:$|[0-9]))|differences?|discrepanc\w+|gap\w*|advantage\w*|another|additional|sacrific\w+"
    r"|(?:absolute|relative)(?!\s\w*\s?(?:error|deviation|risk|rate|ratio))|points|sav\w+|speed-?up"
)
_DISTANCE_BEFORE = re.compile(
    rf"(?i)\b(?:(?:by(?!\s(?:our|the|this|using)\b)|up(?!\sto)|{_DISTANCE})\b(?:(?!\bcompared|,\sand\san?\s)[^.;]|\.[0-9]){{0,40}}|within\s)$"
)
# "gains of up to 3 % for A, 0.6 mAP for B and 1.5 IoU for C"; but "an improvement over A, and achieves 3 %"; "is better
# than others (up to 20 %"
_GAINS_OF = re.compile(
    r"\b(?:improvements?|gains?|increases?|boosts?|reductions?|drops?|outperform\w*|surpass\w*)\b(?!.*(?:;|\b(?:achiev|reach|obtain|attain|with\b)))"
    r"|\b(?:better|superior|outperform\w*)\b[^.;()]{0,80}\(up\sto\s\S{0,8}\s?$"
)
# "achieves up to 5 % accuracy improvement", "is 0.1 % mIoU less than it", whatever comes before.
_CHANGE_AFTER = re.compile(
    r"(?:,?\s(?:and\s)?[0-9.]+\s?\\?%?\s\S+)?\s(?:scores?\s)?(?:improvements?|gains?|increases?|boosts?|reductions?|drops?"
    r"|decreases?|declines?|degradations?|(?:points?\s)?(?:less|more|lower|higher|better|worse)\sthan|absolute)\b"
)
_OF_NAMED = re.compile(rf"(?i)(?<!\w)(?!(?:{_CHANGES})\b)[\w-]+\s\($")
_OF = re.compile(r"\sof\s(?:the\s|its\s)?")
_VALUE_BEHIND = re.compile(r"\s(?:is|was|are|were|=)\s[+−-]?[0-9]")
_IS_DISTANCE = re.compile(rf"(?i)\b(?:{_DISTANCE})\b")
_REACHED = re.compile(
    r"(?i)\b(?:achiev|reach|obtain|attain|scor|yield|with\b|averages\b|demonstrat|exhibit)\w*"
)
_FROM = re.compile(r"\bfrom\s(?:an?\s(?:[\w-]+\s){1,3}of\s)?[0-9.]+\s?\\?%?\s(?:to|up to)\s$")
_TO = re.compile(
    rf"(?i)\b(?:{_CHANGES})\b[^.;]*(?<!up)(?<!relative)(?<!compared)(?<!similar)\sto\s$"
)
# "to detect them requires 100 % recall", "using a 10 % increase"
_CONDITION = re.compile(
    r"(?i)(?:\b(?:requir(?:es?|ing)|using|assuming|if)\s(?:an?\s|at\sleast\s)?"
    r"|\b(?:threshold|cut-?off|criteri\w+)\b[^.;,()]{0,25}|\bdefined\b[^.;,()]{0,60})$"
)
# What may be negative: "r = -0.65", "a correlation of -0.24"
_SIGNED = re.compile(r"=\s?$|(?i:\b(?:correlations?|coefficients?)\b[^.,;]{0,12}\s$)")
_LEAST_POINTS = 10.0
# What measures nothing by itself.
_NO_METRIC = re.compile(
    r"(?i)RH|relative humidity|.*\b(?:mask\w*|prun\w+|poison\w*|nois\w+|obstacle|dropout|learning|sampling|conflict) (?:rates?|ratios?|levels?)"
    r"|averages?|mean|metrics|imes|p-?values?|(?:.*\s)?(?-i:p|t|df|n|y)|(?-i:[cdmunµkMG]?(?:Sv|Gy|T|Torr|Hz|s|g|m|L|W|V|Pa|mol|B)|px|br?pm)|.*(?:arrow|dollar).*|[^(]*\)|\W*|(?:.*\b)?(?:SOTA|results?|performance|Cr?Is?|SDs?|SEM?"
    r"|confidence(?: intervals?| limits?| levels?)?|standard (?:deviations?|errors?))(?:\s\(\w+\)|\))?"
)
_PROPER = re.compile(r"[A-Z0-9]")
_DATA = re.compile(
    r"(?i)[0-9]|\b(?:data\s?sets?|corpus|corpora|(?:test|dev|validation|evaluation)\s?sets?|tasks?|benchmarks?|treebanks?|track"
    r"|leaderboard|challenge|collections?)$"
)
_DATA_END = re.compile(r"(?i)\b(?:data\s?sets?|corpus|corpora|[\w-]*bench(?:marks?)?|leaderboard)$")
_ON = re.compile(r"(?i)\b(?:on|over|across)\s(?:[\w-]+\s){0,3}$")
_FOR = re.compile(r"(?i)\b(?:for|in)\s(?:[\w-]+\s){0,2}$")
# "94 % accuracy on PondBank, 72 % on FernCorp": the second number has another data set.
_ON_ANOTHER = re.compile(r"\son\s(?:the\s)?[A-Z]")
_DIRECTLY_ON = re.compile(r"\W*(?:scores?\s|rate\s)?(?:on|for)\s(?:the\s|a\s|our\s)?")
_MADE_OF = re.compile(
    r"(?i)\b(?:(?:\w*train\w*|learn\w*|\w*tun\w+|built|based|reli\w+)\s(?:(?!and\b)[\w-]+\s){0,3}(?:(?:on|from)\s)?(?:[\w-]+\s){0,2}"
    r"|(?:improv(?:es?|ing)|using|with|from|by|via)\s(?:(?!on\b)[\w-]+\s){0,3})$"
)
# A proper name that no model has marked: "72.7 F1 on SQuAD".
_UNMARKED = re.compile(
    r"(?:\b[Oo]n\s(?:the\s|our\s)?|§(?:,|,?\sand)\s)((?=[\w-]*\w[A-Z0-9])[A-Za-z](?:[\w+-]|\.[0-9]){2,}"
    r"(?:\s(?:data\s?set|benchmark|corpus|leaderboard))?)\b(?!-)"
)
_SEVERAL = re.compile(
    r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|[0-9]+|several|multiple|various|different|many|both|all|other|held-out|across)\b"
    r"(?:[^.;]|\.[0-9]){0,60}\b(?:data\s?sets|benchmarks|corpora|tasks|domains|languages|subtasks)\b"
    r"|\b(?:our|proposed|new|own)\s(?:[\w-]+\s)?(?:data\s?set|benchmark|corpus)\b"
)
# Versions, dimensions, and the models, metrics and processors that are taken for data most often.
_NO_DATA = re.compile(
    r"[0-9]\.[0-9]|^[0-9]D$|(?:Res|Dense|Mobile|Efficient)Net|BERT|GPT|YOLO|BLEU|METEOR|\b[CG]PUs?\b"
)
_FURTHEST = 60
_AWAY = re.compile(r"[0-9;]|\b(?:while|whereas|compared|than|which|that)\b")
_BRACKET = re.compile(r"[\s*]*\(\s?[^()]{0,25}")
_BEATEN = re.compile(
    r"(?i)\b(?:outperform\w*|surpass\w*|exceed\w*|beat\w*|over|than|against|compar(?:ed|isons?)\s(?:to|with)|before|without|relative\sto|versus|vs\.?|baselines?"
    r"|from|on|as|using|during|(?:improv|boost|enhanc)\w+|applied\sto|unlike|previous\w*|prior|competit\w+|rivals?)\s(?:\w[\w-]*\s){0,4}$"
)
_COMPARED = re.compile(
    r"(?i)\b(?:compar(?:ed|isons?)(?:\s(?:to|with))?|than|versus|against|humans?|baselines?\sthat)\b([^;]{0,80})$"
)
_REACHES = re.compile(
    r"(?i)\b(?:achiev|reach|obtain|attain|yield|scor|g[eo]t|improv|outperform|surpass|boost|increas|reduc|enhanc|ha[sd]|show|lead|perform"
    r"|provid|deliver|produc|exhibit|set|gain|accomplish|is|are|can|could)\w*\b"
)
_OURS = re.compile(
    r"(?i)\b(?:we|our|ours|us|it|the proposed|this (?:approach|method|model|framework|system))\b"
)
_THEIRS = re.compile(
    r"(?i)\b(?:baselines?|state-of-the-art|existing|previous|prior|participants?|teams?|humans?|best|current)\b"
)
_PROPOSED = re.compile(
    r"(?i)\b(?:propos|present|introduc|develop|devis|call|nam|dub|describ|design)\w*\b[^.;]{0,80}$"
)
_SPLIT = re.compile(
    r"(?i)\b(?<!cross-)(?<!cross\s)(test-?(?:dev|std|standard|challenge|clean|other)|testing(?=\sset\b)|(?:test|val|valid|validation|dev|development)(?=[\s-]?(?:sets?|splits?|data"
    r"|part|partition|portion|subset)?\b))"
)
_SPLIT_SET = re.compile(
    r"(?i)\b(?:train|training|test|testing|val|validation|dev|development)\s(?:set|split|data|dataset)\b"
)
_SPLITS = {"testing": "test", "valid": "val", "validation": "val", "development": "dev"}
_SPLITS["test-standard"] = "test-std"


class _Group(NamedTuple):
    """Numbers next to each other, and the metric of each: ``28.4 and 41.8 BLEU``."""

    numbers: tuple[re.Match[str], ...]
    metrics: tuple[Spot, ...]
    start: int
    end: int
    is_difference: bool


def find_values(
    text: str,
    sentences: Iterable[Span],
    spots: Sequence[Spot],
    evaluated: Mapping[int, Sequence[Spot]],
) -> Iterator[Value]:
    """The values of an abstract in text order.

    Args:
        text: The abstract.
        sentences: Where they are.
        spots: Its mentions of metrics, materials and methods, those that coreference explains among them.
        evaluated: By the place of a metric, the methods that a relation EVALUATE-FOR joins it to.
    """
    ends = [(sentence.char_start, sentence.char_end) for sentence in sentences]
    some = [(a, b) for a, b in ends if b - a < _LONGEST and NUMBER.search(text, a, b)]
    if not some or len(text) > _LONGEST_TEXT:
        return
    spots = _find_everywhere(text, spots)
    sets = [spot for spot in spots if spot.label != MATERIALS[-1] and _is_data_set(text, spot)]
    # What a sentence that names no material is about, where the abstract names a single data set.
    nowhere = Spot(0, 0, "", MATERIALS[0], "")
    sole = sets[0] if len({spot.key for spot in sets}) == 1 else nowhere
    for start, end in some:
        sentence = text[start:end]
        inside = [
            spot._replace(start=spot.start - start, end=spot.end - start)
            for spot in spots
            if start <= spot.start < spot.end <= end
        ]
        metrics = [
            _name_with_rank(sentence, spot)
            for spot in inside
            if spot.label == METRIC and not (_NO_METRIC.fullmatch(spot.name) or is_unit(spot.name))
        ]
        for found in _MEASURE.finditer(sentence):
            metric = Spot(*found.span(), normal_form(found[0]).key, METRIC, found[0])
            if not any(map(metric.overlaps, inside)):
                metrics.append(metric)
        named = [spot for spot in inside if spot.label != METHOD]
        # Proper names that something is measured on and that no model marked.
        sure = [
            Spot(*match.span(1), normal_form(match[1]).key, MATERIALS[0], match[1])
            for match in _UNMARKED.finditer(_mask(sentence, [*named, *metrics]))
        ]
        rest = [one for one in inside if not any(two.start <= one.start < two.end for two in sure)]
        inside = [*rest, *sure]
        materials = sorted([spot for spot in inside if _is_material(sentence, spot)])
        chains = _chains(sentence, materials)
        unnamed = not any(_PROPER.search(material.name) for material in materials)
        elsewhere = nowhere if _SEVERAL.search(sentence) else sole
        seen: set[str] = set()
        for group in _groups(sentence, sorted(metrics), inside, chains):
            # A second value of one metric does not belong to what the sentence began with.
            first = group.metrics[0].key not in seen
            seen.add(group.metrics[0].key)
            measured_on = _find_materials(sentence, group, chains, named_before=first)
            if not measured_on and unnamed and len(set(group.metrics)) == len(group.numbers):
                measured_on = (elsewhere,) * len(group.numbers)
            if not measured_on:
                continue
            method = _method(text, start, group, inside, spots, evaluated)
            parts = group.numbers, group.metrics, measured_on
            for number, metric, material in zip(*parts, strict=True):
                places = [number.span(), metric[:2]]
                if material in materials:
                    places.append(material[:2])
                split = _split_of(sentence, metric, material if material in materials else nowhere)
                sign = -1 if (number["sign"] or "+") != "+" and not group.is_difference else 1
                value = sign * float(number["value"])
                unit = symbol_of((number["unit"] or number["shared"] or "").strip("\\ "))
                own = "" if method == material.key else method
                told = metric.key, material.key, own, value, unit, split, group.is_difference
                marks = tuple([start + offset for place in places for offset in place])
                yield Value(*told, start, end, marks)


def _find_everywhere(text: str, spots: Sequence[Spot]) -> list[Spot]:
    """The mentions, and other places of the same words; what is called a data set is no metric."""
    named: dict[str, Spot] = {}
    for spot in spots:
        is_data = spot.label == METRIC and _DATA_END.search(spot.name)
        named.setdefault(spot.name, spot._replace(label=MATERIALS[0]) if is_data else spot)
    found = [spot._replace(label=named[spot.name].label) for spot in spots]
    for name in sorted(named, key=len, reverse=True):
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            beside = text[max(start - 1, 0) : start] + text[end : end + 1]
            other = named[name]._replace(start=start, end=end)
            if not any(map(str.isalnum, beside)) and not any(map(other.overlaps, found)):
                found.append(other)
            start = text.find(name, end)
    return sorted(found)


def _name_with_rank(sentence: str, metric: Spot) -> Spot:
    """The metric with "top-5" or "balanced" before it, which makes it another one, whether or not a model knows that; without a unit."""
    unit, _, rest = metric.name.partition(" ")
    if rest and is_unit(unit):  # "0.9 ms latency"
        start = metric.end - len(rest)
        return Spot(start, metric.end, normal_form(rest).key, METRIC, rest)
    if not (found := _RANK.search(sentence[: metric.start])):
        return metric
    return metric._replace(key=normal_form(sentence[found.start() : metric.end]).key)


def _is_material(sentence: str, spot: Spot) -> bool:
    """Whether something may be measured on it: its name is one of a data set, or the words before it say so."""
    before, name = sentence[: spot.start], spot.name
    if spot.label not in MATERIALS or " and " in name:
        return False
    if _NO_DATA.search(name) or _MADE_OF.search(before):
        return False
    return bool(_DATA.search(name) or _ON.search(before) or _FOR.search(before))


def _is_data_set(text: str, spot: Spot) -> bool:
    """Whether a material is one data set with a name."""
    name = spot.name
    inner = " " not in name and re.search(r"(?<=\S)[A-Z0-9]", name)
    named = _DATA_END.search(name) or (inner and _ON.search(text[: spot.start]))
    proper = named and _PROPER.search(name) and not name.endswith("s")
    return bool(proper) and _is_material(text, spot)


def _mask(sentence: str, spots: Iterable[Spot]) -> str:
    """The sentence with a sign for each character of the mentions, which patterns can ask for."""
    signs = list(sentence)
    for spot in spots:
        signs[spot.start : spot.end] = "§" * (spot.end - spot.start)
    return "".join(signs)


def _chains(sentence: str, spots: Iterable[Spot]) -> list[list[Spot]]:
    """Mentions in the lists that the sentence makes of them."""
    chains: list[list[Spot]] = []
    for spot in spots:
        if chains and _LIST.fullmatch(sentence, chains[-1][-1].end, spot.start):
            chains[-1].append(spot)
        else:
            chains.append([spot])
    return chains


def _groups(
    sentence: str, metrics: Sequence[Spot], spots: Sequence[Spot], chains: Sequence[Sequence[Spot]]
) -> Iterator[_Group]:
    """Numbers that the words between tie to a metric, lists of them together."""
    listed = _chains(sentence, metrics)
    plain = _mask(sentence, [spot for chain in chains for spot in chain])
    for numbers in _number_lists(sentence, spots):
        start, end, count = numbers[0].start(), numbers[-1].end(), len(numbers)
        after = next((chain for chain in listed if chain[0].start >= end), None)
        before = next((chain for chain in reversed(listed) if chain[-1].end <= start), None)
        tie = before and _METRIC_BEFORE.fullmatch(plain, before[-1].end, start)
        followed = after and _METRIC_AFTER.fullmatch(sentence, end, after[0].start)
        marks = [number["unit"] or number["shared"] or "." in number["value"] for number in numbers]
        whole = not any(marks)
        # Whole numbers before plain words count them, "814 usefulness assessments" and "30 Hb outliers"; what stands
        # in a bracket with more, "12 (CRP reduced", and "PcbCO2 = 18.0 Torr" tell of something else.
        last = after[-1].end if after else end
        counts = after and (
            (whole and not (_PROPER.search(after[0].name) and _NO_UNIT.match(sentence, last)))
            or ("(" in sentence[end : after[0].start] and sentence[last : last + 1] != ")")
            or sentence[:start].endswith(("=", "= "))
        )
        if after and followed and _OF.fullmatch(sentence, end, after[0].start):
            # "6.7 % of the force", "95 % of the other's accuracy" are shares
            share = " the " in sentence[end : after[0].start]
            counts = counts or share or not _MEASURE.search(after[0].name)
        is_measure = before and _MEASURE.search(before[-1].name)
        # "F-score of 0.91 for the fields": the number is of what stands before.
        if before and is_measure and sentence[before[-1].end : start] in (" of ", " = ", "="):
            after = None
        # "for θ near 3° the conductivity is 18": the metric has its number behind it.
        if after and _VALUE_BEHIND.match(sentence, after[-1].end):
            after = None
        if after and followed and not counts:
            chosen = after if len(after) == count else after[:1]
        elif before and tie and _NO_UNIT.match(sentence, end):
            beaten = _OF_BEATEN.search(sentence[: before[0].start]) and not numbers[0]["sign"]
            # "the patients (53 with the drug)", "or deaths (0.95; 0.80 to 1.13)"
            bracket = not is_measure and sentence[before[-1].end : start] == " ("
            if beaten or (bracket and whole):
                continue
            chosen = before if len(before) == count else before[-1:]
        else:
            continue
        several = tuple(chosen) if len(chosen) == count else (chosen[0],) * count
        rises = tie and not (after and followed) and tie["change"]
        is_distance = not rises and _is_distance(sentence, numbers, chosen[0])
        begin, stop = min(start, chosen[0].start), max(end, chosen[-1].end)
        yield _Group(numbers, several, begin, stop, is_distance)


def _number_lists(sentence: str, spots: Sequence[Spot]) -> Iterator[tuple[re.Match[str], ...]]:
    listed: list[re.Match[str]] = []
    for number in NUMBER.finditer(sentence):
        before = sentence[: number.start()]
        named = any(spot.start <= number.start() < spot.end for spot in spots)
        in_range = _RANGE_BEFORE.search(before) and not _FROM.search(before)
        if named or in_range or _CONDITION.search(before):
            continue
        if listed and not _LIST.fullmatch(sentence, listed[-1].end(), number.start()):
            yield tuple(listed)
            listed = []
        listed.append(number)
    if listed:
        yield tuple(listed)


def _is_distance(sentence: str, numbers: Sequence[re.Match[str]], metric: Spot) -> bool:
    """Whether numbers are improvements rather than values, as far as signs and words near them tell."""
    start, end = numbers[0].start(), max(numbers[-1].end(), metric.end)
    if _CHANGE_AFTER.match(sentence, end):
        return True
    between = sentence[numbers[-1].end() : metric.start]
    is_gain = numbers[0]["gain"] and not _IS_DISTANCE.search(between)
    if _FROM.search(sentence[:start]) or _TO.search(sentence[:start]) or is_gain:
        return False
    # "outperforms models of one speaker (3.13 MOS)", "over a baseline (F1 0.58)" tell their value.
    beside = between or not sentence[metric.end : start].strip(" ,:=")
    plain = not numbers[0]["sign"] and not _IS_DISTANCE.search(f"{between} {metric.name}")
    if beside and plain and _OF_NAMED.search(sentence[: min(start, metric.start)]):
        return False
    # "relative response of 2.09" is the value of a ratio.
    follows = metric.end <= start
    words = re.sub(r"(?i)absolute|relative", "", metric.name) if follows else metric.name
    points = re.search(r"\bpoints?\b", words) or sentence[end:].lstrip().startswith("point")
    large = float(numbers[0]["value"]) >= _LEAST_POINTS
    first = metric.start if follows else start
    reached = [match.end() for match in _REACHED.finditer(sentence, 0, first)]
    # What comes before "achieves" tells of others: "outperforms it and achieves 94 %".
    begin = reached[-1] if reached else 0
    if points and large and reached and not _IS_DISTANCE.search(sentence, begin, start):
        words = ""  # "reaches 35.6 BLEU points" is a value
    elif points:
        return True
    if _IS.fullmatch(sentence, metric.end, start) and not numbers[0]["sign"]:
        return bool(_CHANGE_OF.search(sentence[: metric.start]) or _IS_DISTANCE.search(words))
    return bool(
        (numbers[0]["sign"] and not _SIGNED.search(sentence[:start]))
        or _IS_DISTANCE.search(words)
        or _IS_DISTANCE.search(between)
        or _GAINS_OF.search(sentence[:start])
        or (_OF.fullmatch(sentence, end, metric.start) and not large)
        or _DISTANCE_BEFORE.search(sentence[begin:first])
        or _DISTANCE_BEFORE.search(sentence[metric.end : start])
    )


def _find_materials(
    sentence: str, group: _Group, chains: Sequence[list[Spot]], *, named_before: bool
) -> tuple[Spot, ...]:
    """The material of each number; none where it is not clear which are meant."""
    count = len(group.numbers)
    paired = len(set(group.metrics)) == count

    def shared(chain: Sequence[Spot]) -> tuple[Spot, ...]:
        if len(chain) == count:
            return tuple(chain)
        return (chain[0],) * count if len(chain) == 1 and paired else ()

    before = [chain for chain in chains if chain[-1].end <= group.start]
    if before and _BRACKET.fullmatch(sentence, before[-1][-1].end, group.start):
        return shared(before[-1][-1:])
    within = [chain for chain in chains if group.start < chain[0].start < group.end]
    if within and not _ON_ANOTHER.match(sentence, group.numbers[-1].end()):
        return shared(within[0]) if len(within) == 1 else ()
    after = next((chain for chain in chains if chain[0].start >= group.end), None)
    between = sentence[group.end : after[0].start] if after else ""
    # Words lead to a material where no other number or clause stands between.
    if after and len(between) <= _FURTHEST and not _AWAY.search(between):
        named = _PROPER.search(after[0].name)
        return shared(after) if named or _DIRECTLY_ON.fullmatch(between) else ()
    if not named_before or len(before) != 1:
        return ()
    name = before[0][-1].name
    preceding = sentence[: before[0][0].start]
    is_data_set = _PROPER.search(name) and (_DATA.search(name) or _ON.search(preceding))
    return shared(before[0]) if is_data_set else ()


def _method(
    text: str,
    start: int,
    group: _Group,
    inside: Sequence[Spot],
    spots: Sequence[Spot],
    evaluated: Mapping[int, Sequence[Spot]],
) -> str:
    """Whose value it is: never what the sentence says is outperformed."""
    at = start + group.start
    compared = _COMPARED.search(text, start, at)
    others = compared and ("that" in compared[0] or not _REACHED.search(compared[1]))
    if others and not group.is_difference:
        return ""
    for spot in evaluated.get(start + group.metrics[0].start, ()):
        if not _BEATEN.search(text[start : spot.start]):
            return spot.key
    begin = start
    for spot in reversed([one for one in inside if one.label == METHOD and one.end <= group.start]):
        between = text[start + spot.end : at]
        if _BEATEN.search(text[start : start + spot.start]):
            continue
        if _REACHES.search(between) and not _OURS.search(between):
            return spot.key
        begin = start + spot.end
        break
    if _OURS.search(text, begin, at) and not _THEIRS.search(text, begin, at):
        return _own_method(text, spots)
    return ""


def _own_method(text: str, spots: Iterable[Spot]) -> str:
    """The method that the abstract proposes, where it gives it a name."""
    for spot in spots:
        titled = spot.start == 0 and text[spot.end : spot.end + 1] == ":"
        proposed = titled or _PROPOSED.search(text[max(spot.start - 120, 0) : spot.start])
        if proposed and spot.label == METHOD and re.search(r"(?<=\S)[A-Z0-9]", spot.name):
            return spot.key
    return ""


def _split_of(sentence: str, metric: Spot, material: Spot) -> str:
    """The part of the data that the value is of, as far as the words of and next to material and metric say."""
    around = [metric.name]
    if material.name:
        around.append(sentence[material.start : material.end + 18])
        around.append(sentence[max(material.start - 24, 0) : material.start])
    elif len(named := set(_SPLIT_SET.findall(sentence))) == 1:
        around += named
    found = next(filter(None, map(_SPLIT.search, around)), None)
    name = found[1].casefold() if found else ""
    return _SPLITS.get(name, name)
