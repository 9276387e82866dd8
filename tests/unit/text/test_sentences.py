"""Where sentences end: `‖` marks each expected end inside the text."""

from __future__ import annotations

import pytest

from sciextract.text.analyse import split_sentences
from sciextract.text.tokenizer import tokenize


def split(marked: str) -> str:
    """The text without marks, split and marked again."""
    text = marked.replace("‖", "")
    tokens = tokenize(text)
    starts = [tokens[s.token_start].char_start for s in split_sentences(text, tokens)]
    for start in reversed(starts[1:]):
        text = text[:start] + "‖" + text[start:]
    return text


@pytest.mark.parametrize(
    "marked",
    [
        "Lee et al. [12] and Lee et al. (2010) agree. ‖We do, too.",
        "This follows Lee et al. ‖We extend it.",
        "See Fig. 2 and Figs. 3 and 4. ‖Eq. 5 holds; cf. Sec. 4 and App. A for it.",
        "It took approx. 3.5 hrs. ‖Then it stopped.",
        "We waited 5 min. ‖Cells were lysed.",
        "Doses, e.g. 5 mg i.v. in mice, i.e. low ones, were given i.v. ‖Patients slept.",
        "Made by Difco Inc. in the U.S. and sold there. ‖The U.S. Army uses it.",
        "We use cars, bikes, etc. in tests. ‖We use buses, etc. ‖Trains are out.",
        "E. coli grew. ‖S. aureus did not. ‖Vitamin C. ‖The end.",
        "The answer was no. ‖No. 5 was yes.",
        "We compare A vs. B. ‖It wins.",
        "X. campestris pv. Vesicatoria and S. enterica ser. Typhimurium grew at Ser. ‖The end.",
    ],
)
def test_abbreviations(marked: str) -> None:
    assert split(marked) == marked


@pytest.mark.parametrize(
    "marked",
    [
        "It was lost. ‖β-Catenin was not. ‖mRNA rose. ‖p53 fell. ‖n-grams help. ‖α is 5.",
        "It rose. ‖µ-opioid receptors fell. ‖∆ψ fell. ‖≥5 cells died. ‖~50% did. ‖< 5 K.",
        "It rose. ‖© 2019 Elsevier B.V. All rights reserved.‖© 2020 The Author.",
        "It was 3.5 wide. ‖12 of 14 agreed. ‖(2) Rather than that, we rest.",
        "See https://a.org/b. ‖We thank all.",
        "Is it so? ‖Yes! ‖So it is ... ‖Or not.",
        'Is "How many died?" a question? ‖"Yes." ‖We agree.',
        "It fell (P < 0.05. See Table 2). ‖(All of it fell.) ‖We stop.",
        "All were well. (P = 0.02) ‖Nobody left.",
        "The increase was seen.‖We stop. ‖METHODS: We count.‖RESULTS: It is so.",
        "None. ‖STUDY DESIGN: A cohort. ‖AUTHORS' CONCLUSIONS: None.",
        "WHAT IS KNOWN?: Falls are common. ‖WHAT IS NEW?: Rest helps.",
        "There are two steps. ‖1. Read it. ‖2. Write it.",
        "this is lower. ‖and so is this. ‖12 too.",
    ],
)
def test_starts_and_ends(marked: str) -> None:
    assert split(marked) == marked


@pytest.mark.parametrize(
    "marked",
    [
        "Mice were used.3 ‖We used rats.4,5 ‖They ran.7-9 ‖It ended.",
        "Mice were used.³ ‖We used rats.¹² ‖They ran.",
        "It was shown. [12] ‖We agree [3]. ‖They do not.",
        'It is "so."3 ‖We agree.',
    ],
)
def test_citations_stay_with_the_sentence_before(marked: str) -> None:
    assert split(marked) == marked


@pytest.mark.parametrize(
    "marked",
    [
        "Deep parsing of text\n‖We parse text. ‖It works.",
        "Is it deep? A study\n‖We parse text.",
        "deep parsing\n‖we parse text. ‖it works.",
        "Deep parsing\r\n‖β-sheets are parsed.",
        "First paragraph\n\n‖Second paragraph",
        "We present a long study of deep\nparsing and of the Penn\nTreebank, which was read by\nmany.",
        "Deep parsing\n‖We present a long study of deep parsing and\nof the Penn Treebank.",
    ],
)
def test_line_ends(marked: str) -> None:
    assert split(marked) == marked


def test_a_text_without_tokens_has_no_sentences() -> None:
    assert split_sentences(" \n", ()) == ()


@pytest.mark.parametrize("text", ["." + " (" * 3000, "(" * 3000 + "a. B", ". [1] " * 3000])
def test_deep_nesting_is_no_problem(text: str) -> None:
    tokens = tokenize(text)
    assert split_sentences(text, tokens)[-1].token_end == len(tokens)
