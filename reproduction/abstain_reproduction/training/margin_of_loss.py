"""How far cross-entropy is a function of the confidence margin: the footnote of §4.3, measured."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats import spearmanr

from abstain.outputs import Outputs


@dataclass(frozen=True)
class MarginOfLoss:
    """Cross-entropy is log(1 + Σ_{j≠y} e^{z_j − z_y}); the footnote keeps the largest term of the sum."""

    correlation: float
    """Spearman's, between the margin z_y − max_{j≠y} z_j and minus the loss."""
    share: float
    """Of the mean loss, what is left when only the strongest rival is kept."""
    dominated: float
    """Share of samples where that rival has more than ten times the weight of all others together."""


def margin_of_loss(outputs: Outputs, /) -> MarginOfLoss:
    """Of a classifier on labelled samples of classes it knows.

    >>> margin = margin_of_loss(Outputs(logits=[[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]], labels=[0, 0, 1]))
    >>> round(margin.correlation, 6), round(margin.share, 6), margin.dominated
    (1.0, 1.0, 1.0)
    """
    logits = np.asarray(outputs.logits, dtype=np.float64)
    rows = np.arange(len(logits))
    gaps = logits - logits[rows, outputs.labels][:, None]
    gaps[rows, outputs.labels] = -np.inf
    rival = gaps.max(axis=1)
    loss, kept = np.logaddexp(0, logsumexp(gaps, axis=1)), np.logaddexp(0, rival)
    gaps[rows, gaps.argmax(axis=1)] = -np.inf
    with np.errstate(divide="ignore"):
        others = logsumexp(gaps, axis=1) if logits.shape[1] > 2 else np.full(len(rows), -np.inf)
    correlation = float(spearmanr(-rival, -loss).statistic)
    return MarginOfLoss(correlation, float(kept.mean() / loss.mean()), float(np.mean(rival > others + np.log(10))))
