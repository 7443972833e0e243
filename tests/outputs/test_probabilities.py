"""Probabilities instead of logits: kept as their logs, and told apart from logits by the argument's name alone."""

import warnings

import numpy as np
import pytest

import abstain
from abstain.outputs import Outputs
from abstain.scores import SCORES, max_softmax

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(400, 4)) * 2
P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
X = RNG.normal(size=(400, 6))
LABELS = np.where(RNG.random(400) < 0.7, Z.argmax(1), RNG.integers(4, size=400))
WITH_HEAD = {"labels": LABELS, "features": X, "weight": RNG.normal(size=(4, 6))}
SIZE = {"max_logit", "energy", "geometric_margin", "vim", "nnguide", "react", "scale", "nci"}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_probabilities_are_kept_as_logs(dtype):
    outputs = Outputs(probabilities=P.astype(dtype), labels=LABELS)
    assert outputs.logits.dtype == dtype
    np.testing.assert_allclose(np.exp(outputs.logits), P, rtol=1e-2 if dtype == np.float16 else 1e-6)
    np.testing.assert_array_equal(outputs.predictions, P.astype(dtype).argmax(axis=1))
    assert outputs.are_log_probabilities


def test_a_probability_of_zero_is_finite():
    outputs = Outputs(probabilities=np.array([[1.0, 0.0], [0.3, 0.7]], dtype=np.float32))
    assert outputs.usable.all()
    assert np.isfinite(max_softmax(outputs.logits)).all()


def test_scores_of_the_size_of_logits_are_left_out_with_the_reason():
    evaluation = abstain.evaluate(Outputs(probabilities=P, **WITH_HEAD))
    reasons = {name: reason for name, reason in evaluation.left_out.items() if "log-probabilities" in reason}
    assert set(reasons) == SIZE
    assert set(reasons.values()) == {
        "the outputs have log-probabilities for logits, which have lost the size that this score looks at"
    }
    with pytest.raises(ValueError, match="must have what energy needs, got log-probabilities for logits"):
        abstain.calibrate(Outputs(probabilities=P, labels=LABELS), score="energy", risk=0.5)


OTHERS = {
    "knn_logits",  # distances of log-probabilities, which are as good as those of logits
    "learned",  # weighs geometric_margin and energy too, which look at the size and are left out of probabilities
    "max_logit_pnorm",  # its p is chosen by ties at p = 1 that rounding breaks
}


@pytest.mark.parametrize("name", sorted(set(SCORES) - SIZE - OTHERS))
def test_what_is_left_does_not_change_with_the_size(name):
    """Adding a number to a row of logits changes neither probabilities nor these scores."""
    score, logits, logs = SCORES[name], Outputs(logits=Z, **WITH_HEAD), Outputs(probabilities=P, **WITH_HEAD)
    np.testing.assert_allclose(score.fit(logs)(logs), score.fit(logits)(logits), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", sorted(SIZE))
def test_what_is_left_out_changes_with_the_size(name):
    score, logits = SCORES[name], Outputs(logits=Z + 5, **WITH_HEAD)
    assert score.objection(logits) is None
    assert not np.allclose(score.fit(logits)(logits), score.fit(logits)(Outputs(logits=Z, **WITH_HEAD)))


def test_logs_of_probabilities_that_came_as_logits_are_known_by_what_they_are():
    assert Outputs(logits=np.log(P).astype(np.float32)).are_log_probabilities
    assert not Outputs(logits=Z).are_log_probabilities
    assert not Outputs(logits=np.vstack([np.log(P), Z[:1]])).are_log_probabilities
    mixed = Outputs(logits=np.vstack([np.log(P), np.full((1, 4), np.nan)]), nonfinite="reject")
    assert mixed.are_log_probabilities


def test_probabilities_given_for_logits_are_told_once():
    with pytest.warns(UserWarning, match="`logits` look like probabilities: .* Pass them as probabilities=") as caught:
        outputs = Outputs(logits=P, labels=LABELS)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(outputs.select(np.arange(50)).split(0.5)[0]) == 25
        for logits in (Z, np.vstack([P, [[2.0, 0, 0, 0]]]), np.abs(Z), P - 0.1):
            Outputs(logits=logits)
        Outputs(probabilities=P)


def test_only_a_few_rows_of_logits_are_looked_at():
    class Counted(np.ndarray):
        rows = 0

        def __ge__(self, other):
            Counted.rows += len(self)
            return super().__ge__(other)

    from abstain.outputs.probabilities import are_probabilities

    assert not are_probabilities(np.vstack([Z] * 100).view(Counted))
    assert Counted.rows <= 16


def test_they_survive_a_file(tmp_path):
    outputs = Outputs(probabilities=P, labels=LABELS)
    outputs.save(tmp_path / "run")
    loaded = Outputs.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.logits, outputs.logits)
    assert loaded.are_log_probabilities


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probabilities": P, "logits": Z}, "`probabilities` must be left out where there are logits, got both"),
        ({"probabilities": Z}, r"`probabilities` must be non-negative and sum to 1, .* in row 0"),
        ({"probabilities": np.vstack([P, P[:1] * 2])}, "and a sum of 2 in row 400 .1 of 401 rows.. Pass"),
        ({"probabilities": P[:, 0]}, r"`probabilities` must have shape \(n, K\), a column for each .*, got \(400,\)"),
        ({"probabilities": np.full((3, 2), np.nan)}, "must be finite, got nan in 3 of 3 rows"),
        ({}, "`logits` must be given, or else `probabilities`"),
    ],
)
def test_what_is_no_probability_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Outputs(**arguments)
