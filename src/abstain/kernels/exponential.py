"""A branch-free exponential that the compiler can run four numbers at a time.

The C library's ``exp`` is a call per number, which keeps the row pass from using vector instructions.
"""

import math

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

LOG2_E = 1 / math.log(2)
LN2_HIGH = 0.693147180369123816490  # the top bits of ln 2: k * LN2_HIGH is exact for the k met here
LN2_LOW = 1.90821492927058770002e-10
ROUND = 1.5 * 2.0**52  # adding and subtracting it rounds to the nearest whole number
LOWEST = -708.0  # below it the result would be subnormal
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13 = (1 / math.factorial(k) for k in range(2, 14))


@intrinsic
def _bits(typingctx, number):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The 64 bits of a float as an integer."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), build


@intrinsic
def _float(typingctx, bits):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The float that 64 bits spell."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), build


@njit(nogil=True, cache=True, fastmath={"contract"})
def exp_nonpositive(x: float) -> float:
    """e**x for x <= 0 to within two units in the last place; below -708 it stays at e**-708 (about 3e-308)."""
    x = x if x > LOWEST else LOWEST
    shifted = x * LOG2_E + ROUND
    k = shifted - ROUND
    r = (x - k * LN2_HIGH) - k * LN2_LOW  # |r| <= ln(2)/2, so thirteen Taylor terms are exact to rounding
    tail = C11 + r * (C12 + r * C13)
    tail = C8 + r * (C9 + r * (C10 + r * tail))
    tail = C5 + r * (C6 + r * (C7 + r * tail))
    tail = C2 + r * (C3 + r * (C4 + r * tail))
    return (1.0 + (r + r * r * tail)) * _float((_bits(shifted) + 1023) << 52)
