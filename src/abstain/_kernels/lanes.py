"""Sixteen numbers side by side, float64 or float32, as one value in a compiled function; loads, stores and 2^x of them.

The compiler maps them to the vectors of the machine, so that a loop runs at full width everywhere, with the same order
of sums. A scalar operand is repeated sixteen times. Comparisons are exact in both types, and twice as fast in float32.
"""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array

from abstain._kernels.compilation import compiled

LANES = 16  # two vectors of the widest machines, so that one is computed while the other waits
VECTORS = {
    types.float32: ir.VectorType(ir.FloatType(), LANES),
    types.float64: ir.VectorType(ir.DoubleType(), LANES),
}
VECTOR = VECTORS[types.float64]


class Lanes(types.Type):
    """The type of sixteen numbers of a kind side by side."""

    def __init__(self, kind: Any) -> None:
        super().__init__(name=f"Lanes({kind})")
        self.kind = kind


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """A vector of LLVM."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTORS[kind.kind])


lanes = Lanes(types.float64)


def _common(kinds: Any) -> Any:
    """The type of the result of numbers and lanes: lanes if there are any, else float64."""
    return next((kind for kind in kinds if isinstance(kind, Lanes)), types.float64)


def _alike(context: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    wanted = _common(kinds)
    if wanted == types.float64:
        return [context.cast(builder, value, kind, wanted) for kind, value in zip(kinds, values, strict=True)]
    return [_filled(context, builder, wanted, kind, value) for kind, value in zip(kinds, values, strict=True)]


def _filled(context: Any, builder: Any, wanted: Any, kind: Any, value: Any) -> Any:
    if kind == wanted:
        return value
    first = ir.Constant(VECTORS[wanted.kind], ir.Undefined)
    first = builder.insert_element(first, context.cast(builder, value, kind, wanted.kind), ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, shuffle_mask([0] * LANES))


def shuffle_mask(positions: Iterable[int]) -> Any:
    """The indices that a shuffle of two vectors reads."""
    listed = list(positions)
    return ir.Constant(ir.VectorType(ir.IntType(32), len(listed)), listed)


def _elementwise(number: int, make: Callable[[Any, list[Any]], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The typing and the code of a lane-wise function of ``number`` operands."""

    def result(args: Any) -> Any:
        return signature(_common(args), *args) if len(args) == number else None

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return make(builder, _alike(context, builder, sig.args, args))

    return result, build


