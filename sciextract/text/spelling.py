"""British and American spelling as one: each word in its American form, by rules and their exceptions."""

from __future__ import annotations

import re
from functools import lru_cache

# localise, optimisation. The stems are of words that end so in both: exercise, revise, promise, surprise, expertise ...
_ISE = re.compile(
    r"(.{2,}[^\Waeouwy\d])(?<!prom)(?<![^i][cv])(?<!^prem)(?<!^dem)(?<!chem)(?<!pr)(?<!nr)(?<!pert)(?<!vert)(?<!treat)(?<!mort)"
    r"(?<!pract)(?<!chast)(?<!parad)(?<!chand)(?<!ranch)(?<!desp)(?<!surm)(?<!^val)(?<!^den)is"
    r"(e|ed|er|ers|es|ing|able|ability|ation|ations|ational)$"
)
_YSE = re.compile(r"([aeiou]l)ys(e|ed|er|ers|ing)$")
_DOUBLED_L = re.compile(
    r"(model|label|travel|signal|tunnel|level|cancel|channel|fuel|counsel|panel|total|unravel|dial|funnel|equal|spiral|initial|marvel|pencil)l"
    r"(ed|ing|ings|er|ers|or|ors)$"
)
_FOCUSSED = re.compile(r"(focus|bias)s(ed|es|ing)$")
_ENDINGS = ((_ISE, "iz"), (_YSE, "yz"), (_DOUBLED_L, ""), (_FOCUSSED, ""))

_OUR = "behavi col tum fav flav harb hon hum lab neighb rum sav vap vig rig arm endeav splend demean ferv malod"
# Parts of words, wherever they stand; a hat marks the beginning of a word, a dollar sign its end.
_PAIRS = """
^odour:odor haem:hem aemi:emi anaesth:anesth paraesth:paresth synaesth:synesth paed:ped gynaec:gynec aetiol:etiol
^oedem:edem ooedem:oedem lymphoedem:lymphedem myxoedem:myxedem ^oesoph:esoph ooesoph:oesoph ^oestr:estr ooestr:oestr
stilboestr:stilbestr inyloestr:inylestr anoestr:anestr foet:fet rrhoe:rrhe pnoe:pne faec:fec caec:cec coeliac:celiac amoeb:ameb
palaeo:paleo archaeo:archeo homoeo:homeo leucocyt:leukocyt leucopen:leukopen leucaem:leukem chimaer:chimer
mediaev:mediev phaeochr:pheochr caesarea:cesarea caesaria:cesaria caesium:cesium aluminium:aluminum sulph:sulf manoeuvre:maneuver
manoeuvr:maneuver centred:centered centre:center centring:centering fibre:fiber theatre:theater calibre:caliber litre:liter
titre$:titer metre$:meter metres$:meters marvellous:marvelous ^lustre:luster ^grey$:gray ^greyscale:grayscale ^greylevel:graylevel
artefact:artifact judgement:judgment acknowledgement:acknowledgment ^ageing:aging programme$:program
defence:defense offence:offense pretence:pretense licence:license ^practis:practic mould:mold plough:plow
sceptic:skeptic ^tyre$:tire sizeable:sizable calliper:caliper yoghurt:yogurt mollusc$:mollusk aeroplane:airplane
catalogue$:catalog analogue$:analog dialogue$:dialog homologue$:homolog fulfil$:fulfill fulfilment:fulfillment
enrol$:enroll enrolment:enrollment instalment:installment skilful:skillful distil$:distill
"""
_PARTS = {f"{stem}our": f"{stem}or" for stem in _OUR.split()}
_PARTS |= dict(pair.split(":") for pair in _PAIRS.split())
_PART = re.compile("|".join(_PARTS))
_LONGEST = 60


@lru_cache(maxsize=1 << 16)
def american(word: str) -> str:
    """A word in lower case and in the singular as Americans spell it; one that both spell alike stays.

    >>> [american(word) for word in ("localisation", "tumour", "hypoglycaemia", "modelling", "exercise", "analyse")]
    ['localization', 'tumor', 'hypoglycemia', 'modeling', 'exercise', 'analyze']
    """
    if len(word) > _LONGEST:  # no word; the endings would take minutes
        return word
    word = _PART.sub(_replace_part, word)
    for ending, middle in _ENDINGS:
        if found := ending.search(word):
            word = word[: found.end(1)] + middle + found[2]
    return word


def _replace_part(found: re.Match[str]) -> str:
    written = (f"{hat}{found[0]}{dollar}" for hat in ("", "^") for dollar in ("", "$"))
    return next(_PARTS[part] for part in written if part in _PARTS)
