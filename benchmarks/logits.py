"""Logit scores against PyTorch, against one plain read, and over numbers of classes; two threads for everyone."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from finding import Finding, faster, shortest, slower

import abstain

ROWS, CLASSES = 50_000, 1_000
LOGITS = 20_000_000


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


def logits(quick: bool) -> Iterator[Finding]:
    """The seven logit scores together, one alone, and of tensors, against PyTorch and against one read."""
    rows = 10_000 if quick else ROWS
    z, weight = _sample(rows=rows)
    tensor, w = torch.from_numpy(z), torch.from_numpy(weight)
    size = f"{rows:,} × {CLASSES:,} float32"

    def seven():
        return abstain.scores.logit_scores(z, weight)

    def two_largest():
        top = tensor.topk(2, dim=1).values
        return top[:, 0] - top[:, 1]

    with torch.inference_mode():
        against = "PyTorch, seven separate calls"
        yield faster(f"seven logit scores, {size}", seven, against, _one_by_one(tensor, w), goal=10, rounds=4)
        yield slower(f"seven logit scores, {size}", seven, "one read, z.sum()", z.sum, goal=5, rounds=15)
        what = f"confidence margin alone, {size}"
        yield faster(
            what, lambda: abstain.scores.confidence_margin(z), "torch.topk(2) and subtract", two_largest, goal=2
        )
        what = f"seven scores of a torch tensor, {size}"
        yield faster(
            what, lambda: abstain.scores.logit_scores(tensor, w), against, _one_by_one(tensor, w), goal=5, rounds=4
        )
    few = tensor[: rows // 5].clone().requires_grad_()
    yield faster(
        f"the same with a gradient, {len(few):,} rows",
        lambda: abstain.scores.logit_scores(few, w), against, _one_by_one(few, w), goal=1,
    )  # fmt: skip


def classes(quick: bool) -> Iterator[Finding]:
    """The cost of a logit from ten classes to 20,000, the number of logits held constant."""
    total = LOGITS // 4 if quick else LOGITS
    samples = {k: _sample(classes=k, rows=total // k) for k in (10, 100, 1_000, 20_000)}
    times = dict(zip(samples, shortest(*(_scores(*sample) for sample in samples.values()), rounds=4), strict=True))
    for k in (10, 100, 20_000):
        what, against = f"seven logit scores, {k:,} classes, {total:,} logits", "1,000 classes"
        yield Finding(what, against, "slower", times[k] / times[1_000], 4, times[k], times[1_000])


def _scores(logits: np.ndarray, weight: np.ndarray) -> Callable[[], object]:
    return lambda: abstain.scores.logit_scores(logits, weight)
