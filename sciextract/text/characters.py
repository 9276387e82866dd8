"""Character classes (bodies of regular-expression sets) that tokeniser, splitter and display share.

Word characters are named by what they are not, so that letters and combining marks of every script
stay inside words without tables of Unicode categories.
"""

from __future__ import annotations

# C0 and C1 controls, zero-width space, bidirectional marks and overrides, invisible operators, byte order mark.
CONTROL = "\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
BLANK = r"\s" + CONTROL
SUPERSCRIPT = "⁰¹²³⁴-⁹⁺⁻"
IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# The prime (U+2032 to U+2037) belongs to the word: 5′-UTR. Lone surrogates stand alone.
SYMBOL = (
    r"!-/:-@\[-\^`{-~"
    "¡-©«¬®-±´¶-¸»¿×÷"
    "\u2010-\u2027\u2030\u2031\u2038-\u205e\u207c-\u207e\u208a-\u208e\u20a0-\u20cf\u2190-\u2bff"
    "\u2e00-\u2e7f\u3001-\u3003\u3008-\u3020\u3030\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff0f"
    "\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ud800-\udfff\U0001f000-\U0001faff"
)
WORD = f"^{BLANK}{SYMBOL}{SUPERSCRIPT}{IDEOGRAPH}"
