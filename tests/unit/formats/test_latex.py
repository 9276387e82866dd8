"""LaTeX markup becomes text; what is not a markup stays, whatever it looks like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.formats.latex import decode_latex


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"Sch\"{o}lkopf, G\"odel, {\'E}cole", "Schölkopf, Gödel, École"),
        (
            r"{\'\i} \^\i \c{c} \c c \v{s} Erd{\H o}s \r{a} \u{g} \k{a} \.z",
            "í î ç ç š Erdős å ğ ą ż",
        ),
        (r"{\L}\'od\'z Stra\ss e Stra{\ss}e \AA{}s \O{}re", "Łódź Straße Straße Ås Øre"),
        (r"\textit{E. coli} and {\em B. subtilis}, \emph{now}", "E. coli and B. subtilis, now"),
        (r"{{DNA}}--protein ``q'' a---b", "DNA–protein “q” a—b"),
        (r"95\% \& 5\_000 \$ \# \{x\}", "95% & 5_000 $ # {x}"),
        (r"$\alpha$-helix, \beta{} sheets, $\mu$m, \textbeta", "α-helix, β sheets, μm, β"),
        (
            r"$p < 0.05$, $O(n^{2})$, $10^{-3}$, $x_i \leq \infty$",
            "p < 0.05, O(n^2), 10^{-3}, x_i ≤ ∞",
        ),
        (r"H$_2$O, m$^{2}$, $^{13}$C, 10\textsuperscript{5}", "H2O, m2, 13C, 105"),
        (r"Fig.~2 of~us", "Fig.\u00a02 of\u00a0us"),
        (r"one\\two \- three\ four", "one two  three four"),
        (r"\(x+y\)", "x+y"),
    ],
)
def test_markup_becomes_text(latex: str, text: str) -> None:
    assert decode_latex(latex) == text


@pytest.mark.parametrize(
    "text",
    [
        "no markup at all",
        "5% of all, and the rest of the line",
        "costs $5 and $10, or $5-$10",
        r"$\frac{a}{b}$ and $\mathcal{O}(\sqrt{n})$ stay",
        r"C:\temp\new",
        r"\mycommand{with {an} argument}[1] stays",
        "about ~5 of http://example.org/~user",
        "a' b` snake_case x^y [12] & # --flag-- ----",
        "\x1b[31m\x00 α é e\u0301 🧬 \u2028",
    ],
)
def test_what_is_no_markup_stays(text: str) -> None:
    assert decode_latex(text).replace("–", "--") == text


@given(st.text(alphabet=st.characters(exclude_characters="\\{}$~-`'"), max_size=60))
def test_text_without_markup_characters_is_never_changed(text: str) -> None:
    assert decode_latex(text) == text


@given(st.text(alphabet="\\{}$~-`'\"^_ abc\n%&ic2", max_size=60))
def test_nothing_raises_and_words_survive(text: str) -> None:
    assert decode_latex(text).count("%") == text.count("%")


@pytest.mark.parametrize("piece", ["\\", "$", "{", "$a", "\\(", "{\\x", "~", "\\x{"])
def test_long_broken_markup_is_quick(piece: str) -> None:
    assert decode_latex(piece * 20_000) is not None
