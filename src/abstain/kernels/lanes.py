"""Sixteen numbers side by side, float64 or float32, as one value in a compiled function.

The compiler maps them to the vectors the machine has, so that one loop runs at full width everywhere, in the same order
of sums. A number beside them stands for sixteen of it. Comparing is exact in either kind, and twice as fast in float32.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

LANES = 16  # two vectors of the widest machines: while one waits for a result, the other is worked
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
    """What numbers and lanes of one kind are worked as: lanes if there are some, float64 otherwise."""
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
    return builder.shuffle_vector(first, first, places_of([0] * LANES))


def places_of(places: Iterable[int]) -> Any:
    """The places that a shuffle of two vectors takes its numbers from."""
    found = list(places)
    return ir.Constant(ir.VectorType(ir.IntType(32), len(found)), found)


def _elementwise(number: int, make: Callable[[Any, list[Any]], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """How to type and to build a function of so many numbers or lanes, lane by lane."""

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
    """A · b + c rounded once; by a call for each number where the machine has no such instruction."""

    def make(builder, abc):  # type: ignore[no-untyped-def]
        kind = abc[0].type
        name = "llvm.fma." + ("f64" if kind == ir.DoubleType() else f"v{LANES}f64")
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, abc)

    result, build = _elementwise(3, make)
    return result((a, b, c)), build


@intrinsic
def scaled_by_bits(typingctx, values, shifted):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Values times two to the whole number that the last bits of ``shifted`` spell."""

    def make(builder, both):  # type: ignore[no-untyped-def]
        whole = ir.IntType(64) if both[0].type == ir.DoubleType() else ir.VectorType(ir.IntType(64), LANES)
        places = whole(52) if both[0].type == ir.DoubleType() else ir.Constant(whole, [52] * LANES)
        bits, power = (builder.bitcast(value, whole) for value in both)
        return builder.bitcast(builder.add(bits, builder.shl(power, places)), both[0].type)

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
            builder.shuffle_vector(values, values, places_of(places)) for places in (range(half), range(half, 2 * half))
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
