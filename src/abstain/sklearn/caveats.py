"""What a promise to scikit-learn users rests on besides."""

from dataclasses import replace

from abstain.selector import Selector

FOLDS = "since it was calibrated on other folds' classifiers, and the final one may do otherwise"
UNSEEN = "it rests on the classifier not having been trained on these rows"
WEIGHTS = "`sample_weight` is the classifier's alone, each row counts once here"


def with_caveats(selector: Selector, how: str, /, *, weighted: bool) -> Selector:
    """The selector, its promise noting how its rows came about: prefit, folds or held out."""
    promise = selector.threshold.promise
    if weighted:
        promise = promise.noting(WEIGHTS)
    if how == "prefit":
        promise = promise.noting(UNSEEN)
    elif how == "folds":
        promise = promise.unproved(FOLDS)
    return replace(selector, threshold=replace(selector.threshold, promise=promise))
