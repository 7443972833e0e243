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
from abstain.evaluation.runs.mix_comparison import MixComparison
from abstain.evaluation.runs.run_comparison import RunComparison
from abstain.evaluation.runs.scored_run import ScoredRun, scored
from abstain.metrics.intervals import ALPHAS, check_alphas
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
        check_alphas(self.alphas)
        for coverage in self.coverages:
            check_share("coverage", coverage)
        for risk in self.risks or ():
            check_number("risk", risk)
            if not 0 <= risk < 1:
                raise InvalidInputError(f"`risk` must be at least 0 and below 1, got {risk}.")


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
    scores = score if isinstance(score, tuple) else (score, score)
    runs, of_scores = scored((a, b), scores, names=names, seed=seed)
    mixes, dropped = mixes_of(runs[0].outputs)
    models = {mix.name: _on(runs, mix, level) for mix in mixes}
    points = at if at.risks is not None else replace(at, risks=_usual_risks(runs))
    return RunComparison(
        names=names,
        scores=(runs[0].score.name, runs[1].score.name),
        mixes=tuple(_compared(mix.name, models[mix.name], points) for mix in mixes),
        notes=(*notes, *of_scores, *dropped),
        level=level,
        models=models,
    )


def _on(runs: list[ScoredRun], mix: Mix, level: float) -> TwoModels:
    outputs = runs[0].outputs
    rows = mix.rows(outputs.shift)
    columns = [column[rows] for run in runs for column in (run.confidence, run.outputs.outcomes)]
    return TwoModels.of(*columns, ids=None if outputs.ids is None else outputs.ids[rows], level=level)


def _usual_risks(runs: list[ScoredRun]) -> list[float]:
    """Shares of the mean risk of both, to one digit: no choice that favours either."""
    risk = float(np.mean([run.outputs.outcomes.mean() for run in runs]))
    return sorted({float(f"{share * risk:.0e}") for share in SHARES_OF_RISK}, reverse=True) if 0 < risk < 1 else []


def _compared(mix: str, models: TwoModels, at: ComparisonPoints) -> MixComparison:
    clusters = models.a.rows.clusters
    return MixComparison(
        mix=mix,
        n=models.a.n,
        samples=models.a.n if clusters is None else clusters.size,
        errors_a=models.a.rows.total,
        errors_b=models.b.rows.total,
        aurc=tuple(models.aurc(alpha=alpha) for alpha in at.alphas),
        risk=tuple(models.risk(coverage=each) for each in at.coverages),
        coverage=tuple(models.coverage(risk=risk) for risk in at.risks or ()),
        coverage_at_risk_of_b=tuple(models.coverage_at_risk_of_b(coverage=each) for each in at.coverages),
        coverage_at_risk_of_a=tuple(models.coverage_at_risk_of_a(coverage=each) for each in at.coverages),
    )
