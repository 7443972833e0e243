"""Sixteen float64 side by side, as one value in a compiled function.

The compiler maps them to the vectors the machine has, so that one loop runs at full width everywhere, in the same order
of sums. A number beside them stands for sixteen of it.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array

LANES = 16  # two vectors of the widest machines: while one waits for a result, the other is worked
PLACES = ir.VectorType(ir.IntType(32), LANES)
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class Lanes(types.Type):
    """The type of sixteen numbers side by side."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """A vector of LLVM."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


lanes = Lanes()


def _alike(context: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    """The values as vectors if one of them is one, as float64 otherwise."""
    if lanes not in kinds:
        return [context.cast(builder, value, kind, types.float64) for kind, value in zip(kinds, values, strict=True)]
    return [_filled(context, builder, kind, value) for kind, value in zip(kinds, values, strict=True)]


def _filled(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if kind == lanes:
        return value
    first = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(first, context.cast(builder, value, kind, types.float64), ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(PLACES, [0] * LANES))


def _elementwise(number: int, make: Callable[[Any, list[Any]], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """How to type and to build a function of so many numbers or lanes, lane by lane."""

    def result(args: Any) -> Any:
        return signature(lanes if lanes in args else types.float64, *args) if len(args) == number else None

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
def where_equal(typingctx, a, b, x, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """X where a = b, y elsewhere."""
    result, build = _elementwise(4, lambda builder, abxy: _selected("==", builder, *abxy))
    return result((a, b, x, y)), build


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
    """Sixteen of a number."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return _filled(context, builder, sig.args[0], args[0])

    return lanes(value), build


@intrinsic
def steps(typingctx):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """0, 1, … 15."""
    return lanes(), lambda *_: ir.Constant(VECTOR, [float(k) for k in range(LANES)])


def _folded(builder: Any, values: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """Halves combined until one number is left."""
    while values.type.count > 1:
        half = values.type.count // 2
        low, high = (
            builder.shuffle_vector(values, values, ir.Constant(ir.VectorType(ir.IntType(32), half), list(places)))
            for places in (range(half), range(half, 2 * half))
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


@intrinsic
def load(typingctx, array, place):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Sixteen neighbours in a C-ordered array of float32 or float64, from a place on."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        first = builder.gep(make_array(sig.args[0])(context, builder, args[0]).data, [args[1]])
        kind = ir.VectorType(first.type.pointee, LANES)
        found = builder.load(builder.bitcast(first, kind.as_pointer()), align=1)
        return found if kind == VECTOR else builder.fpext(found, VECTOR)

    return lanes(array, types.int64), build


@intrinsic
def gather(typingctx, array, place, step, count):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Of a C-ordered array the numbers at place, place + step, …; beyond ``count`` of them the last again."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        data, (place, step, count) = make_array(sig.args[0])(context, builder, args[0]).data, args[1:]
        last = builder.sub(count, count.type(1))
        found = ir.Constant(ir.VectorType(data.type.pointee, LANES), ir.Undefined)
        for k in range(LANES):
            near = builder.select(builder.icmp_signed("<", last.type(k), last), last.type(k), last)
            number = builder.load(builder.gep(data, [builder.add(place, builder.mul(near, step))]))
            found = builder.insert_element(found, number, ir.IntType(32)(k))
        return found if found.type == VECTOR else builder.fpext(found, VECTOR)

    return lanes(array, types.int64, types.int64, types.int64), build


@intrinsic
def store(typingctx, array, place, values):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Put the lanes into a C-ordered array of float64, from a place on."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        first = builder.gep(make_array(sig.args[0])(context, builder, args[0]).data, [args[1]])
        builder.store(args[2], builder.bitcast(first, VECTOR.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.none(array, types.int64, lanes), build
