"""What every metric asks of its arguments: one look at each array, and messages that name the row."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles, as_numbers, as_rectangle
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._text import listed

SMALLEST = 1e-15  # of the total: what is smaller is lost in its rounding


class CheckedSamples(NamedTuple):
    """Checked arrays of shape (n,)."""

    confidence: NDArray[np.floating]
    """float32 where it was given so, else float64: order and ties are the same."""
    losses: NDArray[Any]
    """bool or float64."""
    weights: Floats | None


def check_samples(confidence: ArrayLike, losses: ArrayLike, weights: ArrayLike | None = None, /) -> CheckedSamples:
    """Confidences without NaN, losses from 0 to 1, and positive weights if any, of one length."""
    c, e = _column("confidence", confidence), _column("losses", losses)
    w = None if weights is None else _column("weights", weights)
    _check_lengths(confidence=len(c), losses=len(e), **({} if w is None else {"weights": len(w)}))
    _check_confidence(c)
    _check_losses(e)
    return CheckedSamples(_floats(c), e if e.dtype == bool else _double(e), None if w is None else _check_weights(w))


def check_confidence(confidence: ArrayLike, n: int, /) -> NDArray[np.floating]:
    """A confidence without NaN for each of n samples."""
    c = _column("confidence", confidence)
    _check_lengths(confidence=len(c), losses=n)
    _check_confidence(c)
    return _floats(c)


def check_losses(losses: ArrayLike, weights: ArrayLike | None = None, /) -> tuple[NDArray[Any], Floats | None]:
    """Losses from 0 to 1, bool or float64, and positive weights if any."""
    e = _column("losses", losses)
    w = None if weights is None else _column("weights", weights)
    _check_lengths(losses=len(e), **({} if w is None else {"weights": len(w)}))
    _check_losses(e)
    return e if e.dtype == bool else _double(e), None if w is None else _check_weights(w)


def check_labels(labels: ArrayLike, n: int, /) -> NDArray[np.int64]:
    """The true class of each of n samples, negative for one the classifier does not know."""
    y = as_rectangle("labels", labels)
    if y.dtype.kind not in "iu" or y.shape != (n,):
        raise InvalidInputError(f"`labels` must be {n} integers, one per sample, got {y.dtype} of shape {y.shape}.")
    return y.astype(np.int64, copy=False)


def check_logits(logits: ArrayLike, n: int | None = None, /) -> NDArray[np.floating]:
    """Logits of shape (n, K)."""
    z = as_rectangle("logits", logits)
    if z.dtype.kind not in "biuf" or z.ndim != 2 or not z.size or len(z) != (len(z) if n is None else n):
        raise InvalidInputError(f"`logits` must be numbers of shape ({n or 'n'}, K), got {z.dtype} of shape {z.shape}.")
    return z if z.dtype.kind == "f" and z.dtype.itemsize <= 8 else as_doubles("logits", z)


def rejected_last(confidence: NDArray[np.float64], /) -> NDArray[np.float64]:
    """Confidence with NaN, of non-finite rows, below all others."""
    return np.where(np.isnan(confidence), -np.inf, confidence)


def _column(name: str, values: ArrayLike) -> NDArray[Any]:
    array = as_numbers(name, values)
    if array.ndim != 1 or array.size == 0:
        raise InvalidInputError(f"`{name}` must have shape (n,) with at least one sample, got {array.shape}.")
    return array


def _floats(array: NDArray[Any]) -> NDArray[np.floating]:
    return np.ascontiguousarray(array if array.dtype == np.float32 else as_doubles("confidence", array))


def _double(array: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(array, dtype=np.float64)


def _check_lengths(**lengths: int) -> None:
    if len(set(lengths.values())) > 1:
        names = listed(f"`{name}`" for name in lengths)
        raise InvalidInputError(f"{names} must be of one length, got {listed(map(str, lengths.values()))}.")


def _check_confidence(c: NDArray[Any]) -> None:
    if np.isnan(c.max()):
        advice = "Set it to -inf where a sample is to count as rejected."
        _refuse("confidence", np.isnan(c), c, "not be NaN", advice)


def _check_losses(e: NDArray[Any]) -> None:
    if e.dtype != bool and not (e.min() >= 0 and e.max() <= 1):
        _refuse("losses", ~((e >= 0) & (e <= 1)), e, "be between 0 and 1", "Divide a loss by its largest value.")


def _check_weights(w: NDArray[Any]) -> Floats:
    if not (w.min() > 0 and w.max() < np.inf):
        _refuse("weights", ~((w > 0) & (w < np.inf)), w, "be positive and finite", "Drop samples of weight zero.")
    if w.min() < w.max() * SMALLEST / len(w):
        bad = w < w.max() * SMALLEST / len(w)
        _refuse("weights", bad, w, f"be above {SMALLEST:g} of the largest", "Drop samples of so little weight.")
    return _double(w)


def _refuse(name: str, bad: NDArray[np.bool_], values: NDArray[Any], rule: str, advice: str) -> None:
    row, count = int(np.argmax(bad)), np.count_nonzero(bad)
    raise InvalidInputError(
        f"`{name}` must {rule}, got {float(values[row])} in {count} of {len(bad)} rows, first in row {row}. {advice}"
    )
