"""Sketch files, altered and signed again."""

from pathlib import Path

import numpy as np
from kind import expect, taken
from samples import outputs
from sealed_files import SealedFiles

from abstain.evaluation import evaluate_sketch, sketch_outputs
from abstain.selector import calibrate_sketch
from abstain.sketch import Bins, Sketch


class Sketches(SealedFiles):
    """Wrong: a file that says other than what is saved again, counts that cannot be, a value outside its bracket."""

    name = "sketch"
    packed = (".place", ".counts", ".errors")

    def made(self) -> list[Sketch]:
        """Sketches of plain and fitted bins, of groups, and of clusters."""
        sample = outputs(200)
        return [
            sketch_outputs(sample, scores=["energy", "confidence_margin"], by=("shift", "domain", "class")),
            sketch_outputs(sample, scores=["ts_max_softmax"], bins=16),
            Sketch.of(np.arange(50) % 9, np.arange(50) % 4 == 0, bins=Bins(32), ids=np.arange(50) // 2),
        ]

    def load(self, file: Path) -> Sketch:
        """The sketch."""
        return Sketch.load(file)

    def check(self, result: Sketch) -> None:
        """Its counts, the evaluation and the selector made of them."""
        expect(isinstance(result.summary(), str) and 0 <= result.n_errors <= result.n, "counts that cannot be")
        evaluation = taken(lambda: evaluate_sketch(result))
        for row in [] if evaluation is None else evaluation.rows:
            expect(0 <= row["lower"] <= row["aurc"] <= row["upper"] <= 1, "a value outside its bracket")
            expect(row["low"] <= row["aurc"] <= row["high"], "a value outside its interval")
        selector = taken(lambda: calibrate_sketch(result, score=result.scores[0], coverage=0.5))
        expect(selector is None or selector.threshold.accepted <= result.n, "more accepted than there are")
