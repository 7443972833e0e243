"""Medical tables of scikit-learn, what errors and rejections cost there, and a classifier's probabilities for them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._extras import require
from abstain.scores.expected_cost import Costs
from abstain_reproduction.splits import parts

Floats = NDArray[np.float64]
FEATURE = "The experiment on costs"
SHARES = (0.3, 0.35, 0.35)  # to learn from, to choose thresholds on, to test on


@dataclass(frozen=True, eq=False)
class CostTable:
    """A table with costs: ``costs.matrix[ŷ, y]`` of saying ŷ where y is true, ``costs.rejection[y]`` of rejecting."""

    name: str
    features: Floats
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    costs: Costs
    words: str


@dataclass(frozen=True, eq=False)
class Predicted:
    """Probabilities (n, K) of rows that the classifier did not learn from, and their classes."""

    probabilities: Floats
    labels: NDArray[np.int64]


def cost_tables() -> list[CostTable]:
    """Breast cancer, where a missed tumour is worst; and progression of diabetes in three levels."""
    datasets = require("sklearn.datasets", extra="sklearn", feature=FEATURE)
    cancer, diabetes = datasets.load_breast_cancer(), datasets.load_diabetes()
    levels = np.digitize(diabetes.target, np.quantile(diabetes.target, [1 / 3, 2 / 3]))
    return [
        CostTable(
            "breast cancer",
            cancer.data,
            cancer.target,
            ("malignant", "benign"),
            Costs.of(2, rejection=[0.1, 0.05], matrix=[[0.0, 0.2], [1.0, 0.0]]),
            "a missed tumour 1, a false alarm 0.2; rejecting a tumour 0.1, others 0.05",
        ),
        CostTable(
            "diabetes progression",
            diabetes.data,
            levels.astype(np.int64),
            ("low", "middle", "high"),
            Costs.of(3, rejection=[0.1, 0.15, 0.25], matrix=[[0.0, 0.5, 1.0], [0.15, 0.0, 0.5], [0.3, 0.15, 0.0]]),
            "a level too low 0.5, two 1; a level too high 0.15, two 0.3; rejecting 0.1, 0.15, 0.25 by level",
        ),
    ]


def predicted(table: CostTable, /, *, seed: int) -> tuple[Predicted, Predicted]:
    """Logistic regression on one part of the rows; what it says of those to choose on and of those to test on."""
    linear_model = require("sklearn.linear_model", extra="sklearn", feature=FEATURE)
    training, *others = parts(table.labels, SHARES, seed=seed)
    middle, spread = table.features[training].mean(axis=0), table.features[training].std(axis=0)
    x = (table.features - middle) / spread
    learned: Any = linear_model.LogisticRegression(max_iter=1000).fit(x[training], table.labels[training])
    first, second = (Predicted(learned.predict_proba(x[rows]), table.labels[rows]) for rows in others)
    return first, second
