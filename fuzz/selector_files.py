"""Selector files, altered and signed again."""

from pathlib import Path

import numpy as np
from kind import expect, taken
from samples import CLASSES, outputs
from sealed_files import SealedFiles

from abstain import Cost, Risk, Selector, calibrate

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
            calibrate(sample, Risk(0.3, per="class")),
            calibrate(sample, Cost(0.3, costs=1 - np.eye(CLASSES))),
        ]

    def load(self, file: Path) -> Selector:
        """The selector."""
        return Selector.load(file)

    def check(self, result: Selector) -> None:
        """Its threshold, its words, and what it decides."""
        expect(result.threshold.value == result.threshold.value and result.threshold.n >= 0, "an illegal threshold")
        expect(isinstance(result.summary(), str) and repr(result), "no summary")
        rows = outputs(20, seed=1)
        decided = taken(lambda: result.decide(rows))
        if decided is None:
            return
        confidence, accepted = decided["confidence"], decided["accepted"]
        expect(accepted.dtype == bool and accepted.shape == (len(rows),), "decisions of another form")
        expect(not accepted[np.isnan(confidence)].any(), "an accepted NaN")
        numbers = result.predictions(rows)
        expect(((numbers >= -1) & (numbers < CLASSES)).all(), "a class that is none")
        pairs = {*zip(numbers.tolist(), decided["prediction"].tolist(), strict=True)}
        expect(
            len(pairs) == len({number for number, _ in pairs}) == len({name for _, name in pairs}),
            "a class of two names",
        )
        if result.groups is None:
            expect((accepted == (confidence > result.threshold.value)).all(), "a decision against the threshold")
