"""Logit scores against PyTorch, against one plain read, and over numbers of classes; two threads for everyone."""

from collections.abc import Callable

import numpy as np
import torch
from ratio import ratio

import abstain

ROWS, CLASSES = 50_000, 1_000


def _sample(classes: int = CLASSES, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3, size=(rows, classes)).astype(np.float32)
    return logits, rng.normal(size=(classes, 64)).astype(np.float32)


def _one_by_one(z: torch.Tensor, w: torch.Tensor) -> Callable[[], object]:
    """The seven scores as a user of PyTorch writes them."""
    torch.set_num_threads(2)

    def scores() -> list[torch.Tensor]:
        top = z.topk(2, dim=1).values
        distances = (z / w.norm(dim=1)).topk(2, dim=1).values
        return [
            z.softmax(1).amax(1),
            1 - 1 / z.softmax(1).square().sum(1),
            (z.softmax(1) * z.log_softmax(1)).sum(1),
            z.amax(1),
            z.logsumexp(1),
            top[:, 0] - top[:, 1],
            distances[:, 0] - distances[:, 1],
        ]

    return scores


def logit_scores() -> bool:
    """The seven logit scores of 50,000 × 1,000 float32 logits against PyTorch doing them one by one."""
    logits, weight = _sample()
    return ratio(
        "logit_scores, 50,000 x 1,000 float32",
        lambda: abstain.scores.logit_scores(logits, weight),
        _one_by_one(torch.from_numpy(logits), torch.from_numpy(weight)),
        goal=10,
        peer_name="PyTorch, 7 scores, 2 threads",
    )


def logit_scores_read() -> bool:
    """The same against one read of the logits."""
    logits, weight = _sample()
    return ratio(
        "logit_scores, 50,000 x 1,000 float32",
        lambda: abstain.scores.logit_scores(logits, weight),
        logits.sum,
        goal=1 / 5,
        peer_name="one read, z.sum()",
        rounds=15,
    )


def margin() -> bool:
    """The confidence margin alone against PyTorch's two largest."""
    torch.set_num_threads(2)
    logits, _ = _sample()
    z = torch.from_numpy(logits)

    def two_largest() -> torch.Tensor:
        top = z.topk(2, dim=1).values
        return top[:, 0] - top[:, 1]

    return ratio(
        "confidence_margin, 50,000 x 1,000 float32",
        lambda: abstain.scores.confidence_margin(logits),
        two_largest,
        goal=2,
        peer_name="torch.topk(2), 2 threads",
    )


def tensor_scores() -> bool:
    """The seven scores of a torch tensor, without and with a gradient, against plain PyTorch."""
    logits, weight = _sample(rows=20_000)
    z, w = torch.from_numpy(logits), torch.from_numpy(weight)
    tracked = z.clone().requires_grad_()
    without = ratio(
        "logit_scores of a tensor, 20,000 x 1,000 float32",
        lambda: abstain.scores.logit_scores(z, w),
        _one_by_one(z, w),
        goal=5,
        peer_name="PyTorch, 7 scores, 2 threads",
    )
    return (
        ratio(
            "logit_scores of a tensor with a gradient",
            lambda: abstain.scores.logit_scores(tracked, w),
            _one_by_one(tracked, w),
            goal=1,
            peer_name="PyTorch, 7 scores with one, 2 threads",
            rounds=3,
        )
        and without
    )


def few_classes() -> bool:
    """Ten classes against a thousand, the same number of logits."""
    few, many = _sample(classes=10, rows=2_000_000), _sample(rows=20_000)
    return ratio(
        "logit_scores, 2,000,000 x 10 float32",
        lambda: abstain.scores.logit_scores(*few),
        lambda: abstain.scores.logit_scores(*many),
        goal=1 / 4,
        peer_name="20,000 x 1,000",
    )
