"""What a fitted classifier says of samples, as `Outputs`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.collect.sklearn_model import SklearnModel
from abstain.outputs import Outputs
from abstain.scores.registry import EXPECTED_COST, AnyScore, as_score

UNKNOWN = -1


def outputs_of(
    estimator: Any,
    X: Any,
    /,
    *,
    classes: NDArray[Any],
    score: AnyScore | Sequence[AnyScore] | None,
    labels: NDArray[np.int64] | None = None,
) -> Outputs:
    """Logits, with features and head where the score needs them and the classifier has a linear last layer.

    Rows whose answer is not the largest logit are made unusable, so that they are never accepted.
    """
    needed = needs(score) & {"features", "head"}
    model = SklearnModel(estimator)
    logits, features = model.on(X, with_features=bool(needed))
    weight, bias = model.head() if needed else (None, None)
    if logits.shape[1] != len(classes):
        raise ValueError(
            f"`estimator` must have a logit for each of its {len(classes)} classes, got {logits.shape[1]}."
        )
    answers = class_numbers(estimator.predict(X), classes)
    logits = np.where((logits.argmax(axis=1) == answers)[:, None], logits, np.nan)
    return Outputs(
        logits=logits,
        features=features,
        weight=weight,
        bias=bias,
        labels=labels,
        class_names=class_names(classes),
        nonfinite="reject",
    )


def class_names(classes: NDArray[Any], /) -> tuple[str, ...] | None:
    """The classes in writing, None where two are written alike."""
    names = tuple(str(name) for name in classes.tolist())
    return names if len(set(names)) == len(names) else None


def is_choice(score: AnyScore | Sequence[AnyScore] | None, /) -> bool:
    """Whether there are several scores to choose among."""
    return isinstance(score, list | tuple) or (isinstance(score, str) and score == "best")


def needs(score: AnyScore | Sequence[AnyScore] | None, /) -> set[str]:
    """What a score needs, all there is where there are several; without a name it is one of the logits."""
    if score is None or (isinstance(score, str) and score == EXPECTED_COST.name):
        return {"logits"}
    if isinstance(score, list | tuple):
        return {need for one in score for need in needs(one)}
    if is_choice(score):
        return {"logits", "features", "head"}
    return set(as_score(score).needs)  # type: ignore[arg-type]


def class_numbers(y: Any, classes: NDArray[Any], /) -> NDArray[np.int64]:
    """(n,) the place of each label among the classes, −1 for one that is not there."""
    order = np.argsort(classes)
    labels = np.asarray(y)
    place = np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)
    return np.where(classes[order][place] == labels, order[place], UNKNOWN).astype(np.int64)
