"""The outputs of a fitted classifier, and which of its answers are wrong."""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidInputError
from abstain.collect.sklearn_model import SklearnModel
from abstain.outputs import Outputs
from abstain.scores import EXPECTED_COST
from abstain.scores.registry import AnyScore, as_score

UNKNOWN = -1


def outputs_of(
    estimator: Any,
    X: Any,
    /,
    *,
    classes: NDArray[Any],
    score: AnyScore | Sequence[AnyScore] | None,
    labels: NDArray[np.int64] | None = None,
    ids: NDArray[Any] | None = None,
) -> Outputs:
    """Logits, with features and head where the score needs them and the classifier has a linear last layer.

    Rows whose answer is not the largest logit are made non-finite, so that they are never accepted.
    """
    needed = needs(score) & {"features", "head"}
    model = SklearnModel(estimator)
    logits, features = model.on(X, with_features=bool(needed))
    weight, bias = model.head() if needed else (None, None)
    if logits.shape[1] != len(classes):
        raise InvalidInputError(
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
        ids=ids,
        class_names=class_names(classes),
        nonfinite="reject",
    )


def class_names(classes: NDArray[Any], /) -> tuple[str, ...] | None:
    """The classes as strings, None where two strings are equal."""
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
        return {need for each in score for need in needs(each)}
    if is_choice(score):
        return {"logits", "features", "head"}
    return set(as_score(score).needs)  # type: ignore[arg-type]


def class_numbers(y: Any, classes: NDArray[Any], /) -> NDArray[np.int64]:
    """(n,) the index of each label among the classes, −1 for a label that is not there."""
    order = np.argsort(classes)
    labels = np.asarray(y)
    index = np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)
    return np.where(classes[order][index] == labels, order[index], UNKNOWN).astype(np.int64)


def wrong_answers(labels: ArrayLike, answers: ArrayLike, /, *, name: str = "y") -> NDArray[np.bool_]:
    """(n,) where a label is not the answer; they must be as many, and not numbers here and text there.

    >>> wrong_answers(["cat", "dog"], ["cat", "cat"])
    array([False,  True])
    """
    true, given = np.asarray(labels), np.asarray(answers)
    if true.ndim != 1 or true.shape != given.shape:
        shapes = " and ".join(str(each.shape) for each in (true, given))
        raise InvalidInputError(f"`{name}` must be one label for each answer, got the shapes {shapes}.")
    kinds = _kinds(true), _kinds(given)
    if len(true) and kinds[0].isdisjoint(kinds[1]):
        first, second = (" and ".join(sorted(each)) for each in kinds)
        raise InvalidInputError(
            f"`{name}` must be labels of the kind of the model's classes, got {first} for {second}. "
            "Map them to the classes."
        )
    return np.asarray(true != given)


def _kinds(values: NDArray[np.generic]) -> set[str]:
    if values.dtype != object:
        return {
            "numbers" if values.dtype.kind in "biuf" else "text" if values.dtype.kind in "US" else str(values.dtype)
        }
    return {
        "text" if isinstance(each, str) else "numbers" if isinstance(each, Number) else "objects" for each in values
    }
