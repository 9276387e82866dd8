"""What is one token: a line per rule, `|` between tokens."""

from __future__ import annotations

import pytest

from sciextract.text.tokenizer import tokenize


def tokens_of(text: str) -> str:
    return "|".join(span.of(text) for span in tokenize(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("state-of-the-art n-gram and/or", "state-of-the-art|n-gram|and/or"),
        ("(LSTM)-based (a) [b] {c}", "(|LSTM|)|-|based|(|a|)|[|b|]|{|c|}"),
        ("pre- and post-hoc", "pre-|and|post-hoc"),
        ("one--two three—four 3–5", "one|--|two|three|—|four|3–5"),
        ("Wait... what?! No.", "Wait|...|what|?|!|No|."),
    ],
)
def test_compounds_stay_whole_and_punctuation_stands_apart(text: str, expected: str) -> None:
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("isn't can't cannot", "is|n't|ca|n't|can|not"),
        ("is n't ISN'T isn’t", "is|n't|IS|N'T|is|n’t"),
        ("IBM's 3D's users' it's", "IBM|'s|3D|'s|users|'|it|'s"),
        ("we're I'm they'll he'd you've", "we|'re|I|'m|they|'ll|he|'d|you|'ve"),
        ("O'Brien D’Souza", "O'Brien|D’Souza"),
        ("'new' \"old\" ``ptb''", "'|new|'|\"|old|\"|``|ptb|''"),
    ],
)
def test_contractions_possessives_and_quotes(text: str, expected: str) -> None:
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.5 12,000 .05 p<.05 1e-5", "3.5|12,000|.05|p|<|.05|1e-5"),
        ("[3,4] [12] 97,5 %", "[|3|,|4|]|[|12|]|97,5|%"),
        ("-0.5 (−3) 3-5 x-5", "-0.5|(|−3|)|3-5|x-5"),
        ("95% 37°C 5 °C 40mg 2×2 3:1", "95|%|37|°C|5|°C|40mg|2×2|3:1"),
        ("m²/s 10⁻³ s⁻¹ ¹³C", "m²/s|10⁻³|s⁻¹|¹³C"),
        ("10^-5 kg·m−1 1.2±0.3", "10^-5|kg·m−1|1.2|±|0.3"),
        ("version-2 GO:0008150 arXiv:2101.01234", "version-2|GO:0008150|arXiv:2101.01234"),
    ],
)
def test_numbers_and_units(text: str, expected: str) -> None:
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2,4-dinitrophenol", "2,4-dinitrophenol"),
        ("N,N-dimethylformamide", "N,N-dimethylformamide"),
        ("2,2'-bipyridine", "2,2'-bipyridine"),
        ("1α,25-dihydroxyvitamin", "1α,25-dihydroxyvitamin"),
        ("benzene-1,4-diol", "benzene-1,4-diol"),
        ("Ca2+ Na+/K+-ATPase CD4+", "Ca2+|Na+/K+-ATPase|CD4+"),
        ("5'-UTR 3' 5′-cap", "5'-UTR|3'|5′-cap"),
        ("β-catenin TNF-α μm", "β-catenin|TNF-α|μm"),
        ("Nd:YAG ZnO:Al FeCl3·6H2O", "Nd:YAG|ZnO:Al|FeCl3·6H2O"),
        ("C++ C# A* #P-hard", "C++|C#|A*|#P-hard"),
    ],
)
def test_names_of_chemistry_biology_and_computing(text: str, expected: str) -> None:
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(https://a.org/b_c?d=1).", "(|https://a.org/b_c?d=1|)|."),
        ("doi:10.1000/S01(20)30-5.", "doi|:|10.1000/S01(20)30-5|."),
        ("a.b-c@uni-x.edu, d", "a.b-c@uni-x.edu|,|d"),
        ("github.com/a/b.", "github.com/a/b|."),
    ],
)
def test_addresses(text: str, expected: str) -> None:
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lee et al. in Fig. 2 and Fig.2A", "Lee|et|al.|in|Fig.|2|and|Fig.|2A"),
        ("e.g., i.e. U.S. Ph.D. i.v.", "e.g.|,|i.e.|U.S.|Ph.D.|i.v."),
        ("No. 5 says no. We", "No.|5|says|no|.|We"),
        ("E. coli by J. K. Lee", "E.|coli|by|J.|K.|Lee"),
        ("vitamin C. The type B. Patients", "vitamin|C|.|The|type|B|.|Patients"),
        ("used.3 We", "used|.|3|We"),
        ("used.³ method¹² We", "used|.|³|method|¹²|We"),
        ("etc.. So", "etc.|.|So"),
        ("by MS. and IE. In", "by|MS|.|and|IE|.|In"),
    ],
)
def test_full_stops(text: str, expected: str) -> None:
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nai\u0308ve cafe\u0301", "nai\u0308ve|cafe\u0301"),
        ("ok 👩\u200d🔬 👍🏽", "ok|👩\u200d🔬|👍🏽"),
        ("钢的", "钢|的"),
        ("a\u00a0b\u200bc\ufeffd\u202ee", "a|b|c|d|e"),
        ("a\x00b\x1b[31mc", "a|b|[|31mc"),
        ("x\ud800y", "x|\ud800|y"),
        ("कार्य", "कार्य"),
    ],
)
def test_unicode(text: str, expected: str) -> None:
    assert tokens_of(text) == expected


@pytest.mark.parametrize("text", ["", " ", "\r\n\t\x00\u2028"])
def test_texts_without_tokens(text: str) -> None:
    assert tokenize(text) == ()
