"""`ClassSets`: for rejected rows, a set of classes that holds the truth with a stated probability."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from abstain._errors import InvalidInputError
from abstain._text import counted
from abstain.outputs import Outputs
from abstain.outputs.outputs import expect_outputs
from abstain.outputs.validation import unlabelled
from abstain.thresholds.coverage import target_coverage
from abstain.thresholds.guarantee import Quantity
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.threshold import Threshold

if TYPE_CHECKING:
    from abstain.selector.selector import Selector

Mask = NDArray[np.bool_]


@final
@dataclass(frozen=True, kw_only=True)
class ClassSets:
    """Which classes are in the set of a rejected row: those whose log-probability is above a threshold.

    Attributes
    ----------
    threshold : Threshold
        On the log-probability of a class; its guarantee is about rejected rows.
    unknown : int
        Rejected rows of calibration whose class the classifier does not know: no set holds it, so they are misses.
    mean_size : float
        The mean number of classes in the sets of calibration.
    """

    threshold: Threshold
    unknown: int
    mean_size: float

    def of(self, outputs: Outputs, /) -> Mask:
        """(n, K) the classes in the set of each row; never empty, all classes for a non-finite row."""
        return _above(log_probabilities(outputs), self.threshold.value)

    def words(self) -> str:
        """What is guaranteed, and what the rows of calibration show."""
        t = self.threshold
        unknown = f"; {counted(self.unknown, 'row')} of unknown classes, which no set holds, count as misses"
        return (
            f"Sets for rejected rows: {t.guarantee} Observed (not guaranteed): the truth is in {t.accepted:,} of "
            f"{t.n:,} sets ({t.accepted / t.n:.1%}), which have {self.mean_size:.2f} classes on average"
            f"{unknown if self.unknown else ''}."
        )


def calibrate_sets(
    selector: "Selector", held_out: Outputs, /, *, coverage: float = 0.9, delta: float | None = 0.05, seed: int = 0
) -> "Selector":
    """The selector with sets of classes for the rows that it rejects; `Selector.sets` returns them.

    A set holds the true class with probability at least ``coverage`` *among rejected rows*. The held-out rows must be
    drawn as those to come are, and none of them may have calibrated the selector: then it is fixed, and those it
    rejects are independent draws of all that it will reject. Only rejected rows are used.

    Parameters
    ----------
    selector : Selector
        What rejects.
    held_out : Outputs
        Labelled rows that it has not seen.
    coverage : float
        The smallest share of rejected rows whose set holds the truth.
    delta : float or None
        The probability with which the guarantee may fail; None asks for it in expectation only.
    seed : int
        Of the draw of one row from each cluster, where rows have ids.

    Returns
    -------
    Selector
        A new selector with ``class_sets``, which its file stores.

    Raises
    ------
    InvalidInputError
        If some rows were used for calibration, or have no labels or classes.
    NoSafeThresholdError
        If too few rows are rejected, or too many of them are of classes that the classifier does not know.

    Examples
    --------
    >>> import abstain
    >>> from abstain.datasets import digits
    >>> outputs = digits()
    >>> shifted = outputs[outputs.shift == "covariate"]
    >>> calibration, held_out = shifted.split(0.5, seed=0)
    >>> selector = calibrate_sets(abstain.calibrate(calibration, risk=0.1), held_out, coverage=0.8)
    >>> selector.class_sets.threshold.guarantee.target
    0.8
    """
    expect_outputs(held_out, name="held_out")
    if not held_out.n_classes:
        raise InvalidInputError(
            "`held_out` must have logits or probabilities for sets of classes, got confidences alone."
        )
    if held_out.labels is None:
        raise unlabelled("held_out")
    if selector.seen is not None:
        selector.seen.check_unseen(held_out, name="held_out", advice="Its threshold was chosen on them.")
    rejected = held_out.select(np.flatnonzero(~selector.accepts(held_out)))
    if not len(rejected):
        rows = counted(len(held_out), "held-out row")
        raise NoSafeThresholdError(f"None of {rows} is rejected. Use more held-out rows.")
    assert rejected.labels is not None
    scores = log_probabilities(rejected)
    known = rejected.labels >= 0
    truth = np.where(known, scores[np.arange(len(rejected)), np.maximum(rejected.labels, 0)], -np.inf)
    try:
        threshold = target_coverage(truth, coverage=coverage, delta=delta, ids=rejected.ids, seed=seed)
    except NoSafeThresholdError as error:
        raise _refusal(error, int(np.count_nonzero(~known)), len(rejected), coverage) from None
    guarantee = threshold.guarantee
    guarantee = replace(
        guarantee, quantity=Quantity.SET_COVERAGE, distribution=f"rejected rows: {guarantee.distribution}"
    )
    sets = ClassSets(
        threshold=replace(threshold, method="class_sets", guarantee=guarantee),
        unknown=int(np.count_nonzero(~known)),
        mean_size=float(_above(scores, threshold.value).sum(axis=1).mean()),
    )
    return replace(selector, class_sets=sets)


def log_probabilities(outputs: Outputs, /) -> NDArray[np.float64]:
    """(n, K) log-probabilities; 0 for every class of a non-finite row, of which nothing is known."""
    usable = outputs.usable
    values = np.zeros((len(outputs), outputs.n_classes))
    values[usable] = log_softmax(np.asarray(outputs.logits, dtype=np.float64)[usable], axis=1)
    return values


def _above(scores: NDArray[np.float64], value: float) -> Mask:
    """(n, K) where a class is above the threshold; the most probable one always is in."""
    inside = scores > value
    inside[np.arange(len(scores)), scores.argmax(axis=1)] = True
    return inside


def _refusal(error: NoSafeThresholdError, unknown: int, rejected: int, coverage: float) -> NoSafeThresholdError:
    """Why there is no threshold: too few rejected rows, or too many of unknown classes."""
    if unknown <= (1 - coverage) * rejected / 2:
        return NoSafeThresholdError(f"{rejected:,} of the held-out rows are rejected, which is too few. {error}")
    return NoSafeThresholdError(
        f"No sets of classes hold the truth for {coverage:.4g} of the rejected rows: {unknown:,} of {rejected:,} are "
        "of classes that the classifier does not know, and no set holds these. Ask for a lower coverage, on other rows."
    )
