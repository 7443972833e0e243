"""Selector files, altered and signed again."""

from pathlib import Path

import numpy as np
from alter import altered_bytes, altered_json
from kind import Kind, expect, taken
from samples import CLASSES, outputs
from sealed_files import altered_array, apart, signed, told

from abstain import Outputs, Selector, calibrate

SCORES = ("confidence_margin", "knn", "vim", "sirc", "rmds", "react", "max_logit_pnorm", "delta_knn_margin", "nnguide")


class Selectors(Kind):
    """Wrong: a file that says other than what is saved again, a decision against the threshold, an accepted NaN."""

    name = "selector"

    def __init__(self, folder: Path) -> None:
        self.file, self.again = folder / "altered.abstain", folder / "again.abstain"
        sample = outputs(400)
        self.rows = outputs(20, seed=1)
        made = [calibrate(sample, score=score, coverage=0.5) for score in SCORES]
        made += [calibrate(sample, risk=0.3, per="class"), calibrate(sample, cost=0.3, costs=1 - np.eye(CLASSES))]
        self.originals = []
        for selector in made:
            selector.save(self.file)
            self.originals.append(apart(self.file))

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the header or the arrays and sign, or the bytes without signing."""
        header, arrays = self.originals[int(rng.integers(len(self.originals)))]
        arrays = dict(arrays)
        if rng.random() < 0.75:
            header = altered_json(rng, header)
        else:
            name = str(rng.choice(sorted(arrays)))  # which are read in any order
            arrays[name] = altered_array(rng, arrays[name])
        content = signed(header, arrays)
        self.file.write_bytes(altered_bytes(rng, content) if rng.random() < 0.1 else content)
        selector = taken(lambda: Selector.load(self.file))
        if selector is None:
            return "refused"
        selector.save(self.again)
        for before, after in zip(told(self.file), told(self.again), strict=True):
            differ = [name for name in before | after if name not in before or before[name] != after.get(name)]
            expect(not differ, f"something else is saved again for {', '.join(differ)}")
        _check(selector, self.rows)
        return "taken"


def _check(selector: Selector, rows: Outputs) -> None:
    expect(selector.threshold.value == selector.threshold.value and selector.threshold.n >= 0, "an illegal threshold")
    expect(isinstance(selector.summary(), str) and repr(selector), "no summary")
    decided = taken(lambda: selector.decide(rows))
    if decided is None:
        return
    confidence, accepted = decided["confidence"], decided["accepted"]
    expect(accepted.dtype == bool and accepted.shape == (len(rows),), "decisions of another form")
    expect(not accepted[np.isnan(confidence)].any(), "an accepted NaN")
    expect(((decided["prediction"] >= -1) & (decided["prediction"] < CLASSES)).all(), "a class that is none")
    if selector.groups is None:
        expect((accepted == (confidence > selector.threshold.value)).all(), "a decision against the threshold")
