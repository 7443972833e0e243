"""AURC with standard errors, and paired differences, against the plain ways to have them."""

from itertools import combinations

import numpy as np
from ratio import ratio

from abstain.metrics import aurc_estimates, compare_all

ALPHAS = (0.1, 0.5, 1.0)


def areas() -> bool:
    """AURC at three α with standard errors, n = 10,000,000, exact ties, against sorts that know neither."""
    from sklearn.metrics import roc_auc_score

    rng, n, met = np.random.default_rng(0), 10_000_000, []
    draws = rng.normal(size=n)
    kinds = {"float64": draws, "float32": draws.astype(np.float32), "float64, ties": draws.round(3)}
    for kind, c in kinds.items():
        errors = rng.random(n) < 0.5 / (1 + np.exp(c))

        def ours(c=c, errors=errors):
            return aurc_estimates(c, errors, alphas=ALPHAS)

        def argsort(c=c, errors=errors):
            risks = np.cumsum(errors[np.argsort(-c)]) / np.arange(1, n + 1)
            return [risks[: int(alpha * n)].mean() for alpha in ALPHAS]

        peers = (
            ("argsort and cumsum", argsort, 3, 4),
            ("one np.sort", lambda c=c: np.sort(c), 1 / 6, 7),
            ("roc_auc_score", lambda c=c, errors=errors: roc_auc_score(~errors, c), 10, 2),
        )
        for name, peer, goal, rounds in peers:
            met.append(ratio(f"AURC, {kind}", ours, peer, goal=goal, peer_name=name, rounds=rounds))
    return all(met)


def pairs() -> bool:
    """Standard errors of all pairs of ten scores, n = 1,000,000, against 1,000 bootstrap resamples (ten, times 100)."""
    rng, n = np.random.default_rng(0), 1_000_000
    base = rng.normal(size=n)
    errors = rng.random(n) < 0.5 / (1 + np.exp(base))
    scores = [base + rng.normal(scale=0.1 * k, size=n) for k in range(10)]

    def ours():
        return [one.se for one in compare_all(dict(enumerate(scores)), errors).values()]

    def bootstrap():
        drawn = []
        for _ in range(10):
            chosen = rng.integers(n, size=n)
            ranked = (errors[chosen][np.argsort(-score[chosen])] for score in scores)
            drawn.append([(np.cumsum(one) / np.arange(1, n + 1)).mean() for one in ranked])
        return [np.std([d[a] - d[b] for d in drawn], ddof=1) for a, b in combinations(range(10), 2)]

    print(f"mean standard error: ours {np.mean(ours()):.3g}, ten resamples {np.mean(bootstrap()):.3g}")
    name = "45 paired standard errors of 10 scores"
    return ratio(name, ours, bootstrap, goal=1000, peer_name="1,000 resamples", rounds=4, times=100)
