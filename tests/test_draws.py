import numpy as np
import pytest

from abstain import Outputs
from abstain._draws import coarse, generator
from abstain.scores.fitting_draw import rows_per_class, split_to_fit
from abstain.thresholds import rejection_sample


def outputs(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return Outputs(logits=rng.normal(size=(n, 4)), labels=rng.integers(4, size=n), features=rng.normal(size=(n, 3)))


def test_purpose_seed_and_data_make_the_stream():
    streams = {
        generator(purpose, seed, data).random()
        for purpose in ("a", "b")
        for seed in (0, 1)
        for data in ([1.0, 2.0], [2.0, 1.0], None)
    }
    assert len(streams) == 12


def test_no_stream_is_one_that_a_user_made():
    """A user who shuffled with `default_rng(0).permutation` must not get that permutation back."""
    user = np.random.default_rng(0)
    assert generator("anything", 0).random() != user.random()


def test_so_many_binary_digits_are_kept():
    close = np.array([1.0, 1.0 + 2.0**-20, 1.0 + 2.0**-40])
    assert len(set(coarse(close))) == 1
    assert len(set(coarse(close, digits=30))) == 2


def test_large_arrays_are_thinned_but_looked_at():
    large = np.zeros((3_000_000, 2))
    before = generator("a", 0, large).random()
    large[::7] = 1.0
    assert generator("a", 0, large).random() != before


@pytest.mark.parametrize(
    "draw",
    [
        lambda o: o.split(0.3)[0].ids,
        lambda o: split_to_fit(o, seed=0, share=0.3)[0].inside.ids,
        lambda o: o.ids[rows_per_class(o, seed=0)[0]],
    ],
)
def test_the_same_places_are_not_drawn_of_other_data(draw):
    """Or the ranks of sorted rows would be the same in every sample, and what is left no fair sample."""
    drawn = []
    for seed in range(2):
        o = outputs(seed=seed)
        drawn.append(draw(Outputs(logits=o.logits, labels=o.labels, features=o.features, ids=np.arange(400))))
    assert set(drawn[0].tolist()) != set(drawn[1].tolist())


def test_rejection_sampling_looks_at_the_data():
    weights = np.full(500, 0.5)
    assert (
        rejection_sample(weights, largest=1.0, data=(np.arange(500.0),))
        != rejection_sample(weights, largest=1.0, data=(np.ones(500),))
    ).any()
