"""A branch-free exponential, of one number or of sixteen side by side.

The C library's ``exp`` is a call per number, which keeps the row pass from using vector instructions.
"""

import math

from abstain.kernels.compiled import compiled
from abstain.kernels.lanes import larger, scaled_by_bits

LOG2_E = 1 / math.log(2)
LN2_HIGH = 0.693147180369123816490  # the top bits of ln 2: k * LN2_HIGH is exact for the k met here
LN2_LOW = 1.90821492927058770002e-10
ROUND = 1.5 * 2.0**52  # adding and subtracting it rounds to the nearest whole number, which its last bits spell
LOWEST = -708.0  # below it the result would be subnormal
# (e^r − 1 − r)/r² interpolated at the Chebyshev nodes of |r| <= ln(2)/2: e^r is off by less than 2^-55 of itself
C0, C1, C2, C3, C4 = (
    0.5000000000000001,
    0.16666666666666669,
    0.041666666666624164,
    0.008333333333330065,
    0.001388888891719689,
)
C5, C6, C7 = 0.00019841269863040675, 2.480152132210459e-05, 2.7557268480106926e-06
C8, C9 = 2.762007600563138e-07, 2.5100375929185925e-08


@compiled(fastmath={"contract"}, inline="always")
def exp_nonpositive(x):  # type: ignore[no-untyped-def]
    """e**x for x <= 0 to within two units in the last place; below -708 it stays at e**-708 (about 3e-308)."""
    x = larger(x, LOWEST)
    shifted = x * LOG2_E + ROUND
    k = shifted - ROUND
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    q = C5 + r * (C6 + r * (C7 + r * (C8 + r * C9)))
    q = C0 + r * (C1 + r * (C2 + r * (C3 + r * (C4 + r * q))))
    return scaled_by_bits(1.0 + (r + r * r * q), shifted)