def _define_operator(symbol: Callable[[Any, Any], Any], instruction: str) -> None:
    result, build = _elementwise(2, lambda builder, ab: getattr(builder, instruction)(*ab, flags=("contract",)))

    @infer_global(symbol)
    class Operator(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:  # noqa: ARG002
            return result(args) if lanes in args else None

    for kinds in ((Lanes, Lanes), (Lanes, types.Number), (types.Number, Lanes)):
        lower_builtin(symbol, *kinds)(build)


for _symbol, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define_operator(_symbol, _instruction)


def _selected(comparison: str, builder: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered(comparison, a, b), x, y)


@intrinsic
def larger(typingctx, a, b):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The larger of a and b, and b where one of them is NaN."""
    result, build = _elementwise(2, lambda builder, ab: _selected(">", builder, *ab, *ab))
    return result((a, b)), build


@intrinsic
def smaller(typingctx, a, b):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The smaller of a and b, and b where one of them is NaN."""
    result, build = _elementwise(2, lambda builder, ab: _selected("<", builder, *ab, *ab))
    return result((a, b)), build


@intrinsic
def where_above(typingctx, a, b, x, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """X where a > b, y elsewhere."""
    result, build = _elementwise(4, lambda builder, abxy: _selected(">", builder, *abxy))
    return result((a, b, x, y)), build


@intrinsic
def times_plus(typingctx, a, b, c):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """A · b + c rounded once; a function call per number where the machine has no such instruction."""

    def make(builder, abc):  # type: ignore[no-untyped-def]
        kind = abc[0].type
        name = "llvm.fma." + ("f64" if kind == ir.DoubleType() else f"v{LANES}f64")
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, abc)

    result, build = _elementwise(3, make)
    return result((a, b, c)), build


@intrinsic
def scaled_by_bits(typingctx, values, shifted):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Values times two to the integer that the last bits of ``shifted`` spell."""

    def make(builder, both):  # type: ignore[no-untyped-def]
        whole = ir.IntType(64) if both[0].type == ir.DoubleType() else ir.VectorType(ir.IntType(64), LANES)
        mantissa_bits = whole(52) if both[0].type == ir.DoubleType() else ir.Constant(whole, [52] * LANES)
        bits, power = (builder.bitcast(value, whole) for value in both)
        return builder.bitcast(builder.add(bits, builder.shl(power, mantissa_bits)), both[0].type)

    result, build = _elementwise(2, make)
    return result((values, shifted)), build


@intrinsic
def filled(typingctx, value):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Sixteen of a number, in float64."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return _filled(context, builder, lanes, sig.args[0], args[0])

    return lanes(value), build


@intrinsic
def filled_like(typingctx, array, value):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Sixteen of a number, in the kind of an array."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return _filled(context, builder, sig.return_type, sig.args[1], args[1])

    return Lanes(array.dtype)(array, value), build


@intrinsic
def wide(typingctx, values):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The same numbers in float64."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return widened(builder, args[0], VECTOR)

    return lanes(values), build


def widened(builder: Any, values: Any, kind: Any) -> Any:
    """A vector in a kind that is at least as wide as its own."""
    return values if values.type == kind else builder.fpext(values, kind)


@intrinsic
def steps(typingctx):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """0, 1, … 15."""
    return lanes(), lambda *_: ir.Constant(VECTOR, [float(k) for k in range(LANES)])


def _folded(builder: Any, values: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """Halves combined until one number is left."""
    while values.type.count > 1:
        half = values.type.count // 2
        low, high = (
            builder.shuffle_vector(values, values, shuffle_mask(positions))
            for positions in (range(half), range(half, 2 * half))
        )
        values = combine(low, high)
    return builder.extract_element(values, ir.IntType(32)(0))


@intrinsic
def total(typingctx, values):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The sum of all lanes, always in the same order."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return _folded(builder, args[0], builder.fadd)

    return types.float64(lanes), build


@intrinsic
def largest(typingctx, values):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The largest of all lanes."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return _folded(builder, args[0], lambda a, b: _selected(">", builder, a, b, a, b))

    return types.float64(lanes), build


FOUR = 4  # consecutive elements that are loaded together to be transposed


@intrinsic
def load(typingctx, array, start):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Sixteen consecutive elements of a C-ordered array of float32 or float64, from an index on."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        first = builder.gep(make_array(sig.args[0])(context, builder, args[0]).data, [args[1]])
        return _loaded(builder, first, LANES)

    return Lanes(array.dtype)(array, types.int64), build


def _loaded(builder: Any, first: Any, count: int) -> Any:
    kind = ir.VectorType(first.type.pointee, count)
    return builder.load(builder.bitcast(first, kind.as_pointer()), align=1)


@intrinsic
def gather(typingctx, array, start, step, count):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The elements of a C-ordered array at start, start + step, …; beyond ``count`` of them the last is repeated."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        data, (start, step, count) = make_array(sig.args[0])(context, builder, args[0]).data, args[1:]
        last = builder.sub(count, count.type(1))
        gathered = ir.Constant(ir.VectorType(data.type.pointee, LANES), ir.Undefined)
        for k in range(LANES):
            near = builder.select(builder.icmp_signed("<", last.type(k), last), last.type(k), last)
            number = builder.load(builder.gep(data, [builder.add(start, builder.mul(near, step))]))
            gathered = builder.insert_element(gathered, number, ir.IntType(32)(k))
        return gathered

    return Lanes(array.dtype)(array, types.int64, types.int64, types.int64), build


@intrinsic
def turn(typingctx, array, start, step, tile, to):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Transpose sixteen runs of four elements, at start, start + step, …, into four rows of a tile."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        data, (start, step) = make_array(sig.args[0])(context, builder, args[0]).data, args[1:3]
        runs = [
            _loaded(builder, builder.gep(data, [builder.add(start, builder.mul(step.type(k), step))]), FOUR)
            for k in range(LANES)
        ]
        rows = [_joined(builder, runs[k::FOUR]) for k in range(FOUR)]
        pairs = [_interleaved(builder, *two, 1) for two in (rows[:2], rows[2:])]
        columns = [column for two in zip(*pairs, strict=True) for column in _interleaved(builder, *two, 2)]
        first = builder.gep(make_array(sig.args[3])(context, builder, args[3]).data, [args[4]])
        for k, column in enumerate(columns):
            _put(builder, column, builder.gep(first, [ir.IntType(64)(k * LANES)]))
        return context.get_dummy_value()

    return types.none(array, types.int64, types.int64, tile, types.int64), build


def _joined(builder: Any, parts: list[Any]) -> Any:
    """Vectors end to end."""
    while len(parts) > 1:
        positions = shuffle_mask(range(2 * parts[0].type.count))
        parts = [builder.shuffle_vector(a, b, positions) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _interleaved(builder: Any, a: Any, b: Any, width: int) -> list[Any]:
    """Alternate ``width`` elements of a and of b: from the lower half of every four, then from the upper half."""
    lower = [
        start + k + side + w
        for start in range(0, LANES, FOUR)
        for k in range(0, FOUR // 2, width)
        for side in (0, LANES)
        for w in range(width)
    ]
    return [
        builder.shuffle_vector(a, b, shuffle_mask(position + half for position in lower)) for half in (0, FOUR // 2)
    ]


@intrinsic
def foresee(typingctx, array, start):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Prefetch the element at an index of a C-ordered array; an index beyond its end is harmless."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        there = builder.gep(make_array(sig.args[0])(context, builder, args[0]).data, [args[1]])
        there, number = builder.bitcast(there, ir.IntType(8).as_pointer()), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [there.type, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(
            prefetch, [there, number(0), number(2), number(1)]
        )  # to read, from the second level of cache, data
        return context.get_dummy_value()

    return types.none(array, types.int64), build


@intrinsic
def store(typingctx, array, start, values):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Put the lanes into a C-ordered array of their type or of float64, from an index on."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        _put(builder, args[2], builder.gep(make_array(sig.args[0])(context, builder, args[0]).data, [args[1]]))
        return context.get_dummy_value()

    return types.none(array, types.int64, values), build


def _put(builder: Any, values: Any, first: Any) -> None:
    kind = ir.VectorType(first.type.pointee, LANES)
    builder.store(widened(builder, values, kind), builder.bitcast(first, kind.as_pointer()), align=1)


LOG2_E = 1 / math.log(2)  # nearer to the number itself than most are: off by 1.42e-17 of it
ROUND = 1.5 * 2.0**52  # adding and subtracting it rounds to the nearest integer, which its last bits spell
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
    square = r * r  # two short sums can run in parallel, the steps of one long sum cannot
    even = C0 + square * (C2 + square * (C4 + square * (C6 + square * (C8 + square * C10))))
    odd = C1 + square * (C3 + square * (C5 + square * (C7 + square * C9)))
    return scaled_by_bits(1.0 + r * (even + r * odd), shifted)
