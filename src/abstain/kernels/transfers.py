"""Lanes read from arrays and put into them."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from abstain.kernels.lanes import LANES, Lanes, places_of, widened

FOUR = 4  # numbers that are loaded side by side to be turned


@intrinsic
def load(typingctx, array, place):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Sixteen neighbours in a C-ordered array of float32 or float64, from a place on."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        first = builder.gep(make_array(sig.args[0])(context, builder, args[0]).data, [args[1]])
        return _loaded(builder, first, LANES)

    return Lanes(array.dtype)(array, types.int64), build


def _loaded(builder: Any, first: Any, count: int) -> Any:
    kind = ir.VectorType(first.type.pointee, count)
    return builder.load(builder.bitcast(first, kind.as_pointer()), align=1)


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
        return found

    return Lanes(array.dtype)(array, types.int64, types.int64, types.int64), build


@intrinsic
def turn(typingctx, array, place, step, tile, to):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Of sixteen runs of four neighbours, at place, place + step, …, the first of all into a tile, then the second."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        data, (place, step) = make_array(sig.args[0])(context, builder, args[0]).data, args[1:3]
        runs = [
            _loaded(builder, builder.gep(data, [builder.add(place, builder.mul(step.type(k), step))]), FOUR)
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
        places = places_of(range(2 * parts[0].type.count))
        parts = [builder.shuffle_vector(a, b, places) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _interleaved(builder: Any, a: Any, b: Any, width: int) -> list[Any]:
    """The lower halves of every four of a and of b, so many numbers of one and of the other in turn; the upper ones."""
    lower = [
        start + k + side + w
        for start in range(0, LANES, FOUR)
        for k in range(0, FOUR // 2, width)
        for side in (0, LANES)
        for w in range(width)
    ]
    return [builder.shuffle_vector(a, b, places_of(place + half for place in lower)) for half in (0, FOUR // 2)]


@intrinsic
def foresee(typingctx, array, place):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Have what lies at a place of a C-ordered array brought near before it is read; a place beyond it is harmless."""

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
def store(typingctx, array, place, values):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Put the lanes into a C-ordered array of their kind or of float64, from a place on."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        _put(builder, args[2], builder.gep(make_array(sig.args[0])(context, builder, args[0]).data, [args[1]]))
        return context.get_dummy_value()

    return types.none(array, types.int64, values), build


def _put(builder: Any, values: Any, first: Any) -> None:
    kind = ir.VectorType(first.type.pointee, LANES)
    builder.store(widened(builder, values, kind), builder.bitcast(first, kind.as_pointer()), align=1)
