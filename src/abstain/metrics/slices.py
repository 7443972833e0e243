"""What accepting some rows means for each part of them, such as a domain or a class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import as_names
from abstain.metrics.checks import check_losses
from abstain.metrics.share import Share, share


@dataclass(frozen=True)
class Slice:
    """The rows of one name."""

    name: str
    n: int
    accepted: int
    errors: float
    """The total loss of those accepted."""
    coverage: Share
    """The share of its rows that is accepted."""
    risk: Share | None
    """The mean loss of those accepted, None where there are none."""


def slices(
    names: ArrayLike,
    accepted: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    ids: ArrayLike | None = None,
    level: float = 0.95,
) -> list[Slice]:
    """Coverage and risk of the rows of each name, in the order of the names, with intervals that count a cluster once.

    >>> [one] = slices(["fog", "fog"], [True, True], [0, 1])
    >>> one.accepted, one.coverage.value, one.risk.value
    (2, 1.0, 0.5)
    """
    each, taken, loss = np.asarray(names), np.asarray(accepted), check_losses(losses, None)[0]
    if taken.dtype != bool or not each.shape == taken.shape == loss.shape:
        raise ValueError(
            f"`names`, `accepted` and `losses` must have a name, a boolean and a loss for each row, got shapes "
            f"{each.shape}, {taken.shape} of {taken.dtype} and {loss.shape}."
        )
    samples = None if ids is None else as_names("ids", ids)
    distinct, place = np.unique(each, return_inverse=True)
    parts = rows_of_parts(place, len(distinct))
    return [_slice(str(name), rows, taken, loss, samples, level) for name, rows in zip(distinct, parts, strict=True)]


def rows_of_parts(number: NDArray[np.int64], parts: int, /) -> list[NDArray[np.int64]]:
    """The rows of each of so many parts, from the number of each row's part (n,)."""
    ends = np.cumsum(np.bincount(number, minlength=parts))
    return np.split(np.argsort(number, kind="stable"), ends[:-1])


def _slice(
    name: str,
    rows: NDArray[np.int64],
    accepted: NDArray[np.bool_],
    losses: NDArray[np.floating],
    ids: NDArray[np.int64] | None,
    level: float,
) -> Slice:
    kept = rows[accepted[rows]]
    return Slice(
        name=name,
        n=len(rows),
        accepted=len(kept),
        errors=float(losses[kept].sum()),
        coverage=share(accepted[rows], ids=None if ids is None else ids[rows], level=level),
        risk=share(losses[kept], ids=None if ids is None else ids[kept], level=level) if len(kept) else None,
    )
