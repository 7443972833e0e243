"""Selector files, altered and signed again."""

from pathlib import Path

import numpy as np
from kind import expect, taken
from samples import CLASSES, outputs
from sealed_files import SealedFiles

from abstain import Selector, calibrate

SCORES = ("confidence_margin", "knn", "vim", "sirc", "rmds", "react", "max_logit_pnorm", "delta_knn_margin", "nnguide")


class Selectors(SealedFiles):
    """Wrong: a file that says other than what is saved again, a decision against the threshold, an accepted NaN."""

    name = "selector"

    def made(self) -> list[Selector]:
        """Selectors of scores of all kinds, by group, and by cost."""
        sample = outputs(400)
        by_score = [calibrate(sample, score=score, coverage=0.5) for score in SCORES]
        return [
            *by_score,
            calibrate(sample, risk=0.3, per="class"),
            calibrate(sample, cost=0.3, costs=1 - np.eye(CLASSES)),
        ]

    def load(self, file: Path) -> Selector:
        """The selector."""
        return Selector.load(file)

    def check(self, found: Selector) -> None:
        """Its threshold, its words, and what it decides."""
        expect(found.threshold.value == found.threshold.value and found.threshold.n >= 0, "an illegal threshold")
        expect(isinstance(found.summary(), str) and repr(found), "no summary")
        rows = outputs(20, seed=1)
        decided = taken(lambda: found.decide(rows))
        if decided is None:
            return
        confidence, accepted = decided["confidence"], decided["accepted"]
        expect(accepted.dtype == bool and accepted.shape == (len(rows),), "decisions of another form")
        expect(not accepted[np.isnan(confidence)].any(), "an accepted NaN")
        numbers = found.predictions(rows)
        expect(((numbers >= -1) & (numbers < CLASSES)).all(), "a class that is none")
        told = {*zip(numbers.tolist(), decided["prediction"].tolist(), strict=True)}
        expect(
            len(told) == len({number for number, _ in told}) == len({name for _, name in told}), "a class of two names"
        )
        if found.groups is None:
            expect((accepted == (confidence > found.threshold.value)).all(), "a decision against the threshold")
