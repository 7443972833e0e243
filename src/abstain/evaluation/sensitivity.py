"""How much softmax scores depend on the scale of the logits, which changes no prediction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._kernels.blocks import row_blocks
from abstain.metrics import aurc
from abstain.outputs import Outputs
from abstain.outputs.outputs import expect_outputs
from abstain.scores import confidence_margin
from abstain.scores.logit_scores import Doctor, MaxSoftmax, NegEntropy
from abstain.scores.rows import logit_rows

SOFTMAX_SCORES = (MaxSoftmax(), Doctor(), NegEntropy())
SCALES = tuple(float(scale) for scale in np.logspace(-2, 2, 33))


@dataclass(frozen=True)
class ScaleSensitivity:
    """AURC-α of each softmax score as a function of the scale λ of the logits, with its limits.

    As λ → ∞ every softmax score ranks as the confidence margin. As λ → 0 the largest probability ranks as the largest
    logit above the mean logit, and DOCTOR and the entropy as the variance of the logits; rows with fewer classes that
    are not masked come first.
    """

    rows: list[dict[str, Any]]
    """Keys: score, scale, aurc; scale 0 and infinity are the limits."""
    alpha: float
    n: int

    def curve(self, score: str) -> tuple[list[float], list[float]]:
        """The finite scales and the AURC at each."""
        rows = [row for row in self.rows if row["score"] == score and 0 < row["scale"] < np.inf]
        return [row["scale"] for row in rows], [row["aurc"] for row in rows]

    def limits(self, score: str) -> tuple[float, float]:
        """AURC for λ → 0 and for λ → ∞."""
        areas = {row["scale"]: row["aurc"] for row in self.rows if row["score"] == score}
        return areas[0.0], areas[np.inf]

    @property
    def margin(self) -> float:
        """AURC of the confidence margin, which no scale changes."""
        return float(next(row["aurc"] for row in self.rows if row["scale"] == np.inf))

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the infinite scale is the string "inf", which JSON can hold."""
        rows = [row | {"scale": "inf" if row["scale"] == np.inf else row["scale"]} for row in self.rows]
        return {"n": self.n, "alpha": self.alpha, "margin": self.margin, "rows": rows}


def scale_sensitivity(
    outputs: Outputs,
    /,
    *,
    scales: Sequence[float] = SCALES,
    alpha: float = 1.0,
    progress: Callable[[str, float], None] | None = None,
) -> ScaleSensitivity:
    """AURC-α of the softmax scores with the logits multiplied by each of ``scales``, over all finite rows.

    Where the curves move much, a softmax score's rank among others is an accident of training. ``progress`` is called
    with what is being done and the share that is done.

    Parameters
    ----------
    outputs : Outputs
        With logits, and labels or errors.
    scales : sequence of float
        Positive factors of the logits.
    alpha : float
        The largest coverage that counts, above 0 and at most 1.
    progress : function, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    ScaleSensitivity
        AURC-α by score and scale, with the limits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(4, size=300)
    >>> outputs = Outputs(logits=rng.normal(size=(300, 4)) + np.eye(4)[labels], labels=labels)
    >>> sensitivity = scale_sensitivity(outputs, scales=[1e-5, 1.0, 1e4])
    >>> _, areas = sensitivity.curve("doctor")
    >>> round(areas[0] - sensitivity.limits("doctor")[0], 4), round(areas[2] - sensitivity.margin, 4)
    (0.0, 0.0)
    """
    scales = [float(scale) for scale in scales]
    if not scales or not all(0 < scale < np.inf for scale in scales):
        raise InvalidInputError(f"`scales` must be positive and finite, got {list(scales)}.")
    expect_outputs(outputs)
    if not outputs.n_classes:
        raise InvalidInputError("`outputs` must have logits to be scaled, got confidences alone.")
    usable = outputs if outputs.usable.all() else outputs.select(outputs.usable)
    errors, logits = usable.errors, usable.logits
    margin = aurc(confidence_margin(logits), errors, alpha=alpha)
    areas = {name: {0.0: aurc(limit, errors, alpha=alpha)} for name, limit in _limits_at_zero(logits).items()}
    for done, scale in enumerate(sorted(scales)):
        if progress is not None:
            progress(f"Scaling the logits by {scale:.3g}", done / len(scales))
        rows = logit_rows(logits, temperature=1 / scale)
        for score in SOFTMAX_SCORES:
            areas[score.name][float(scale)] = aurc(score.from_sums(rows), errors, alpha=alpha)
    return ScaleSensitivity(_tidy(areas, margin), alpha, len(usable))


def _tidy(areas: dict[str, dict[float, float]], margin: float) -> list[dict[str, Any]]:
    return [
        {"score": name, "scale": scale, "aurc": area}
        for name, by_scale in areas.items()
        for scale, area in (by_scale | {np.inf: margin}).items()
    ]


def _limits_at_zero(logits: NDArray[Any]) -> dict[str, Floats]:
    """By score, numbers that rank as it does for λ → 0."""
    above_mean, variance, classes = _spread(logits)
    first_order = {"max_softmax": above_mean, "doctor": variance, "neg_entropy": variance}
    return {name: _lexicographic(-classes, values) for name, values in first_order.items()}


def _lexicographic(first: Floats, second: Floats) -> Floats:
    """Numbers that rank as the pairs do."""
    return np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)[1].ravel().astype(np.float64)


def _spread(logits: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Largest logit above the mean, variance, and number of classes of each row; masked classes are passed over."""
    above_mean, variance, classes = (np.empty(len(logits)) for _ in range(3))
    for block in row_blocks(*logits.shape):
        z = np.where(logits[block] == -np.inf, np.nan, logits[block].astype(np.float64))
        above_mean[block] = np.nanmax(z, axis=1) - np.nanmean(z, axis=1)
        variance[block] = np.nanvar(z, axis=1)
        classes[block] = np.count_nonzero(~np.isnan(z), axis=1)
    return above_mean, variance, classes
