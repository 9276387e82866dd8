"""LaTeX of bibliography files to plain Unicode text, without losing a character that is not markup.

Abstracts in BibTeX files are LaTeX only in part: publishers paste ``5%`` and ``C:\\temp`` unescaped. A LaTeX
parser (``pylatexenc``) takes the rest of such a line for a comment and drops commands it does not know, so this
decoder replaces what it knows and leaves the rest as it stands.
"""

from __future__ import annotations

import re
import unicodedata


def _table(pairs: str) -> dict[str, str]:
    """Commands and what they stand for, written in turn."""
    words = pairs.split()
    return dict(zip(words[::2], words[1::2], strict=True))


#: Accents and the combining characters that put them on a letter.
_COMBINING = _table(
    "' \u0301 ` \u0300 ^ \u0302 \" \u0308 ~ \u0303 = \u0304 . \u0307 u \u0306 v \u030c H \u030b t \u0361"
    " c \u0327 d \u0323 b \u0331 r \u030a k \u0328"
)
_GREEK = _table("""
    alpha α Alpha Α beta β Beta Β gamma γ Gamma Γ delta δ Delta Δ epsilon ε Epsilon Ε zeta ζ Zeta Ζ eta η Eta Η
    theta θ Theta Θ iota ι Iota Ι kappa κ Kappa Κ lambda λ Lambda Λ mu μ Mu Μ nu ν Nu Ν xi ξ Xi Ξ omicron ο
    Omicron Ο pi π Pi Π rho ρ Rho Ρ sigma σ Sigma Σ tau τ Tau Τ upsilon υ Upsilon Υ phi φ Phi Φ chi χ Chi Χ
    psi ψ Psi Ψ omega ω Omega Ω
""")
#: Letters of words: the space behind such a command is not a space of the text.
_LETTERS = _table("""
    ss ß ae æ AE Æ oe œ OE Œ o ø O Ø aa å AA Å l ł L Ł i ı j ȷ dh ð DH Ð th þ TH Þ dj đ DJ Đ ng ŋ NG Ŋ
""")
_SYMBOLS = (
    _GREEK
    | {f"text{name}": letter for name, letter in _GREEK.items()}
    | _table(r"""
    S § P ¶ dag † ddag ‡ pounds £ copyright © textregistered ® texttrademark ™ textdegree ° degree °
    textmu µ textohm Ω textonehalf ½ textonequarter ¼ texteuro € euro € textendash – textemdash —
    textquoteright ’ textquoteleft ‘ textquotedblleft “ textquotedblright ” textquotesingle ' textquotedbl "
    textbackslash \ textasciitilde ~ textasciicircum ^ textless < textgreater > textbar | textunderscore _
    textbullet • textdollar $ textpercent % textbraceleft { textbraceright } textellipsis … dots … ldots …
    cdots ⋯ textperiodcentered · lq ‘ rq ’ times × cdot · pm ± mp ∓ div ÷ ast ∗ circ ∘ bullet •
    le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ neq ≠ ne ≠ approx ≈ sim ∼ simeq ≃ equiv ≡ propto ∝
    ll ≪ gg ≫ lt < gt > to → rightarrow → leftarrow ← leftrightarrow ↔ mapsto ↦ Rightarrow ⇒ Leftarrow ⇐
    Leftrightarrow ⇔ uparrow ↑ downarrow ↓ infty ∞ partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ in ∈ notin ∉
    subset ⊂ subseteq ⊆ cup ∪ cap ∩ emptyset ∅ forall ∀ exists ∃ wedge ∧ vee ∨ neg ¬ oplus ⊕ otimes ⊗
    perp ⊥ parallel ∥ langle ⟨ rangle ⟩ ell ℓ hbar ℏ prime ′ dagger † star ⋆ lbrace { rbrace }
    varepsilon ε vartheta ϑ varphi φ varrho ϱ varsigma ς varpi ϖ
    log log ln ln exp exp sin sin cos cos tan tan min min max max arg arg lim lim det det
""")
)
#: Commands that only change the look; what they apply to stays.
_LOOK = re.compile(
    "emph|text(?:it|bf|sc|rm|tt|sf|sl|up|md|normal|superscript|subscript|style)?|u(?:nder)?line|[mh]box|url|path"
    "|math(?:rm|it|bf|sf|tt|cal|bb|normal)|boldsymbol|operatorname|ensuremath|enquote|em|it(?:shape)?|bf(?:series)?"
    "|sc(?:shape)?|(?:rm|tt)(?:family)?|sl|sf|small|protect|relax|displaystyle|left|right|[bB]ig|big[lr]"
)
_SPACES = {",": "\u2009", ";": " ", ":": " ", " ": " ", "\n": " ", "\\": " "}

