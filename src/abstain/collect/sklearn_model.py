"""scikit-learn classifiers, and whatever else has ``predict_proba``."""

import sys
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError, InvalidTypeError, MissingFileError, foreign
from abstain._extras import require
from abstain._io.fingerprint import digest
from abstain.collect.model import Model, ModelOptions, ModelOutput
from abstain.collect.sklearn_head import LinearHead, estimator_logits
from abstain.outputs.named_labels import integer_names


@final
class SklearnModel(Model):
    """A fitted classifier: one of scikit-learn's, or any object with ``predict_proba`` or ``decision_function``.

    Linear models, linear SVMs with weights for each class, MLPClassifier and pipelines that end in one have features
    and head. Any other gives its ``decision_function``, or else the logs of its probabilities. A classifier whose
    ``predict`` differs from their argmax, as with tuned thresholds, is refused.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The fitted classifier.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.linear = LinearHead.of(estimator)
        if self.linear is None and not any(hasattr(estimator, name) for name in ("decision_function", "predict_proba")):
            raise InvalidTypeError(
                "`estimator` must be a fitted classifier with decision_function or predict_proba, "
                f"got {type(estimator).__name__}."
            )
        classes = getattr(estimator, "classes_", None)
        self.class_names = None if classes is None else integer_names(classes) or tuple(str(name) for name in classes)

    @cached_property
    def name(self) -> str:  # type: ignore[override]
        """Its class and a digest of all that it has learned."""
        steps = getattr(self.estimator, "steps", None)
        last = steps[-1][1] if steps else self.estimator
        return f"{type(last).__name__}-{digest(self.estimator)}"

    def run(self, prepared: Any, /) -> ModelOutput:
        """Logits, and features of the last layer where it is linear."""
        x = prepared if isinstance(prepared[0], str) else np.stack([np.asarray(value) for value in prepared])
        x = self._named(x)
        logits, features = self.on(x)
        if self.linear is None:
            self._check_answers(x, logits)
        return logits, features

    def _named(self, x: Any) -> Any:
        """Rows as the classifier was fitted on: a Pandas frame with its column names, if it was fitted on one."""
        names, pandas = getattr(self.estimator, "feature_names_in_", None), sys.modules.get("pandas")
        if names is None or pandas is None or np.ndim(x) != 2 or np.shape(x)[1] != len(names):
            return x
        return pandas.DataFrame(x, columns=names)

    def on(self, x: Any, /, *, with_features: bool = True) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Logits and features for any input of the classifier; sparse rows are made dense for the features only."""
        if self.linear is None:
            return estimator_logits(self.estimator, x), None
        return self.linear.on(x, with_features=with_features)

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Weight (K, d) and bias (K,), or None where the last layer is not linear."""
        return (None, None) if self.linear is None else (self.linear.weight, self.linear.bias)

    def _check_answers(self, x: Any, logits: NDArray[Any]) -> None:
        classes = getattr(self.estimator, "classes_", None)
        if classes is None or not hasattr(self.estimator, "predict"):
            return
        others = np.count_nonzero(np.asarray(self.estimator.predict(x)) != np.asarray(classes)[logits.argmax(axis=1)])
        if others:
            raise InvalidInputError(
                f"`estimator` must predict the class with its largest value, got another class for {others} of "
                f"{len(logits)} rows, as from tuned thresholds. abstain.sklearn.SelectiveClassifier(…, cv='prefit') "
                "rejects such rows."
            )


def from_spec(rest: str, options: ModelOptions, /) -> SklearnModel:  # noqa: ARG001, a file has all of it
    """The estimator in a file written by skops, refused if it holds types that skops does not know to be safe."""
    file = Path(rest)
    if not file.is_file():
        raise MissingFileError(f"`model` must name a file that exists, got {rest}.")
    skops = require("skops.io", extra="sklearn", feature="Reading scikit-learn models")
    with foreign(f"`{file}` must be an estimator written by skops"):
        if unsafe := skops.get_untrusted_types(file=file):
            raise InvalidInputError(f"`{file}` must hold known types only, got {', '.join(unsafe)}.")
        return SklearnModel(skops.load(file, trusted=[]))
