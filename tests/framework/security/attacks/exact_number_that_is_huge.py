"""Exact numbers whose arithmetic takes gigabytes: an exponent of a billion, a denominator of a million digits."""

from decimal import Decimal
from fractions import Fraction


def softmax(x):
    return [Decimal("1E+999999999"), Fraction(1, 10**1_000_000), range(10**5000), Decimal("sNaN"), {Decimal("1E+99999"): 1}]
