"""The free energy of the logits."""

from dataclasses import dataclass
from typing import final

from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.of_logits import of_logits
from abstain.scores.rows import Array, Rows
from abstain.scores.score import About
from abstain.scores.size import no_size
from abstain.scores.sums_score import SumsScore


def energy(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""Free energy :math:`T \log \sum_k e^{z_k/T}` (Liu et al., 2020), a smooth maximum of the logits.

    It keeps the size of the logits, which helps against unknown classes and hurts against plain mistakes.

    >>> energy(np.array([[0.0, 0.0], [2.0, 0.0]])).round(2)
    array([0.69, 2.13])
    """

    def formula(inputs: Inputs) -> Array:
        return temperature * Energy().from_sums(inputs.sums(temperature))

    return of_logits({"energy": formula}, logits)["energy"]


@final
@dataclass(frozen=True)
class Energy(SumsScore):
    """The free energy as a score: see `energy`."""

    about = About(
        name="energy",
        symbol="Energy",
        family="logit",
        for_ood=True,
        is_well_known=True,
        needs=("logits",),
        reference="Liu et al., 2020",
        summary="A smooth maximum of the logits: made to find unknown classes.",
    )

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Log-probabilities have lost their size."""
        return no_size(outputs)

    def from_sums(self, rows: Rows, /) -> Array:
        """z₁ + log1p(e^L)."""
        return rows.top + rows.log_total
