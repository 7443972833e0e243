"""`compare_runs`: two models, or two versions of one, on the same samples."""

from collections.abc import Sequence

import numpy as np

from abstain.arguments import check_number
from abstain.evaluation.mixes import Mix, mixes_of
from abstain.evaluation.runs.matched import matched
from abstain.evaluation.runs.mix_comparison import Difference, MixComparison
from abstain.evaluation.runs.run_comparison import RunComparison
from abstain.evaluation.runs.scored import Scored, scored
from abstain.metrics.checks import check_level, check_share
from abstain.metrics.intervals import ALPHAS
from abstain.metrics.two_models import TwoModels
from abstain.outputs import Outputs
from abstain.outputs.expected import expect_outputs
from abstain.scores.registry import AnyScore

SHARES_OF_RISK = (0.5, 0.2)  # of the risk without rejection, where no risk is named


def compare_runs(
    a: Outputs,
    b: Outputs,
    /,
    *,
    score: AnyScore | tuple[AnyScore | None, AnyScore | None] | None = None,
    alphas: Sequence[float] = ALPHAS,
    coverages: Sequence[float] = (0.5, 0.8, 0.9, 1.0),
    risks: Sequence[float] | None = None,
    names: tuple[str, str] = ("a", "b"),
    level: float = 0.95,
    seed: int = 0,
) -> RunComparison:
    """Which of two models is better after rejection: AURC-α, risk at the same coverage, coverage at the same risk.

    Rows are matched by ids, and where there are domains by these too; without ids by their place. Differences are
    paired and count a cluster of ids once. ``score`` is that of both, or one of each; ``"best"`` chooses each model's
    own on a fifth of the rows that is then left out for both, as do scores that need fitting. Without ``risks`` half
    and a fifth of the risk without rejection are taken.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=900)
    >>> good, bad = (Outputs(logits=rng.normal(size=(900, 3)) + k * np.eye(3)[labels], labels=labels) for k in (4, 2))
    >>> print(compare_runs(good, bad, names=("new", "old")).words()[:54])
    new is better after rejection on these rows (900 rows)
    """
    for name, run in (("a", a), ("b", b)):
        expect_outputs(run, name=name)
    check_level(level)
    for alpha in alphas:
        check_share("alpha", alpha)
    for coverage in coverages:
        check_share("coverage", coverage)
    for risk in risks or ():
        check_number("risk", risk)
        if not 0 <= risk < 1:
            raise ValueError(f"`risk` must be at least 0 and below 1, got {risk}.")
    if not len(alphas):
        raise ValueError("`alphas` must name at least one coverage, got none.")
    a, b, notes = matched(a, b, names=names)
    notes += [
        f"{np.count_nonzero(~run.usable):,} rows of {name} are not finite: they count as rejected errors."
        for name, run in zip(names, (a, b), strict=True)
        if not run.usable.all()
    ]
    score_a, score_b = score if isinstance(score, tuple) else (score, score)
    found = scored(a, b, score_a, score_b, names=names, seed=seed)
    mixes, dropped = mixes_of(found.a)
    models = {mix.name: _on(found, mix, level) for mix in mixes}
    risks = _usual_risks(found) if risks is None else risks
    return RunComparison(
        names=names,
        scores=(found.scores[0].name, found.scores[1].name),
        mixes=tuple(_compared(mix.name, models[mix.name], alphas, coverages, risks) for mix in mixes),
        notes=(*notes, *found.notes, *dropped),
        level=level,
        models=models,
    )


def _on(found: Scored, mix: Mix, level: float) -> TwoModels:
    rows = mix.rows(found.a.shift)
    ids = None if found.a.ids is None else found.a.ids[rows]
    columns = [
        column[rows]
        for run, confidence in zip((found.a, found.b), found.confidence, strict=True)
        for column in (confidence, run.errors)
    ]
    return TwoModels.of(*columns, ids=ids, level=level)


def _usual_risks(found: Scored) -> list[float]:
    """Shares of the mean risk of both, to one digit: no choice that favours either."""
    risk = float(np.mean([found.a.errors.mean(), found.b.errors.mean()]))
    return sorted({_one_digit(share * risk) for share in SHARES_OF_RISK}, reverse=True) if 0 < risk < 1 else []


def _one_digit(value: float) -> float:
    return float(f"{value:.0e}")


def _compared(
    mix: str, models: TwoModels, alphas: Sequence[float], coverages: Sequence[float], risks: Sequence[float]
) -> MixComparison:
    clusters, swapped = models.a.rows.clusters, models.swapped()
    return MixComparison(
        mix=mix,
        n=models.a.n,
        samples=models.a.n if clusters is None else clusters.size,
        errors_a=int(np.count_nonzero(models.a.rows.given_losses)),
        errors_b=int(np.count_nonzero(models.b.rows.given_losses)),
        aurc=tuple(Difference.of(alpha, models.aurc(alpha=alpha)) for alpha in alphas),
        risk=tuple(Difference.of(each, models.risk(coverage=each)) for each in coverages),
        coverage=tuple(Difference.of(risk, models.coverage(risk=risk)) for risk in risks),
        coverage_at_risk_of_b=tuple(
            Difference.of(each, models.coverage_at_risk_of_b(coverage=each)) for each in coverages
        ),
        coverage_at_risk_of_a=tuple(
            Difference.of(each, swapped.coverage_at_risk_of_b(coverage=each).swapped()) for each in coverages
        ),
    )
