import numpy as np
import pytest

from abstain.selector.hash_sample import END, HashSample


def test_samples_are_joined_as_if_made_at_once():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, END, size=(2, 3000), dtype=np.uint64)
    few = first[:700]
    both = HashSample.of(np.concatenate([first, second]))
    assert HashSample.of(first).joined(HashSample.of(second)) == both
    assert HashSample.of(few).joined(HashSample.of(second)) == HashSample.of(np.concatenate([few, second]))
    assert both.joined(None) == both


@pytest.mark.parametrize(
    "fields",
    [
        ((2, 1), (1, 1), END),
        ((1, 2), (1,), END),
        ((1,), (0,), END),
        ((1,), (1,), 1),
        ((), (), 0),
        ((1,), (1,), END + 1),
    ],
)
def test_a_sample_that_is_none_is_refused(fields):
    with pytest.raises(ValueError, match="hashes that do not rise, or counts that do not fit"):
        HashSample(*fields)
