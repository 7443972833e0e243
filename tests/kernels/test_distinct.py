import numpy as np
import pytest

from abstain.kernels.distinct import numbered

RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(-300, 300, size=2_000)
NAMES = {
    "texts": np.array([f"image-{k}" for k in NUMBERS]),
    "texts that differ at their end": np.array([f"{'x' * 70}{k}" for k in NUMBERS]),
    "every second of some texts": np.array([f"{k}" for k in np.repeat(NUMBERS, 2)])[::2],
    "whole numbers": NUMBERS,
    "small whole numbers": (NUMBERS % 100).astype(np.uint8),
    "large whole numbers": NUMBERS.astype(np.uint64) + np.uint64(2**63),
    "other byte order": NUMBERS.astype(">i4"),
    "floats": NUMBERS / 7,
    "bytes": NUMBERS.astype("S5"),
    "all empty": np.array(["", ""]),
    "one": np.array(["a"]),
}


@pytest.mark.parametrize("few", [0, 1 << 16])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_the_same_names_and_no_others_have_the_same_number(names, few, monkeypatch):
    monkeypatch.setattr("abstain.kernels.distinct.FEW", few)
    number, size = numbered(names)
    distinct, expected = np.unique(names, return_inverse=True)
    assert size == len(distinct)
    assert len(np.unique(np.stack([number, expected]), axis=1).T) == size == number.max() + 1
