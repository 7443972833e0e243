"""Fitted scores, fit and score together, against the peers that have them: pytorch-ood and, within it, scikit-learn.

20,000 rows of 1,024 float32 features, 1,000 classes, fitted on 5,000 rows; two threads for everyone. The peers compute
in float32; KNN's, which is scikit-learn's, in float64 blocks.
"""

from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from ratio import ratio

from abstain import Outputs
from abstain.collect.torchvision import mend_torchvision
from abstain.scores import KNN, RMDS, NNGuide, ReAct, ViM
from abstain.scores.score import Score

BANK, ROWS, FEATURES, CLASSES = 5_000, 20_000, 1_024, 1_000
DIM = 512  # of the principal subspace
FEW = 100  # rows that the peer's RMDS is timed on: it takes a product with a d × d matrix for every class


class _Data:
    """Features after a ReLU around a centre for each class, and a head that tells them apart, as a network has them."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        centres = rng.normal(size=(CLASSES, FEATURES)).astype(np.float32)
        self.weight, self.bias = centres / 32, rng.normal(scale=0.1, size=CLASSES).astype(np.float32)
        self.labels = np.arange(BANK) % CLASSES
        own = np.concatenate([self.labels, rng.integers(CLASSES, size=ROWS)])
        noise = 2 * rng.standard_normal(size=(BANK + ROWS, FEATURES), dtype=np.float32)
        features = np.maximum(centres[own] + noise, 0)
        logits = features @ self.weight.T + self.bias
        self.bank, self.features = features[:BANK], features[BANK:]
        self.bank_logits, self.logits = logits[:BANK], logits[BANK:]

    @cached_property
    def outputs(self) -> Outputs:
        """The rows to score."""
        return Outputs(logits=self.logits, features=self.features, weight=self.weight, bias=self.bias)

    def sample(self) -> Outputs:
        """The fitting sample, new each time, so that nothing is remembered of it."""
        arrays = {"logits": self.bank_logits, "features": self.bank, "weight": self.weight, "bias": self.bias}
        return Outputs(**arrays, labels=self.labels)

    def fit_and_score(self, score: Score) -> np.ndarray:
        """What is timed of ours."""
        found: np.ndarray = score.fit(self.sample())(self.outputs)
        return found


_data = cache(_Data)


class _Peer:
    """pytorch-ood and the data as its tensors."""

    def __init__(self) -> None:
        import torch

        mend_torchvision()
        from pytorch_ood import detector

        torch.set_num_threads(2)
        self.detector, data = detector, _data()
        self.bank, self.features, self.labels = map(torch.from_numpy, (data.bank, data.features, data.labels))
        self.weight, self.bias = torch.from_numpy(data.weight), torch.from_numpy(data.bias)

    def head(self, features: Any) -> Any:
        """The last layer."""
        return features @ self.weight.T + self.bias

    def fit(self, detector: Any) -> Any:
        """The detector, fitted."""
        return detector.fit_features(self.bank, self.labels)

    def fit_and_score(self, detector: Any) -> Any:
        """What is timed of the peer."""
        return self.fit(detector).predict_features(self.features)


def _peer(name: str) -> _Peer | None:
    try:
        return _Peer()
    except ImportError as error:
        print(f"{name}: skipped, {error.name} is not installed (pip install --no-deps pytorch-ood)")
        return None


def _ratio(
    name: str, ours: Callable[[], object], peer: Callable[[], object], *, goal: float = 1, times: int = 1
) -> bool:
    return ratio(name, ours, peer, goal=goal, peer_name="pytorch-ood", rounds=3, times=times)


def fitted_knn() -> bool:
    """KNN; the peer is scikit-learn's brute-force search."""
    if (peer := _peer("KNN")) is None:
        return True
    score = KNN(k=2)
    return _ratio("KNN", lambda: _data().fit_and_score(score), lambda: peer.fit_and_score(peer.detector.KNN(None, k=2)))


def fitted_vim() -> bool:
    """ViM; the peer computes the logits anew, in float32."""
    if (peer := _peer("ViM")) is None:
        return True
    score, head = ViM(dim=DIM), {"w": peer.weight, "b": peer.bias}
    return _ratio(
        "ViM", lambda: _data().fit_and_score(score), lambda: peer.fit_and_score(peer.detector.ViM(None, d=DIM, **head))
    )


def fitted_react() -> bool:
    """ReAct; the peer multiplies in float32, we in float64."""
    if (peer := _peer("ReAct")) is None:
        return True

    def theirs() -> object:
        found = peer.detector.ReAct(None, peer.head).fit_feature_maps(peer.bank, peer.labels)
        return found.predict_feature_maps(peer.features)

    score = ReAct()
    return _ratio("ReAct", lambda: _data().fit_and_score(score), theirs)


def fitted_nnguide() -> bool:
    """NNGuide; the peer computes the logits anew and keeps float32's order."""
    if (peer := _peer("NNGuide")) is None:
        return True
    score = NNGuide(k=10)
    return _ratio(
        "NNGuide",
        lambda: _data().fit_and_score(score),
        lambda: peer.fit_and_score(peer.detector.NNGuide(None, peer.head, k=10)),
    )


def fitted_rmds() -> bool:
    """RMDS, fit and score apart; the peer's score is timed on a few rows and extrapolated."""
    if (peer := _peer("RMDS")) is None:
        return True
    score, data = RMDS(), _data()
    ours, theirs = score.fit(data.sample()), peer.fit(peer.detector.RMD(None))
    fit = _ratio("RMDS, fit", lambda: score.fit(data.sample()), lambda: peer.fit(peer.detector.RMD(None)))
    few = peer.features[:FEW]
    return fit & _ratio(
        "RMDS, score", lambda: ours(data.outputs), lambda: theirs.predict_features(few), times=ROWS // FEW
    )


def fitted_knn_faiss() -> bool:
    """KNN against a flat index of faiss alone, which keeps float32's order."""
    try:
        import faiss
    except ImportError as error:
        print(f"KNN: skipped, {error.name} is not installed (pip install faiss-cpu)")
        return True
    faiss.omp_set_num_threads(2)
    data, score = _data(), KNN(k=2)

    def flat() -> np.ndarray:
        index = faiss.IndexFlatL2(FEATURES)
        index.add(data.bank / np.linalg.norm(data.bank, axis=1, keepdims=True))
        queries = data.features / np.linalg.norm(data.features, axis=1, keepdims=True)
        return -index.search(queries, 2)[0][:, 1]

    ours = partial(data.fit_and_score, score)
    return ratio("KNN", ours, flat, goal=1 / 1.2, peer_name="faiss IndexFlatL2", rounds=3)


FITTED = {
    "fitted_knn": fitted_knn,
    "fitted_knn_faiss": fitted_knn_faiss,
    "fitted_vim": fitted_vim,
    "fitted_react": fitted_react,
    "fitted_nnguide": fitted_nnguide,
    "fitted_rmds": fitted_rmds,
}
