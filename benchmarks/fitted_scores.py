"""Fitted scores, fit and score together, against the peers that have them: pytorch-ood and, within it, scikit-learn.

20,000 rows of 1,024 float32 features, 1,000 classes, fitted on 5,000 rows; two threads for everyone. The peers compute
in float32; KNN's, which is scikit-learn's, in float64 blocks.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from finding import Finding, faster

from abstain import Outputs
from abstain._cached_property import cached_property
from abstain._extras import repair_torchvision
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
        confidence: np.ndarray = score.fit(self.sample())(self.outputs)
        return confidence


_data = cache(_Data)


class _Peer:
    """pytorch-ood and the data as its tensors."""

    def __init__(self) -> None:
        import torch

        repair_torchvision()
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


def fitted(quick: bool) -> Iterator[Finding]:
    """KNN, ViM, ReAct, NNGuide and RMDS, fit and score together, against pytorch-ood; KNN against faiss too."""
    try:
        peer = _Peer()
    except ImportError as error:
        print(f"pytorch-ood: left out, {error.name} is not installed")
        return
    data, rounds = _data(), 1 if quick else 3
    detector, head = peer.detector, {"w": peer.weight, "b": peer.bias}

    def react() -> object:  # the peer has other methods for it
        fitted_detector = detector.ReAct(None, peer.head).fit_feature_maps(peer.bank, peer.labels)
        return fitted_detector.predict_feature_maps(peer.features)

    peers: dict[Score, Callable[[], object]] = {
        KNN(k=2): lambda: peer.fit_and_score(detector.KNN(None, k=2)),  # scikit-learn's search
        ViM(dim=DIM): lambda: peer.fit_and_score(detector.ViM(None, d=DIM, **head)),
        ReAct(): react,
        NNGuide(k=10): lambda: peer.fit_and_score(detector.NNGuide(None, peer.head, k=10)),
    }
    for score, theirs in peers.items():
        what = f"{score.name}, fit on {BANK:,} and score {ROWS:,} × {FEATURES:,}"
        yield faster(what, partial(data.fit_and_score, score), "pytorch-ood", theirs, goal=1, rounds=rounds)
    yield from _rmds(peer, rounds)
    yield from _faiss(rounds)


def _rmds(peer: _Peer, rounds: int) -> Iterator[Finding]:
    """Fit and score apart: the peer's score is timed on a few rows and extrapolated."""
    score, data, few = RMDS(), _data(), peer.features[:FEW]
    ours, theirs = score.fit(data.sample()), peer.fit(peer.detector.RMD(None))
    yield faster(
        f"rmds, fit on {BANK:,}", lambda: score.fit(data.sample()),
        "pytorch-ood", lambda: peer.fit(peer.detector.RMD(None)), goal=1, rounds=rounds,
    )  # fmt: skip
    yield faster(
        f"rmds, score {ROWS:,} × {FEATURES:,}", lambda: ours(data.outputs),
        f"pytorch-ood, from {FEW} rows", lambda: theirs.predict_features(few), goal=1, rounds=1, times=ROWS // FEW,
    )  # fmt: skip


def _faiss(rounds: int) -> Iterator[Finding]:
    try:
        import faiss
    except ImportError as error:
        print(f"faiss: left out, {error.name} is not installed")
        return
    faiss.omp_set_num_threads(2)
    data = _data()

    def flat() -> np.ndarray:
        index = faiss.IndexFlatL2(FEATURES)
        index.add(data.bank / np.linalg.norm(data.bank, axis=1, keepdims=True))
        queries = data.features / np.linalg.norm(data.features, axis=1, keepdims=True)
        return -index.search(queries, 2)[0][:, 1]

    ours = partial(data.fit_and_score, KNN(k=2))
    yield faster("knn, order settled in float64", ours, "faiss IndexFlatL2, float32", flat, goal=0.8, rounds=rounds)
