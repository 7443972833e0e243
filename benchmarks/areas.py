"""AURC with standard errors, and paired differences, against the plain ways to have them."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from finding import Finding, exponent, faster, slower

from abstain.metrics import aurc_estimates, compare_all
from abstain.metrics.intervals import ALPHAS


def areas(quick: bool) -> Iterator[Finding]:
    """AURC at three α with standard errors and exact ties against sorts that know neither, and over n."""
    from sklearn.metrics import roc_auc_score

    rng, n = np.random.default_rng(0), 1_000_000 if quick else 10_000_000
    draws = rng.normal(size=n)
    for kind, c in {"float64": draws, "float32": draws.astype(np.float32), "ties": draws.round(3)}.items():
        wrong = rng.random(n) < 0.5 / (1 + np.exp(c))
        what = f"AURC at 3 α with SE, n = {n:,}, {kind}"

        def ours(c=c, wrong=wrong):
            return aurc_estimates(c, wrong, alphas=ALPHAS)

        def argsort(c=c, wrong=wrong):
            risks = np.cumsum(wrong[np.argsort(-c)]) / np.arange(1, n + 1)
            return [risks[: int(alpha * n)].mean() for alpha in ALPHAS]

        yield faster(what, ours, "argsort and cumsum, no ties, no SE", argsort, goal=3, rounds=4)
        yield slower(what, ours, "one np.sort of the same array", lambda c=c: np.sort(c), goal=6)
        yield faster(what, ours, "roc_auc_score", lambda c=c, w=wrong: roc_auc_score(~w, c), goal=10, rounds=2)
        yield from _torch_uncertainty(what, ours, c, wrong)
    sizes = (10_000, 100_000, 1_000_000) if quick else (10_000, 100_000, 1_000_000, 10_000_000)
    wrong = rng.random(n) < 0.1
    works = {size: lambda size=size: aurc_estimates(draws[:size], wrong[:size], alphas=ALPHAS) for size in sizes}
    yield exponent("AURC at 3 α with SE, time over n", works, goal=1.2)


def _torch_uncertainty(what, ours, c, wrong):
    """The peer's last step alone: what its metric does once confidences and errors are gathered."""
    try:
        from abstain._extras import repair_torchvision

        repair_torchvision()
        import torch
        from torch_uncertainty.metrics.classification import AURC
    except ImportError as error:
        print(f"torch-uncertainty: left out, {error.name} is not installed")
        return
    metric = AURC()
    metric._update_count = 1  # or it warns that nothing was gathered
    metric.scores, metric.errors = [torch.from_numpy(c)], [torch.from_numpy(wrong.astype(np.float32))]
    yield faster(what, ours, "torch-uncertainty's AURC, one α, no SE", _again(metric), goal=5, rounds=4)


def _again(metric):
    """The metric's value, computed again each time, without a cache."""

    def compute():
        metric._computed = None
        return metric.compute()

    return compute


def pairs(quick: bool) -> Iterator[Finding]:
    """Standard errors of all pairs of ten scores, against 1,000 bootstrap resamples, extrapolated from ten."""
    rng, n, some = np.random.default_rng(0), 100_000 if quick else 1_000_000, 2 if quick else 10
    base = rng.normal(size=n)
    errors = rng.random(n) < 0.5 / (1 + np.exp(base))
    scores = [base + rng.normal(scale=0.1 * k, size=n) for k in range(10)]

    def ours():
        return [each.se for each in compare_all(dict(enumerate(scores)), errors).values()]

    def bootstrap():
        drawn = []
        for _ in range(some):
            chosen = rng.integers(n, size=n)
            ranked = (errors[chosen][np.argsort(-score[chosen])] for score in scores)
            drawn.append([(np.cumsum(each) / np.arange(1, n + 1)).mean() for each in ranked])
        return [np.std([d[a] - d[b] for d in drawn], ddof=1) for a, b in combinations(range(10), 2)]

    what, against = f"45 paired standard errors of 10 scores, n = {n:,}", "bootstrap of 1,000 resamples"
    yield faster(what, ours, against, bootstrap, goal=1000, rounds=2, times=1000 / some)
