"""Conformal rules: guarantees in expectation, from exchangeability alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import as_doubles
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.sample import Sample, accepting, check_target, range_words
from abstain.thresholds.threshold import Threshold, between


def conformal_joint(
    confidence: ArrayLike, losses: ArrayLike, /, *, risk: float, ids: ArrayLike | None = None, seed: int = 0
) -> Threshold:
    """The lowest threshold at which P(accepted and wrong) is at most ``risk``, by conformal risk control.

    It holds in expectation over the calibration sample and one more row exchangeable with it. The joint risk falls
    as the threshold rises, so it is enough that (Σ losses accepted + 1)/(n + 1) ≤ risk.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    risk : float
        The largest probability of an accepted error, between 0 and 1.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If no threshold keeps the target.

    Examples
    --------
    >>> s = [0.95, 0.9, 0.88, 0.8, 0.75, 0.7, 0.6, 0.55, 0.5, 0.4, 0.3, 0.2]
    >>> e = [0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
    >>> conformal_joint(s, e, risk=0.2).accepted
    7

    References
    ----------
    Angelopoulos et al., "Conformal risk control", ICLR 2024.
    """
    check_target("risk", risk)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    n = len(sample)
    bounds = (sample.totals_at_ends + 1) / (n + 1)
    safe = np.flatnonzero(bounds <= risk)
    if not len(safe):
        raise NoSafeThresholdError(
            f"No threshold keeps P(accepted and wrong) <= {risk:.4g} on n={n} calibration samples. "
            f"Calibrate on at least {int(np.ceil(1 / risk)) - 1}, or raise `risk`."
        )
    last = int(safe[-1])
    guarantee = Guarantee(
        quantity=Quantity.ACCEPTED_ERROR if sample.are_errors else Quantity.ACCEPTED_LOSS,
        target=risk,
        bound=float(bounds[last]),
        probability=None,
        distribution=f"a row exchangeable with these: {sample.population['distribution']}",
    )
    return accepting("conformal_joint", sample, int(sample.ends[last]), guarantee)


def conformal_selection(
    confidence: ArrayLike,
    losses: ArrayLike,
    test_confidence: ArrayLike,
    /,
    *,
    risk: float,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold for one batch of test rows whose expected share of errors among the accepted is at most ``risk``.

    Conformal p-values against the wrong calibration rows, then Benjamini–Hochberg: the lowest γ with
    m/(n+1) · (1 + errors above γ) / (test rows above γ) ≤ risk. It holds for exchangeable rows, for this batch, in
    expectation.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool, or 0 and 1).
    test_confidence : (m,) array
        Confidence of the rows of the batch.
    risk : float
        The largest expected share of errors among the accepted rows of the batch.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If no threshold keeps the target.

    Examples
    --------
    >>> threshold = conformal_selection([0.9, 0.8, 0.7, 0.1], [0, 0, 0, 1], [0.95, 0.85, 0.75, 0.05], risk=0.3)
    >>> threshold.accepts([0.95, 0.85, 0.75, 0.05])
    array([ True,  True,  True, False])

    References
    ----------
    Jin and Candès, "Selection by prediction with conformal p-values", JMLR 2023.
    """
    check_target("risk", risk)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    if not sample.are_errors:
        raise InvalidInputError(f"`losses` must be 0 or 1 for conformal_selection, got {range_words(sample.losses)}.")
    test = _batch(test_confidence)
    m, n = len(test), len(sample)
    ratios = _expected_shares(sample, test)
    last_of_tie = np.append(test[1:] < test[:-1], True)
    safe = np.flatnonzero((ratios <= risk) & last_of_tie & (test > -np.inf))
    if not safe.size:
        raise NoSafeThresholdError(
            f"No threshold keeps the expected share of errors <= {risk:.4g} for this batch of {m} with n={n} "
            "calibration samples. Raise `risk`, or calibrate on more samples."
        )
    last = int(safe[-1])
    below = np.concatenate([test[test < test[last]], sample.confidence[sample.confidence < test[last]]])
    value = between(float(test[last]), float(below.max()) if below.size else -np.inf)
    guarantee = Guarantee(
        quantity=Quantity.BATCH_RISK,
        target=risk,
        bound=float(ratios[last]),
        probability=None,
        distribution=f"a batch of {m} exchangeable with these: {sample.population['distribution']}",
        caveats=("it is no guarantee for another batch",),
    )
    return Threshold.counted(value, "conformal_selection", sample.confidence, sample.losses, guarantee)


def _batch(confidence: ArrayLike) -> Floats:
    """The test samples, most trusted first."""
    test = np.sort(as_doubles("confidence", confidence))[::-1]
    if test.ndim != 1 or not test.size or np.isnan(test).any():
        raise InvalidInputError(
            f"`test_confidence` must have shape (m,) with at least one sample and no NaN, got {test.shape}."
        )
    return test


def _expected_shares(sample: Sample, test: Floats) -> Floats:
    """(m,) m/(n+1) · (1 + errors above γ) / (test samples above γ), with γ just below each test sample."""
    wrong = sample.confidence[sample.losses == 1]
    errors = np.searchsorted(-wrong, -test, side="right")  # as confident as each test sample, or more
    m = len(test)
    return m / (len(sample) + 1) * (1 + errors) / np.arange(1, m + 1)
