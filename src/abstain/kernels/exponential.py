"""A branch-free exponential, of one number or of sixteen side by side.

The C library's ``exp`` is a call per number, which keeps the row pass from using vector instructions.
"""

import math

from abstain.kernels.compiled import compiled
from abstain.kernels.lanes import scaled_by_bits, times_plus

LOG2_E = 1 / math.log(2)  # nearer to the number itself than most are: off by 2^-56 of it
ROUND = 1.5 * 2.0**52  # adding and subtracting it rounds to the nearest whole number, which its last bits spell
LOWEST = -1021.0  # below it the result would be subnormal
# (2^r − 1)/r interpolated at the Chebyshev nodes of |r| <= 1/2: 2^r is off by less than 2^-55 of itself
C0, C1, C2, C3 = 0.6931471805599453, 0.24022650695910097, 0.0555041086648216, 0.009618129107606888
C4, C5, C6 = 0.0013333558146416936, 0.0001540353044173605, 1.525273382983612e-05
C7, C8, C9, C10 = 1.321544258792169e-06, 1.0178062445845774e-07, 7.072585949269223e-09, 4.4549605981865186e-10


@compiled(fastmath={"contract"}, inline="always")
def exp2_of_product(x, rate):  # type: ignore[no-untyped-def]
    """2**(x · rate) to within 1.2 units in the last place, for a product from -1021 to 0, which is not rounded."""
    shifted = x * rate + ROUND
    r = times_plus(x, rate, ROUND - shifted)
    square = r * r  # two short sums: each step of a long one would wait for the one before
    even = C0 + square * (C2 + square * (C4 + square * (C6 + square * (C8 + square * C10))))
    odd = C1 + square * (C3 + square * (C5 + square * (C7 + square * C9)))
    return scaled_by_bits(1.0 + r * (even + r * odd), shifted)
