"""The lemma of §3.1: what the softmax scores are like as the scale λ of the logits grows, in logarithms.

With Δ = z₁ − z₂ the lemma has SR_max ~ exp(−e^{−λΔ}), SR_doctor ~ 1 − exp(2e^{−λΔ}) and SR_ent ~ −e^{−λΔ}. The last
lacks a factor: the entropy of a top probability 1 − ε is ε(1 + log 1/ε), so that SR_ent ~ −(1 + λΔ)e^{−λΔ}. Ratios are
taken between 1 − SR_max, −SR_doctor, −SR_ent, which vanish, and what the lemma says of them; SR_max itself goes to 1
and so does any number that does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import exprel

from abstain.scores import confidence_margin, doctor, max_softmax, neg_entropy


@dataclass(frozen=True)
class Ratios:
    """Each score over what the lemma says, at one scale; 1 in the limit where the lemma holds."""

    scaled_margin: float
    """λΔ"""
    max_softmax: float
    doctor: float
    neg_entropy: float
    corrected: float
    """SR_ent over −(1 + λΔ)e^{−λΔ}."""


def ratios(logits: ArrayLike, /, *, scale: float) -> Ratios:
    """The ratios for one row of logits (K,) without ties.

    >>> limits = ratios([1.5, 0.5, -0.5, -1.5], scale=100.0)
    >>> round(limits.max_softmax, 6), round(limits.doctor, 6), round(limits.neg_entropy, 6), round(limits.corrected, 6)
    (1.0, 1.0, 101.0, 1.0)
    """
    z = np.asarray(logits, dtype=np.float64)[None]
    u = scale * float(confidence_margin(z)[0])
    log_odds, log_doctor, log_entropy = (
        float(score(z, temperature=1 / scale)[0]) for score in (max_softmax, doctor, neg_entropy)
    )
    missing = -np.logaddexp(0.0, log_odds)  # log(1 − SR_max)
    entropy = float(np.exp(u - log_entropy))
    return Ratios(
        scaled_margin=u,
        max_softmax=float(np.exp(missing - _log_expm1(-1.0, u))),
        doctor=float(np.exp(-log_doctor - _log_expm1(2.0, u))),
        neg_entropy=entropy,
        corrected=entropy / (1 + u),
    )


def _log_expm1(factor: float, u: float) -> float:
    """The logarithm of |exp(y) − 1| for y = factor·e^{−u}, however small."""
    return float(np.log(abs(factor)) - u + np.log(exprel(factor * np.exp(-u))))
