"""Arrays in memory of types and forms that NumPy reads with a loss."""

from pathlib import Path
from typing import Any

import numpy as np
from kind import Kind, expect, taken

from abstain import Outputs
from abstain.metrics import aurc
from abstain.thresholds import target_coverage

N = 12
TYPES = ("f2", "f4", "f8", "g", "i8", "u8", "i4", "u1", "?", "c16", "O", "U9", "S9", "M8[s]", ">f8")


class Values(Kind):
    """Wrong: masked values that are taken, or different numbers that are taken for the same."""

    name = "value"

    def __init__(self, folder: Path) -> None:  # noqa: ARG002
        import scipy.sparse
        import torch

        self.sparse, self.torch = scipy.sparse, torch

    def attempt(self, rng: np.random.Generator) -> str:
        """Give numbers of any size in any form as confidences or as logits."""
        use, plain, errors = int(rng.integers(4)), _numbers(rng), rng.random(N) < 0.4
        form, is_masked = self._form(rng, np.stack([plain, plain[::-1]], axis=1) if use == 0 else plain)
        match use:
            case 0:
                result = taken(lambda: Outputs(logits=form, nonfinite="reject").logits[:, 0])
            case 1:
                result = taken(lambda: Outputs(confidences={"a": form}, errors=errors).confidence("a"))
            case 2:
                result = taken(lambda: aurc(form, errors))
            case _:
                result = taken(lambda: target_coverage(form, coverage=0.5))
        if result is None:
            return "refused"
        expect(not is_masked, "masked values taken")
        if isinstance(form, np.ndarray):  # others have rounded before
            _check(plain)
        return "taken"

    def _form(self, rng: np.random.Generator, plain: Any) -> tuple[Any, bool]:
        """The numbers as an array of some library, and whether some of them are masked."""
        doubles = np.real(plain).astype(np.float64) if plain.dtype.kind in "biufc" else np.zeros(plain.shape)
        match int(rng.integers(7)):
            case 0:
                mask = rng.random(plain.shape) < 0.2
                return np.ma.masked_array(plain, mask=mask), bool(mask.any())
            case 1:
                return self.sparse.csr_matrix(np.atleast_2d(doubles)), False
            case 2:
                return self.torch.tensor(doubles, dtype=self.torch.bfloat16), False
            case 3:
                return plain.tolist(), False
        return plain, False


def _numbers(rng: np.random.Generator) -> Any:
    """Different numbers of a type, often so large that float64 would round them."""
    kind = str(rng.choice(TYPES))
    start = int(rng.choice([0, 1, 200, 2**53 - 4, 2**53, 2**60]))
    whole = start + rng.permutation(N)
    with np.errstate(over="ignore", invalid="ignore"):
        return whole.astype(kind)


def _check(plain: Any) -> None:
    """Different numbers must be different in float64."""
    if plain.dtype.kind in "iuf":
        rounded = len(np.unique(plain.astype(np.float64)))
        expect(rounded == len(np.unique(plain)), f"{len(np.unique(plain))} numbers that became {rounded}")
