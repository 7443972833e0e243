import numpy as np
import pytest

from abstain import Outputs, evaluate


@pytest.fixture(scope="session")
def mixed_outputs():
    """Make outputs: a third of the rows clean, a third shifted copies of them, a third of unknown classes."""

    def made(n=300, seed=0):
        rng = np.random.default_rng(seed)
        labels = rng.integers(4, size=n)
        clean = rng.normal(size=(n, 4)) + 2.5 * np.eye(4)[labels]
        shifted = clean + rng.normal(scale=1.5, size=(n, 4))
        return Outputs(
            logits=np.vstack([clean, shifted, rng.normal(size=(n, 4))]),
            labels=np.concatenate([labels, labels, np.full(n, -1)]),
            shift=np.repeat(["none", "covariate", "label"], n),
            ids=np.concatenate([np.arange(n), np.arange(n), np.arange(n, 2 * n)]),
        )

    return made


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
