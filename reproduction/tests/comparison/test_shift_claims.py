import numpy as np
import pytest

from abstain.outputs import Outputs
from abstain.scores import confidence_margin
from abstain_reproduction.comparison.shift_claims import (
    errors_near_boundary,
    made_by_shift,
    no_clear_winner,
    shift_claims,
)

N = 500


def moved(far, unknown_margin=0.05, seed=0):
    """Two classes by the sign of x: every fifth sample is pushed over the boundary, ``far`` beyond it."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 3.0, N) * rng.choice([-1, 1], N)
    shifted = np.where(np.arange(N) % 10 == 0, -np.sign(x) * far, x)
    unknown = rng.choice([-1, 1], N) * unknown_margin * rng.uniform(0.5, 1.5, N)
    features = np.concatenate([x, shifted, unknown])[:, None]
    weight = np.array([[-1.0], [1.0]])
    labels = np.concatenate([x > 0, x > 0, np.full(N, -1)]).astype(np.int64)
    return Outputs(
        logits=features @ weight.T, labels=labels, features=features, weight=weight, bias=np.zeros(2),
        shift=np.repeat(["none", "covariate", "label"], N), domain=np.repeat(["plain", "push", "new"], N),
        ids=np.concatenate([np.arange(N), np.arange(N), N + np.arange(N)]).astype(str),
    )  # fmt: skip


@pytest.mark.parametrize(("far", "outcome"), [(0.1, "held"), (2.5, "not held")])
def test_errors_are_near_the_boundary_where_the_shift_moves_them_little(far, outcome):
    verdict = errors_near_boundary(moved(far), data="made")
    assert verdict.outcome == outcome
    assert verdict.evidence.startswith(f"of {N // 10} errors that small shifts made (push)")


@pytest.mark.parametrize(("margin", "outcome"), [(0.05, "held"), (2.0, "not held")])
def test_unknown_samples_have_no_winner_where_their_margins_are_small(margin, outcome):
    outputs = moved(0.1, unknown_margin=margin)
    verdict = no_clear_winner(outputs, data="made")
    assert verdict.outcome == outcome
    margins = confidence_margin(outputs.logits)
    share = (margins[2 * N :] <= np.quantile(margins[:N], 0.2)).mean()
    assert f"{share:.1%}" in verdict.evidence


def test_errors_that_were_there_before_are_not_the_shifts():
    outputs = Outputs(
        logits=[[2.0, 0.0], [0.0, 2.0], [0.0, 2.0], [0.0, 2.0], [0.0, 2.0]],
        labels=[0, 0, 0, 0, 0],
        shift=["none", "none", "covariate", "covariate", "covariate"],
        ids=["a", "b", "a", "b", "c"],
    )
    assert made_by_shift(outputs).tolist() == [False, False, True, False, False]


def test_claims_without_their_rows_are_left_out():
    logits = np.array([[2.0, 0.0], [0.0, 2.0]])
    assert shift_claims(Outputs(logits=logits, labels=[0, 1]), data="made") == ()
