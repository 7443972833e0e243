"""The two hard-margin problems of App. A on rows that can be separated: by confidence and by geometric margins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
INFEASIBLE = 1e-9  # residual of the dual, 0 where no weight satisfies all rows


@dataclass(frozen=True, eq=False)
class MaxMin:
    """Weights (K, d) of norm 1 whose worst geometric margin is the largest that was found, and a bound for all."""

    weight: Floats
    worst: float
    bound: float
    """No weights have a worst geometric margin above it."""


def hard_margin(x: Floats, y: Labels, classes: int, /) -> Floats | None:
    """The weights (K, d) of least Σ‖w_j‖² with every confidence margin at least 1, or None where there are none.

    A least-distance problem, whose dual is one of non-negative least squares (Lawson & Hanson, 1974): exact. With two
    classes w_1 = −w_2, and 2‖w_1‖ is one over the margin of the binary machine.
    """
    a = comparisons(x, y, classes)
    dual = np.vstack([a.T, np.ones(len(a))])
    goal = np.append(np.zeros(a.shape[1]), 1.0)
    residual = dual @ nnls(dual, goal, maxiter=50 * len(a))[0] - goal
    if np.linalg.norm(residual) < INFEASIBLE:
        return None
    return (-residual[:-1] / residual[-1]).reshape(classes, -1)


def max_min(x: Floats, y: Labels, start: Floats, /) -> MaxMin:
    """Weights of the largest worst geometric margin, from weights (K, d) that separate the rows.

    With unit weights it is: maximise t with (w_y − w_j)·x ≥ t for all rows and j ≠ y. The norms make it non-convex;
    ‖w_j‖ ≤ 1 instead is convex, and its largest t bounds that of all weights. Where the solution, its weights stretched
    to norm 1, reaches the bound, it is the largest there is.
    """
    k, d = start.shape
    a = np.column_stack([comparisons(x, y, k), -np.ones(len(x) * (k - 1))])
    first = unit(start).ravel()
    upward = np.append(np.zeros(k * d), -1.0)

    def room(v: Floats) -> Floats:
        return np.asarray(1 - np.square(v[:-1].reshape(k, d)).sum(axis=1))

    def slope(v: Floats) -> Floats:
        blocks = np.einsum("ij,ik->ijk", np.eye(k), -2 * v[:-1].reshape(k, d)).reshape(k, k * d)
        return np.column_stack([blocks, np.zeros(k)])

    solution = minimize(
        lambda v: -v[-1],
        np.append(first, (a[:, :-1] @ first).min()),
        jac=lambda _: upward,
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda v: a @ v, "jac": lambda _: a},
            {"type": "ineq", "fun": room, "jac": slope},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    weight = unit(solution.x[:-1].reshape(k, d))
    return MaxMin(weight, worst_geometric(x, y, weight), float(solution.x[-1]))


def worst_geometric(x: Floats, y: Labels, weight: Floats, /) -> float:
    """The smallest over the rows of d_y less the largest other d_j."""
    return float((comparisons(x, y, len(weight)) @ unit(weight).ravel()).min())


def unit(weight: Floats, /) -> Floats:
    """Every row over its norm."""
    return np.asarray(weight / np.linalg.norm(weight, axis=1, keepdims=True))


def comparisons(x: Floats, y: Labels, classes: int, /) -> Floats:
    """(n(K − 1), Kd): the row of x and j ≠ y times all weights is (w_y − w_j)·x."""
    signs = np.eye(classes)[y][:, None, :] - np.eye(classes)  # (n, j, K)
    return np.einsum("ijk,id->ijkd", signs, x)[np.arange(classes) != y[:, None]].reshape(-1, classes * x.shape[1])
