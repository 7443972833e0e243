"""Sketch files, altered and signed again."""

from pathlib import Path

import numpy as np
from alter import altered_bytes, altered_json
from kind import Kind, expect, taken
from samples import outputs
from sealed_files import altered_array, apart, signed, told

from abstain.evaluation import evaluate_sketch, sketch_outputs
from abstain.selector import calibrate_sketch
from abstain.sketch import Bins, Sketch

PACKED = ("place", "counts", "errors")  # compressed, and so in other bytes on another machine


class Sketches(Kind):
    """Wrong: a file that says other than what is saved again, counts that cannot be, a value outside its bracket."""

    name = "sketch"

    def __init__(self, folder: Path) -> None:
        self.file, self.again = folder / "altered.sketch", folder / "again.sketch"
        sample = outputs(200)
        made = [
            sketch_outputs(sample, scores=["energy", "confidence_margin"], by=("shift", "domain", "class")),
            sketch_outputs(sample, scores=["ts_max_softmax"], equal_mass=16),
            Sketch.of(np.arange(50) % 9, np.arange(50) % 4 == 0, bins=Bins(32), ids=np.arange(50) // 2),
        ]
        self.originals = []
        for sketch in made:
            sketch.save(self.file)
            self.originals.append(apart(self.file))

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the header or the arrays and sign, or the bytes without signing."""
        header, arrays = self.originals[int(rng.integers(len(self.originals)))]
        arrays = dict(arrays)
        if rng.random() < 0.75:
            header = altered_json(rng, header)
        else:
            name = str(rng.choice(sorted(arrays)))
            arrays[name] = altered_array(rng, arrays[name])
        content = signed(header, arrays)
        self.file.write_bytes(altered_bytes(rng, content) if rng.random() < 0.1 else content)
        sketch = taken(lambda: Sketch.load(self.file))
        if sketch is None:
            return "refused"
        sketch.save(self.again)
        (before, some), (after, more) = told(self.file), told(self.again)
        expect(before == after and some.keys() == more.keys(), "another header is saved again")
        differ = [name for name in some if name.rpartition(".")[2] not in PACKED and some[name] != more[name]]
        expect(not differ, f"something else is saved again for {', '.join(differ)}")
        _check(sketch)
        return "taken"


def _check(sketch: Sketch) -> None:
    expect(isinstance(sketch.summary(), str) and 0 <= sketch.n_errors <= sketch.n, "counts that cannot be")
    found = taken(lambda: evaluate_sketch(sketch))
    for row in [] if found is None else found.rows:
        expect(0 <= row["lower"] <= row["aurc"] <= row["upper"] <= 1, "a value outside its bracket")
        expect(row["low"] <= row["aurc"] <= row["high"], "a value outside its interval")
    selector = taken(lambda: calibrate_sketch(sketch, score=sketch.scores[0], coverage=0.5))
    expect(selector is None or selector.threshold.accepted <= sketch.n, "more accepted than there are")
