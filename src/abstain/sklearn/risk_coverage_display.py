"""The risk–coverage curve in scikit-learn's manner of displays."""

from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain._errors import InvalidInputError
from abstain._extras import require
from abstain.metrics import RiskBand, RiskCoverage, aurc, risk_band, risk_coverage
from abstain.metrics.checks import rejected_last
from abstain.scores.registry import DEFAULT, AnyScore
from abstain.sklearn.arguments import check_classifier
from abstain.sklearn.estimator_outputs import wrong_answers
from abstain.sklearn.scorers import answers_of, confidence_of


@final
class RiskCoverageDisplay:
    """A risk–coverage curve with its pointwise band; make it by ``from_estimator`` or ``from_predictions``.

    Parameters
    ----------
    curve : RiskCoverage
        The points of the curve.
    aurc : float
        The area under it.
    band : RiskBand, optional
        Its pointwise intervals.
    estimator_name : str, optional
        What the legend calls it.

    Examples
    --------
    >>> display = RiskCoverageDisplay.from_predictions([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.8, 0.2, 0.7])
    >>> round(display.aurc, 4), display.line_.get_label()
    (0.0625, 'AURC = 0.062')
    """

    def __init__(
        self, *, curve: RiskCoverage, aurc: float, band: RiskBand | None = None, estimator_name: str | None = None
    ) -> None:
        self.curve, self.aurc, self.band, self.estimator_name = curve, aurc, band, estimator_name

    def plot(self, ax: Any = None, *, name: str | None = None, plot_band: bool = True, **line: Any) -> Self:
        """Draw on Matplotlib axes, by default new ones; sets ``line_``, ``band_``, ``ax_`` and ``figure_``."""
        pyplot = require("matplotlib.pyplot", extra="report", feature="RiskCoverageDisplay")
        self.ax_ = pyplot.subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        known = self.estimator_name if name is None else name
        label = f"AURC = {self.aurc:.3f}" if known is None else f"{known} (AURC = {self.aurc:.3f})"
        self.curve.plot(self.ax_, **({"label": label} | line))
        self.line_ = self.ax_.lines[-1]
        self.band_ = None
        if plot_band and self.band is not None:
            self.band.plot(self.ax_, color=self.line_.get_color())
            self.band_ = self.ax_.collections[-1]
        self.ax_.legend(loc="upper left")
        return self

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        confidence: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        level: float = 0.95,
        **drawing: Any,
    ) -> Self:
        """The curve of answers with confidences, higher = more trusted; samples of one group are a cluster.

        ``drawing`` are options of `plot`: ``ax``, ``name``, ``plot_band``, and those of the line.
        """
        c, wrong = rejected_last(np.asarray(confidence, dtype=np.float64)), wrong_answers(y_true, y_pred, name="y_true")
        if c.shape != wrong.shape:
            raise InvalidInputError(
                f"`confidence` must be a number for each label, got the shape {c.shape} for {len(wrong)}."
            )
        return cls(
            curve=risk_coverage(c, wrong, weights=sample_weight),
            aurc=aurc(c, wrong, weights=sample_weight),
            band=risk_band(c, wrong, weights=sample_weight, ids=groups, level=level),
            estimator_name=drawing.get("name"),
        ).plot(**drawing)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        score: AnyScore = DEFAULT,
        **options: Any,
    ) -> Self:
        """The curve of a fitted classifier on samples it has not seen.

        A `SelectiveClassifier` is shown by its own confidence, any other classifier by ``score``, one of the
        logits that needs no fitting. ``options`` are those of `from_predictions`.
        """
        check_classifier(estimator)
        answers = answers_of(estimator, X)
        wrong_answers(y, answers)
        name = {"name": type(estimator).__name__}
        return cls.from_predictions(y, answers, confidence_of(estimator, X, score), **(name | options))
