"""One evaluation with every kind of row, and its page."""

import numpy as np
import pytest

from abstain import Outputs, evaluate
from abstain.report.evaluation_page import evaluation_page


def drawn(n=1500, seed=0, **options):
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=n)
    shift = rng.choice(["none", "covariate", "label"], size=n, p=[0.6, 0.3, 0.1])
    size = np.select([shift == "none", shift == "covariate"], [3.5, 2.0], 0.0)
    logits = rng.normal(size=(n, 5)) + size[:, None] * np.eye(5)[labels]
    domain = np.where(shift == "none", "clean", np.where(shift == "label", "new", rng.choice(["fog", "rain"], size=n)))
    known = {"domain": domain, "ids": np.array([f"img-{k}" for k in range(n)])} | options
    return Outputs(logits=logits, labels=np.where(shift == "label", -1, labels), shift=shift, **known)


@pytest.fixture(scope="package")
def evaluation():
    return evaluate(drawn(), scores=["max_softmax", "confidence_margin", "energy", "doctor"], metrics=["augrc"])


@pytest.fixture(scope="package")
def html(evaluation):
    return evaluation_page(evaluation, selector=None, risk=0.1, delta=0.05, run="my run/")
