"""A risk to ask `calibrate` for, one that these rows are likely to certify."""

from math import floor, log, log10

import numpy as np

from abstain._bisection import first_number
from abstain._kernels.ranking import order_rows
from abstain.evaluation.evaluation import Evaluation
from abstain.metrics.checks import rejected_last

SHARE = 0.5  # of the errors at full coverage: the target where none is given
ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
LEAST, TRIALS = 0.2, 20  # the lowest coverage at which an achievable risk is looked for, and how many are tried
OF_COPIES = 0.3  # of the samples: what certifies with copies of rows, since that rule spends some on a pilot
DELTA = 0.05  # that of `calibrate`


def proposed_risk(evaluation: Evaluation, score: str, /) -> float | None:
    """Half of the error rate, or the lowest risk that looks achievable if that is higher; None if none below 1 does.

    Achievable is what Chernoff's bound, exp(−n kl), certifies at one of a few coverages, corrected for their number: a
    little above the exact one, and without SciPy, which takes long to import.
    """
    errors, (_, samples) = evaluation.outcomes, evaluation.outputs.samples
    wrong = np.cumsum(errors[order_rows(rejected_last(evaluation.confidence[score])).rows])
    ranks = np.unique(np.linspace(LEAST * len(wrong), len(wrong), TRIALS).astype(np.int64).clip(1))
    counted = ranks * (1.0 if samples == len(wrong) else OF_COPIES * samples / len(wrong))
    reached = min(_bound(*pair) for pair in zip((wrong[ranks - 1] / ranks).tolist(), counted.tolist(), strict=True))
    risk = rounded_up(max(SHARE * float(errors.mean()), reached))
    return risk if risk < 1 else None


def rounded_up(value: float, /) -> float:
    """Up to a number that one would ask for.

    >>> rounded_up(0.0311), rounded_up(0.5)
    (0.04, 0.5)
    """
    unit = 10.0 ** floor(log10(value))
    return float(f"{next(factor for factor in ROUND if factor * unit >= value) * unit:.2g}")


def _bound(share: float, n: float) -> float:
    """The largest rate that n rows with this share of errors do not exclude, by bisection."""
    return first_number(lambda rate: n * _divergence(share, rate) > log(TRIALS / DELTA), share, 1.0, within=1e-12)


def _divergence(p: float, q: float) -> float:
    """kl(p, q) of two shares, q inside (0, 1)."""
    return (p * log(p / q) if p else 0.0) + ((1 - p) * log((1 - p) / (1 - q)) if p < 1 and q < 1 else 0.0)
