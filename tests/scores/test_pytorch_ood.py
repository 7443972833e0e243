"""Scores against those of pytorch-ood, which works in float32 and calls outliers high."""

import numpy as np
import pytest

from abstain import Outputs
from abstain._extras import repair_torchvision
from abstain.scores import ASH, DICE, MDS, NCI, RMDS, SCALE, SHE, KLMatching

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def theirs():
    repair_torchvision()
    import pytorch_ood.detector

    return pytorch_ood.detector


def make(n, seed):
    weight, bias = np.random.default_rng(77).normal(size=(5, 40)), np.random.default_rng(78).normal(size=5)
    x = np.maximum(np.random.default_rng(seed).normal(size=(n, 40)) + 0.2, 0)
    z = x @ weight.T + bias
    labels = np.where(np.random.default_rng(seed).random(n) < 0.8, z.argmax(1), 0)
    arrays = {"logits": z, "features": x, "weight": weight, "bias": bias}
    return Outputs(labels=labels, **{name: array.astype(np.float32) for name, array in arrays.items()})


CAL, OUT = make(300, 1), make(100, 2)
X, Z = (torch.as_tensor(a.copy()) for a in (CAL.features, CAL.logits))
Y = torch.as_tensor(CAL.labels.copy())
NEW, NEW_Z = (torch.as_tensor(a.copy()) for a in (OUT.features, OUT.logits))
WEIGHT, BIAS = (torch.as_tensor(a.copy()) for a in (CAL.weight, CAL.bias))


def head(x):
    return x.reshape(len(x), -1) @ WEIGHT.T + BIAS


def test_ash_and_scale(theirs):
    maps = NEW[:, :, None, None]
    for ours, detector in (
        (ASH(pruned=0.65), theirs.ASH(None, head, percentile=0.65)),
        (SCALE(pruned=0.65), theirs.SCALE(None, head, percentile=0.65)),
    ):
        np.testing.assert_allclose(ours(OUT), -detector.predict_feature_maps(maps).numpy(), rtol=1e-4)


def test_dice(theirs):
    detector = theirs.DICE(None, WEIGHT, BIAS, p=0.73).fit_features(X, Y)
    np.testing.assert_allclose(DICE(pruned=0.73).fit(CAL)(OUT), -detector.predict_features(NEW).numpy(), rtol=1e-4)


def test_kl_matching(theirs):
    detector = theirs.KLMatching(None).fit_logits(Z)
    result = KLMatching().fit(CAL)(OUT)
    np.testing.assert_allclose(result, -detector.predict_logits(NEW_Z).numpy(), rtol=1e-3, atol=1e-5)


def test_she(theirs):
    detector = theirs.SHE(None, head).fit_features(X, Y)
    np.testing.assert_allclose(SHE().fit(CAL)(OUT), -detector.predict_features(NEW).numpy(), rtol=1e-4)


def test_nci(theirs):
    layer = torch.nn.Linear(40, 5)
    layer.weight.data, layer.bias.data = WEIGHT, BIAS
    detector = theirs.NCI(torch.nn.Identity(), layer, alpha=0.01).fit_features(X)
    np.testing.assert_allclose(NCI(alpha=0.01).fit(CAL)(OUT), -detector.predict_features(NEW).numpy(), rtol=1e-4)


def test_mds_and_rmds(theirs):
    """Theirs divide by the number of samples too little, and MDS by 2 too much."""
    x, new = X.double(), NEW.double()
    ours = MDS("empirical").fit(CAL)(OUT), RMDS("empirical").fit(CAL)(OUT)
    result = [
        d(None).fit_features(x.float(), Y).predict_features(new.float()) for d in (theirs.Mahalanobis, theirs.RMD)
    ]
    np.testing.assert_allclose(ours[0], -2 * len(CAL) * result[0].numpy(), rtol=1e-3)
    np.testing.assert_allclose(ours[1], -len(CAL) * result[1].numpy(), rtol=1e-3, atol=1e-2)
