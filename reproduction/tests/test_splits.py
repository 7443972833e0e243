import numpy as np
import pytest

from abstain_reproduction.splits import parts, split_mean


def test_parts_hold_every_row_once_and_every_class_by_its_share():
    labels = np.repeat([0, 1], [60, 40])
    groups = parts(labels, (0.5, 0.25, 0.25), seed=0)
    assert sorted(np.concatenate(groups)) == list(range(100))
    assert [np.bincount(labels[part]).tolist() for part in groups] == [[30, 20], [15, 10], [15, 10]]


def test_another_seed_gives_other_parts():
    labels = np.zeros(50, dtype=int)
    first, second = (parts(labels, (0.5, 0.5), seed=seed)[0] for seed in (0, 1))
    assert (first != second).any()


def test_the_error_covers_overlapping_splits_and_the_plain_one_does_not():
    """Means of a table's halves: their mean over splits varies from table to table as the error says."""
    rng = np.random.default_rng(0)
    means, errors, plain = [], [], []
    for table in range(200):
        x = rng.normal(size=60)
        values = [x[parts(np.zeros(60, dtype=int), (0.5, 0.5), seed=20 * table + i)[1]].mean() for i in range(20)]
        mean = split_mean(values, tested=1.0)
        means.append(mean.mean)
        errors.append(mean.se)
        plain.append(np.std(values, ddof=1) / np.sqrt(20))
    assert np.mean(abs(np.array(means)) < 1.96 * np.array(errors)) > 0.9
    assert np.mean(abs(np.array(means)) < 1.96 * np.array(plain)) < 0.6


def test_it_is_written_with_its_error():
    mean = split_mean([0.0, 2.0], tested=0.5)
    assert f"{mean:+.1f}" == "+1.0 ± 1.4"
    assert mean.times(-2.0).mean == pytest.approx(-2.0)
    assert not mean.is_significant