_TOKEN = re.compile(
    r"""
      (?P<math>(?<!\\)\$(?=\S)(?:\\.|[^$\\]){1,500}?(?<=\S)\$(?![0-9])|\\\((?:(?!\\\)).){1,500}\\\))
    | \\(?P<accent>["'`^~=.]|[uvHtcdbrk](?![A-Za-z]))\s*
        (?:\{\s*(?P<braced>\\[ij](?![A-Za-z])|[^\W\d_]{0,2})\s*\}|(?P<bare>\\[ij](?![A-Za-z])|[^\W\d_]))
    | \\(?P<name>[A-Za-z]+)(?P<space>\s*)(?P<empty>\{\})?
    | \\(?P<escaped>[&%$\#_{}])
    | \\(?P<spacing>[,;:\ \n\\!\-/@])
    | (?P<brace>[{}])
    | (?P<tie>(?<=[^\s/~])~(?=[^\s~]))
    | (?P<dash>(?<!-)-{2,3}(?!-))
    | (?P<quote>``|'')
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"--": "–", "---": "—", "``": "“", "''": "”"}
_ARGUMENTS = re.compile(r"(?:\{(?:[^{}]|\{[^{}]*\})*\})+")
_LONE_SCRIPT = re.compile(r"[_^](?:\{[^{}]*\}|.)")
_LONG_SCRIPT = re.compile(r"(?<!\\)[_^]\{[^{}]{2,}\}")
_HELD = ("\ue000", "\ue001")
_MARKUP = re.compile(r"[\\{}$~]|--|``|''")


def decode_latex(text: str) -> str:
    r"""Accents, symbols, dashes and quotes as Unicode; braces and changes of font are dropped.

    Formulas that need nothing but symbols lose their dollars, others are left as they are. Commands that are
    not known stay with their arguments.

    >>> decode_latex(r"{S}ch\"{o}lkopf's 5% of $\alpha$-helices, $\frac{1}{n}$")
    "Schölkopf's 5% of α-helices, $\\frac{1}{n}$"
    """
    if not _MARKUP.search(text):
        return text
    pieces: list[str] = []
    position = 0
    while found := _TOKEN.search(text, position):
        pieces.append(text[position : found.start()])
        kind, position = found.lastgroup, found.end()
        if found["math"]:
            piece = _formula(found["math"])
        elif found["accent"]:
            base = found["braced"] if found["braced"] is not None else found["bare"]
            base = base.removeprefix("\\") or "\u00a0"
            marked = base[0] + _COMBINING[found["accent"]] + base[1:]
            piece = unicodedata.normalize("NFC", marked)
        elif name := found["name"]:
            piece = _LETTERS.get(name, "")
            if name in _SYMBOLS:
                piece = _SYMBOLS[name] + found["space"]
            elif name not in _LETTERS and not _LOOK.fullmatch(name):
                # A command that is not known stays with its arguments, in which nothing is replaced either.
                arguments = _ARGUMENTS.match(text, position)
                position = arguments.end() if arguments else position
                piece = text[found.start() : position]
        elif kind == "escaped":
            piece = found["escaped"]
        elif kind == "spacing":
            piece = _SPACES.get(found["spacing"], "")
        else:
            piece = "\u00a0" if kind == "tie" else _SIGNS.get(found[0], "")
        pieces.append(piece)
    pieces.append(text[position:])
    return "".join(pieces)


def _formula(math: str) -> str:
    """A formula of symbols only as text; any other as it stands."""
    inner = math[1:-1] if math[0] == "$" else math[2:-2]
    if _LONE_SCRIPT.fullmatch(inner):
        return decode_latex(inner[1:])
    if any(sign in inner for sign in _HELD) or "$" in inner.replace("\\$", ""):
        return math
    # A script of several characters keeps its braces: 10^{-3} is not 10^-3.
    opening, closing = _HELD
    held = _LONG_SCRIPT.sub(lambda part: f"{part[0][0]}{opening}{part[0][2:-1]}{closing}", inner)
    plain = decode_latex(held)
    if "\\" in plain:
        return math
    return plain.replace(opening, "{").replace(closing, "}")
