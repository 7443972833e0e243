"""`compare_runs`: two models, or two versions of one, on the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from abstain._arguments import check_fraction, check_number, check_share
from abstain._errors import InvalidInputError
from abstain.evaluation.mixes import Mix, mixes_of
from abstain.evaluation.runs.common_samples import matched
from abstain.evaluation.runs.held_out_confidence import HeldOutConfidence, scored
from abstain.evaluation.runs.mix_comparison import MixComparison, RunDifference
from abstain.evaluation.runs.run_comparison import RunComparison
from abstain.metrics.intervals import ALPHAS
from abstain.metrics.two_models import TwoModels
from abstain.outputs import Outputs
from abstain.outputs.outputs import expect_outputs
from abstain.scores.registry import AnyScore

RunScore = AnyScore | tuple[AnyScore | None, AnyScore | None] | None
SHARES_OF_RISK = (0.5, 0.2)  # of the risk without rejection, where no risk is named


@final
@dataclass(frozen=True, kw_only=True)
class ComparisonPoints:
    """Where two models are compared.

    Parameters
    ----------
    alphas : sequence of float
        The coverages α of AURC-α.
    coverages : sequence of float
        Where the risks are compared.
    risks : sequence of float, optional
        Where the coverages are compared; by default half and a fifth of the risk without rejection.
    """

    alphas: Sequence[float] = ALPHAS
    coverages: Sequence[float] = (0.5, 0.8, 0.9, 1.0)
    risks: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for alpha in self.alphas:
            check_share("alpha", alpha)
        for coverage in self.coverages:
            check_share("coverage", coverage)
        for risk in self.risks or ():
            check_number("risk", risk)
            if not 0 <= risk < 1:
                raise InvalidInputError(f"`risk` must be at least 0 and below 1, got {risk}.")
        if not len(self.alphas):
            raise InvalidInputError("`alphas` must name at least one coverage, got none.")


POINTS = ComparisonPoints()


def compare_runs(
    a: Outputs,
    b: Outputs,
    /,
    *,
    score: RunScore = None,
    at: ComparisonPoints = POINTS,
    names: tuple[str, str] = ("a", "b"),
    level: float = 0.95,
    seed: int = 0,
) -> RunComparison:
    """Which of two models is better after rejection: AURC-α, risk at the same coverage, coverage at the same risk.

    Rows are matched by ids, and where there are domains by these too; without ids by their index. Differences are
    paired and count a cluster of ids once.

    Parameters
    ----------
    a, b : Outputs
        The outputs of two models for the same samples, with labels, errors or losses.
    score : str, score, function, or a pair of them, optional
        That of both models, or of each. ``"best"`` chooses a score for each model on a fifth of the rows. These rows,
        like those that scores are fitted on, are left out for both models.
    at : ComparisonPoints
        The coverages and risks where they are compared.
    names : pair of str
        What the models are called in words and figures.
    level : float
        Of the intervals.
    seed : int
        Of the draw of rows to choose or fit scores on.

    Returns
    -------
    RunComparison

    Examples
    --------
    >>> from abstain.datasets import digits
    >>> print(compare_runs(digits(), digits(), score="energy").words()[:20])
    There is no differen
    """
    for name, run in (("a", a), ("b", b)):
        expect_outputs(run, name=name)
    check_fraction("level", level)
    a, b, notes = matched(a, b, names=names)
    notes += [
        f"{np.count_nonzero(~run.usable):,} rows of {name} are not finite: they count as rejected errors."
        for name, run in zip(names, (a, b), strict=True)
        if not run.usable.all()
    ]
    score_a, score_b = score if isinstance(score, tuple) else (score, score)
    runs = scored(a, b, score_a, score_b, names=names, seed=seed)
    mixes, dropped = mixes_of(runs.a)
    models = {mix.name: _on(runs, mix, level) for mix in mixes}
    points = at if at.risks is not None else replace(at, risks=_usual_risks(runs))
    return RunComparison(
        names=names,
        scores=(runs.scores[0].name, runs.scores[1].name),
        mixes=tuple(_compared(mix.name, models[mix.name], points) for mix in mixes),
        notes=(*notes, *runs.notes, *dropped),
        level=level,
        models=models,
    )


def _on(runs: HeldOutConfidence, mix: Mix, level: float) -> TwoModels:
    rows = mix.rows(runs.a.shift)
    ids = None if runs.a.ids is None else runs.a.ids[rows]
    columns = [
        column[rows]
        for run, confidence in zip((runs.a, runs.b), runs.confidence, strict=True)
        for column in (confidence, run.outcomes)
    ]
    return TwoModels.of(*columns, ids=ids, level=level)


def _usual_risks(runs: HeldOutConfidence) -> list[float]:
    """Shares of the mean risk of both, to one digit: no choice that favours either."""
    risk = float(np.mean([runs.a.outcomes.mean(), runs.b.outcomes.mean()]))
    return sorted({_one_digit(share * risk) for share in SHARES_OF_RISK}, reverse=True) if 0 < risk < 1 else []


def _one_digit(value: float) -> float:
    return float(f"{value:.0e}")


def _compared(mix: str, models: TwoModels, at: ComparisonPoints) -> MixComparison:
    clusters, swapped = models.a.rows.clusters, models.swapped()
    return MixComparison(
        mix=mix,
        n=models.a.n,
        samples=models.a.n if clusters is None else clusters.size,
        errors_a=models.a.rows.total,
        errors_b=models.b.rows.total,
        aurc=tuple(RunDifference.of(alpha, models.aurc(alpha=alpha)) for alpha in at.alphas),
        risk=tuple(RunDifference.of(each, models.risk(coverage=each)) for each in at.coverages),
        coverage=tuple(RunDifference.of(risk, models.coverage(risk=risk)) for risk in at.risks or ()),
        coverage_at_risk_of_b=tuple(
            RunDifference.of(each, models.coverage_at_risk_of_b(coverage=each)) for each in at.coverages
        ),
        coverage_at_risk_of_a=tuple(
            RunDifference.of(each, swapped.coverage_at_risk_of_b(coverage=each).swapped()) for each in at.coverages
        ),
    )
