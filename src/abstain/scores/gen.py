"""GEN: a generalized entropy of the largest probabilities."""

from dataclasses import dataclass
from typing import final

from abstain._errors import InvalidInputError
from abstain.scores.inputs import Inputs
from abstain.scores.logit_formulas import of_logits
from abstain.scores.operations import Array, array_namespace, largest
from abstain.scores.score import About, PlainScore


def gen(logits: Array, /, *, gamma: float = 0.1, top: int = 100) -> Array:
    r"""Generalized entropy, :math:`-\sum_{j \le M} p_{(j)}^\gamma (1 - p_{(j)})^\gamma` of the M largest.

    A small γ makes it sensitive to the small probabilities, which helps against misclassification and unknown classes.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    gamma : float
        γ, above 0.
    top : int
        M, at least 1.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> gen(np.array([[2.0, 1.0, 0.1, -1.0]]), top=3).round(6)
    array([-2.488653])

    References
    ----------
    Liu et al., 2023
    """
    return of_logits({"gen": GEN(gamma, top).formula}, logits)["gen"]


@final
@dataclass(frozen=True)
class GEN(PlainScore):
    """GEN as a score: see `gen`.

    Attributes
    ----------
    gamma : float
        The exponent γ; a small one weighs small probabilities more.
    top : int
        How many of the largest probabilities count.
    """

    gamma: float = 0.1
    top: int = 100

    about = About(
        name="gen",
        symbol="GEN",
        family="softmax",
        for_ood=True,
        needs=("logits",),
        reference="Liu et al., 2023",
        summary="A generalized entropy of the largest probabilities, sensitive to the small ones.",
    )

    def __post_init__(self) -> None:
        if not self.gamma > 0 or self.top < 1:
            raise InvalidInputError(f"`gamma` must be above 0 and `top` at least 1, got {self.gamma} and {self.top}.")

    def formula(self, inputs: Inputs, /) -> Array:
        """The sum; 1 − p of the largest probability is the sum of the others, which loses no digits."""
        rows = inputs.sums()
        xp = array_namespace(rows.top)
        others = xp.astype(largest(inputs.logits, self.top)[:, 1:], rows.top.dtype)
        log_p = others - rows.top[:, None] - rows.log_total[:, None]
        rest = xp.sum(xp.exp(self.gamma * (log_p + xp.log1p(-xp.exp(log_p)))), axis=1)
        return -(xp.exp(self.gamma * (rows.tail - 2 * rows.log_total)) + rest)
