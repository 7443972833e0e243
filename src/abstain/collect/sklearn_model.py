"""scikit-learn classifiers, and whatever else has ``predict_proba``."""

import sys
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.cached_property import cached_property
from abstain.collect.learned import learned
from abstain.collect.linear_head import LinearHead
from abstain.collect.model import Batch, Model
from abstain.collect.responses import logits_of
from abstain.fingerprint import digest
from abstain.outputs.named_labels import integer_names


@final
class SklearnModel(Model):
    """A fitted classifier: one of scikit-learn's, or any object with ``predict_proba`` or ``decision_function``.

    Linear models, linear SVMs with weights for each class, MLPClassifier and pipelines that end in one show features
    and head. Any other gives its ``decision_function``, or else the logs of its probabilities. Its answers must be the
    classes these favour: where ``predict`` says otherwise, as with tuned thresholds, it is refused.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.linear = LinearHead.of(estimator)
        if self.linear is None and not any(hasattr(estimator, name) for name in ("decision_function", "predict_proba")):
            raise TypeError(
                "`estimator` must be a fitted classifier with decision_function or predict_proba, "
                f"got {type(estimator).__name__}."
            )
        classes = getattr(estimator, "classes_", None)
        self.class_names = None if classes is None else integer_names(classes) or tuple(str(name) for name in classes)

    @cached_property
    def name(self) -> str:  # type: ignore[override]
        """Of its kind and all that it has learned."""
        steps = getattr(self.estimator, "steps", None)
        last = steps[-1][1] if steps else self.estimator
        return f"{type(last).__name__}-{digest(learned(self.estimator))}"

    def __call__(self, inputs: Sequence[Any], /) -> Batch:
        """Logits, and features of the last layer where it is linear."""
        x = list(inputs) if isinstance(inputs[0], str) else np.stack([np.asarray(value) for value in inputs])
        x = self._named(x)
        logits, features = self.on(x)
        if self.linear is None:
            self._check_answers(x, logits)
        return logits, features

    def _named(self, x: Any) -> Any:
        """Rows as the classifier was fitted on, a table with the names of its columns, where it was one of Pandas."""
        names, pandas = getattr(self.estimator, "feature_names_in_", None), sys.modules.get("pandas")
        if names is None or pandas is None or np.ndim(x) != 2 or np.shape(x)[1] != len(names):
            return x
        return pandas.DataFrame(x, columns=names)

    def on(self, x: Any, /, *, with_features: bool = True) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Logits and features of whatever the classifier takes; sparse rows are made dense for the features alone."""
        if self.linear is None:
            return logits_of(self.estimator, x), None
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
            raise ValueError(
                f"`estimator` must answer with the class it favours, got another for {others} of {len(logits)} rows, "
                "as tuned thresholds give. abstain.sklearn.SelectiveClassifier(…, cv='prefit') never accepts those."
            )
