"""What every recertification does: check its input, and make a selector of what its labels certify."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_at_least
from abstain._errors import InvalidInputError
from abstain.metrics.checks import rejected_last
from abstain.selector.calibration_data import CalibrationData, SliceCounts
from abstain.selector.calibration_rows import NAMED, SeenRows, id_hashes
from abstain.selector.group_thresholds import GroupThresholds
from abstain.selector.hash_sample import HashSample
from abstain.selector.selector import Selector
from abstain.thresholds.sample import check_names
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold


def columns(confidence: ArrayLike, /, **names: ArrayLike) -> tuple[NDArray[np.float64], list[NDArray[Any]]]:
    """Confidence (n,), −inf where it is NaN, and as many names of each kind."""
    c = np.asarray(confidence, dtype=np.float64)
    each = {kind: check_names(kind, values).astype(str) for kind, values in names.items()}
    for kind, values in each.items():
        if c.ndim != 1 or values.shape != c.shape:
            raise InvalidInputError(
                f"`{kind}` must name each row of `confidence`, got shape {values.shape} for {c.shape}."
            )
    return rejected_last(c), list(each.values())


def check_can_ask(pending: tuple[str, ...], labels: int, /) -> None:
    """Refuse to draw rows while others wait for their labels."""
    if pending:
        raise InvalidInputError(
            f"{len(pending)} rows asked for before must be labelled first (`answer`), got a further `ask`."
        )
    check_at_least("labels", labels, 1)


def check_asked(pending: tuple[str, ...], /) -> None:
    """Refuse labels that no row waits for."""
    if not pending:
        raise InvalidInputError(
            "Rows to label must be asked for first, got labels that no row waits for. Draw them: `ask`, or --ask."
        )


def check_renewable(wanted: str, digest: str, labels: int, /, *, is_certified: bool) -> None:
    """Refuse another selector, and a search that has not found a threshold yet."""
    if digest != wanted:
        raise InvalidInputError("`old` must be the selector that the labels were asked for, got another.")
    if not is_certified:
        raise InvalidInputError(f"A threshold must be certified first, got none after {labels} labels. Ask for more.")


def renewed(
    old: Selector,
    state: str,
    ids: tuple[str, ...],
    offered: NDArray[np.float64],
    /,
    *,
    threshold: Threshold,
    groups: GroupThresholds | None = None,
    counts: tuple[SliceCounts, ...] = (),
) -> Selector:
    """The old selector with what the labelled rows, of those ``offered``, certify; ``state`` is that of the search."""
    by_class = groups is not None and groups.is_by_class
    return replace(
        old,
        threshold=threshold,
        groups=groups,
        distribution=ScoreDistribution.of(offered),
        calibration=CalibrationData(
            digest=sha256(state.encode()).hexdigest(),
            rows=threshold.n,
            samples=threshold.n,
            unusable=int(np.count_nonzero(offered == -np.inf)),
            held_out=0,
            largest=1,
            classes=counts if by_class else (),
            domains=() if by_class else counts,
        ),
        seen=seen_with(old.seen, ids),
        class_sets=None,  # they were for the rows that the old threshold rejects
    )


def seen_with(before: SeenRows | None, ids: tuple[str, ...], /) -> SeenRows | None:
    """The rows of before, which chose the score, and labelled ones by their ids."""
    names = id_hashes(np.array(ids), salt=NAMED)
    if names is None:
        return before
    old = SeenRows(None, None) if before is None else before
    return replace(old, ids=HashSample.of(names).joined(old.ids))
