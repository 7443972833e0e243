"""What a combination of scores gained over one of them alone, on the rows that certify its threshold."""

from collections.abc import Mapping

from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.scores.confidences import confidences
from abstain.scores.score import FittedScore
from abstain.selector.target import Asked
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def gained(
    name: str, certified: Threshold, singles: Mapping[str, FittedScore], asked: Asked, rest: Outputs, /, *, seed: int
) -> str:
    """In words, how much more of these rows it accepts than the best single score, certified on them at the same risk.

    The best in hindsight, so that the gain is told too small rather than too large.
    """
    shares = {}
    for single, confidence in confidences(rest, singles).items():
        try:
            found, _ = asked.threshold(singles[single], rest, rejected_last(confidence), seed)
            shares[single] = found.accepted / found.n
        except NoSafeThresholdError:
            shares[single] = 0.0
    best, here = max(shares, key=lambda single: shares[single]), certified.accepted / certified.n
    if not shares[best]:
        return f"{name} accepts {here:.1%} of these rows, and none of the {len(shares)} that it weighs any alone"
    points = 100 * (here - shares[best])
    return (
        f"{name} accepts {here:.1%} of these rows, {abs(points):.1f} points {'more' if points >= 0 else 'fewer'} than "
        f"{best} ({shares[best]:.1%}), the best alone of the {len(shares)} that it weighs"
    )
