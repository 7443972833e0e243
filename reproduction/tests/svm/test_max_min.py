"""The machines of largest worst margins against scikit-learn, brute force and other weights."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from abstain_reproduction.svm.hard_margins import hard_margins
from abstain_reproduction.svm.machine import halves
from abstain_reproduction.svm.max_min import comparisons, hard_margin, max_min, worst_geometric


def three_clouds(seed=0, apart=4.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 8)
    middles = apart * np.array([[0.0, 1.0], [1.5, -0.5], [-1.0, -1.0]])
    return np.column_stack([rng.normal(size=(24, 2)) + middles[y], np.ones(24)]), y


def test_comparisons_are_differences_of_logits():
    x, y = three_clouds()
    w = np.random.default_rng(1).normal(size=(3, 3))
    expected = [x[i] @ w[y[i]] - x[i] @ w[j] for i in range(24) for j in range(3) if j != y[i]]
    np.testing.assert_allclose(comparisons(x, y, 3) @ w.ravel(), expected)


def test_the_binary_machine_is_scikit_learns_with_a_huge_penalty():
    (x, y), _ = halves("iris", seed=0)
    x, y = x[y < 2], y[y < 2]
    theirs = LinearSVC(C=1e5, loss="hinge", fit_intercept=False, max_iter=1_000_000, tol=1e-8).fit(x, y)
    w = theirs.coef_[0]
    margin = (np.where(y, 1, -1) * (x @ w)).min() / np.linalg.norm(w)
    ours = hard_margin(x, y, 2)
    np.testing.assert_allclose(ours[0], -ours[1], atol=1e-10)
    assert 1 / (2 * np.linalg.norm(ours[1])) == pytest.approx(margin, rel=1e-3)
    assert worst_geometric(x, y, ours) == pytest.approx(2 * margin, rel=1e-3)
    solution = max_min(x, y, ours)
    assert solution.worst == pytest.approx(solution.bound, rel=1e-9)
    assert solution.worst == pytest.approx(worst_geometric(x, y, ours), rel=1e-9)


def test_the_hard_margin_machine_is_the_limit_of_the_soft_one():
    x, y = three_clouds()
    ours = hard_margin(x, y, 3)
    assert (comparisons(x, y, 3) @ ours.ravel()).min() == pytest.approx(1)
    soft = LinearSVC(
        multi_class="crammer_singer", C=1e4, fit_intercept=False, max_iter=1_000_000, tol=1e-8, random_state=0
    ).fit(x, y)
    np.testing.assert_allclose(ours, soft.coef_, atol=2e-3 * np.abs(ours).max())


def test_rows_that_nothing_separates_have_no_hard_margin():
    x, y = three_clouds()
    assert hard_margin(np.vstack([x, x[:1]]), np.append(y, (y[0] + 1) % 3), 3) is None  # a row of two classes


def test_no_weights_have_a_larger_worst_geometric_margin():
    x, y = three_clouds()
    start = hard_margin(x, y, 3)
    solution = max_min(x, y, start)
    np.testing.assert_allclose(np.linalg.norm(solution.weight, axis=1), 1)
    assert solution.worst == pytest.approx(solution.bound, rel=1e-8)
    assert solution.worst > 1.01 * worst_geometric(x, y, start)  # the naive: the machine of confidence margins
    rng = np.random.default_rng(0)
    others = [solution.weight + scale * rng.normal(size=(3, 3)) for scale in (1e-3, 1e-2, 0.1, 1) for _ in range(300)]
    assert max(worst_geometric(x, y, other) for other in others) <= solution.bound + 1e-9


def test_the_machines_of_a_table_are_tested_on_its_other_half():
    solution = hard_margins("wine", seed=0)
    assert solution.is_optimal
    assert solution.worst < solution.largest
    assert 0 <= solution.geometric_wrong < 0.2
    assert 0 <= solution.wrong < 0.2
    two = hard_margins("wine", seed=0, classes=2)
    assert two.worst == pytest.approx(two.largest, rel=1e-6)
