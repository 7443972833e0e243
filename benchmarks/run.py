"""Speed as ratios against peers, measured in the same run, and promises over thousands of calibrations.

Usage: scripts/bench [NAME …]. A benchmark of speed alternates the two sides and compares their shortest times:
machines differ and are noisy, ratios less so.
"""

import sys

import numpy as np
from areas import areas, pairs
from decisions import decisions
from fitted import FITTED
from guarantees import adversary, choosing, guarantees, hard_cases, labels_saved, monitors, other_promises
from ratio import ratio


def logit_scores() -> bool:
    """The seven logit scores of 50,000 × 1,000 float32 logits against PyTorch doing them one by one."""
    import torch

    import abstain

    torch.set_num_threads(2)
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3, size=(50_000, 1_000)).astype(np.float32)
    weight = rng.normal(size=(1_000, 64)).astype(np.float32)
    z, w = torch.from_numpy(logits), torch.from_numpy(weight)

    def one_by_one() -> list[torch.Tensor]:
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

    with torch.inference_mode():
        return ratio(
            "logit_scores, 50,000 x 1,000 float32",
            lambda: abstain.scores.logit_scores(logits, weight),
            one_by_one,
            goal=6,
            peer_name="PyTorch, 7 scores, 2 threads",
        )


BENCHMARKS = {
    "logit_scores": logit_scores,
    **FITTED,
    "areas": areas,
    "pairs": pairs,
    "decisions": decisions,
    "guarantees": guarantees,
    "hard_cases": hard_cases,
    "adversary": adversary,
    "other_promises": other_promises,
    "labels_saved": labels_saved,
    "choosing": choosing,
    "monitors": monitors,
}


def main() -> int:
    """Run the benchmarks named, or all; the exit code says whether every goal is met."""
    names = sys.argv[1:] or list(BENCHMARKS)
    met = [BENCHMARKS[name]() for name in names]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
