"""What a formula may look at: arrays of one library, and what several scores share, which is computed once."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.scores.head import Head, lacking
from abstain.scores.operations import Array, array_namespace, constant, sorted_rows, unit_rows
from abstain.scores.rows import Rows, at_least_float32, logit_rows

if TYPE_CHECKING:
    from abstain.scores.score import FittedScore

T = TypeVar("T")


class Inputs:
    """Logits, features and head of some rows; NumPy arrays, torch tensors or nodes of an ONNX graph.

    NumPy arrays go through exact kernels, others through their own operations.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy, or a node of an ONNX graph.
    features : array (n, d), optional
        The input of the last layer.
    head : Head, optional
        The last layer.
    outputs : function, optional
        Makes the same rows as `Outputs`, for scores that are not a formula.
    """

    def __init__(
        self,
        logits: Array,
        features: Array | None = None,
        head: Head | None = None,
        *,
        outputs: Callable[[], Outputs] | None = None,
    ) -> None:
        self.logits = logits
        self._features, self._head, self._outputs = features, head, outputs
        self._sums: dict[float, Rows] = {}
        self._known: dict[int, tuple[object, Any]] = {}
        self._units: dict[tuple[str, np.dtype[Any]], Array] = {}

    @classmethod
    def of(cls, outputs: Outputs, rows: Any, head: Head | None, /) -> Self:
        """Rows of outputs, a slice or numbers."""
        logits, features = outputs.source("logits"), outputs.source("features")
        return cls(
            None if logits is None else logits[rows],
            None if features is None else features[rows],
            head,
            outputs=lambda: outputs[rows],
        )

    @property
    def features(self) -> Array:
        """(n, d) the input of the last layer."""
        if self._features is None:
            raise lacking("features", "features=")
        return self._features

    @cached_property
    def sorted_features(self) -> Array:
        """(n, d) the features of each row from the smallest to the largest."""
        return sorted_rows(self.features)

    @property
    def head(self) -> Head:
        """The last layer."""
        if self._head is None:
            raise lacking("a head", "weight= and bias=")
        return self._head

    @cached_property
    def outputs(self) -> Outputs:
        """These rows as outputs, for scores that are not a formula."""
        if self._outputs is None:
            raise InvalidInputError(
                "`selector` must have a score that is a formula in arrays, got a function. Write it as a PlainScore."
            )
        return self._outputs()

    def sums(self, temperature: float = 1.0) -> Rows:
        """The row sums of logits / temperature, with the scaled margin at 1 if the head is known."""
        if temperature not in self._sums:
            is_scaled = temperature == 1 and self._head is not None and self._head.norms.all()
            scale = self.head.inverse_norms if is_scaled else None
            self._sums[temperature] = logit_rows(self.logits, scale=scale, temperature=temperature)
        return self._sums[temperature]

    @property
    def scaled_margin(self) -> Array:
        """(n,) the margin of the logits over the norms of the rows of the head, signed against the prediction."""
        self.head.check_norms()
        return self.sums().scaled_margin

    @cached_property
    def distances(self) -> Array:
        """(n, K) the logits over the norms of the rows of the head, in float64 or the type of another library."""
        scale, logits = self.head.inverse_norms, at_least_float32(self.logits)
        return logits * array_namespace(logits).astype(constant(scale, logits), logits.dtype)[None, :]

    @property
    def knows_predictions(self) -> bool:
        """Whether the row sums, which include the predictions, are computed."""
        return bool(self._sums)

    @property
    def predictions(self) -> Array:
        """(n,) the classifier's own."""
        known = list(self._sums.values()) or [self.sums()]
        return known[0].prediction

    def confidence(self, fitted: "FittedScore", /) -> Array:
        """The confidence (n,) of a fitted score, computed once for all scores made of it."""
        return self.known(fitted, lambda: fitted.formula(self))

    def known(self, what: object, find: Callable[[], T], /) -> T:
        """The result of ``find`` for these rows, computed once for all scores that hold the object ``what``."""
        if id(what) not in self._known:
            self._known[id(what)] = (what, find())  # with the object, or its id could become another's
        value: T = self._known[id(what)][1]
        return value

    def units(self, space: str, like: NDArray[Any], /) -> Array:
        """Features or logits over their norms, rounded as the bank they are compared with was."""
        key = (space, like.dtype)
        if key not in self._units:
            rows = self.features if space == "features" else self.logits
            if isinstance(rows, np.ndarray) and not (finite := np.isfinite(rows)).all():
                rows = np.where(finite, rows, 0)  # a masked class: the caller decides whether to refuse the row
            self._units[key] = unit_rows(rows, like)
        return self._units[key]
