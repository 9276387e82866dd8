"""Small raised letters behind a mention: its type in capitals, its clusters in lower case."""

from __future__ import annotations

from functools import lru_cache

from sciextract.text.visible import visible

_CAPITALS = str.maketrans("ABDEGHIJKLMNOPRTUVW0123456789", "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ⁰¹²³⁴⁵⁶⁷⁸⁹")
_SMALL = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")


@lru_cache(maxsize=256)
def raised_key(key: str) -> str:
    """The key of a type as a raised capital, as a plain one where Unicode has none.

    >>> raised_key("m") + raised_key("q")
    'ᴹQ'
    """
    capital = key.upper()
    return visible(capital if len(capital) == len(key) else key).translate(_CAPITALS)


@lru_cache(maxsize=1024)
def raised_clusters(letters: str) -> str:
    """Letters of clusters, raised where Unicode has such.

    >>> raised_clusters("ab")
    'ᵃᵇ'
    """
    return visible(letters).translate(_SMALL)
