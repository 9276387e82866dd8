"""The interval of a share."""

from __future__ import annotations

import math

Z_95 = 1.959964
"""Standard errors of a normal distribution on either side of 95 % of it."""


def wilson(found: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, Journal of the American Statistical Association 22, 1927).

    >>> [round(end, 3) for end in wilson(45, 50)]
    [0.786, 0.957]
    """
    share, weight = found / total, Z_95**2 / total
    middle = (share + weight / 2) / (1 + weight)
    reach = Z_95 * math.sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    return max(0.0, middle - reach), min(1.0, middle + reach)
