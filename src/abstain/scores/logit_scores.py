"""The scores that are formulas in the row sums of the logits, and all of them in one pass.

Each has a function on arrays and a class, which holds the formula and is the entry of the registry.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

from abstain.scores.geometric_margin import GeometricMargin
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.logit_formulas import of_logits
from abstain.scores.operations import Array, array_namespace, minus_exp
from abstain.scores.rows import Rows
from abstain.scores.score import About, PlainScore


class SumsScore(PlainScore, ABC):
    """A score that needs the row sums alone, so that one pass over the logits serves all of its kind."""

    @abstractmethod
    def from_sums(self, rows: Rows, /) -> Array:
        """The formula."""

    def formula(self, inputs: Inputs, /) -> Array:
        """Of the logits as they are."""
        return self.from_sums(inputs.sums())

    def of(self, logits: Array, /, *, temperature: float = 1.0) -> Array:
        """Of logits / temperature."""
        return of_logits({self.name: lambda inputs: self.from_sums(inputs.sums(temperature))}, logits)[self.name]


def max_softmax(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""Log-odds of the largest softmax probability, :math:`z_1 - \log\sum_{j \ne i^*} e^{z_j}` (SR_max).

    The usual baseline. It depends on the scale of the logits. The log-odds rank as the probability does, and still
    distinguish 1 − 1e-30 from 1 − 1e-40; ``SCORES["max_softmax"].literal`` gives the probability.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    temperature : float
        What the logits are divided by.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> max_softmax(np.array([[2.0, 1.0, 0.1, -1.0], [120.0, 10.0, 9.0, -3.0]])).round(6)
    array([  0.566981, 109.686737])

    References
    ----------
    Hendrycks & Gimpel, 2017
    """
    return MaxSoftmax().of(logits, temperature=temperature)


@final
@dataclass(frozen=True)
class MaxSoftmax(SumsScore):
    """SR_max as a score: see `max_softmax`."""

    about = About(
        name="max_softmax",
        symbol="SR_max",
        family="softmax",
        is_well_known=True,
        reference="Hendrycks & Gimpel, 2017",
        summary="The largest softmax probability, in log-odds: the usual baseline.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """The probability itself, 1 / (1 + e^−c)."""
        return 1 / (1 + array_namespace(confidence).exp(-confidence))

    def from_sums(self, rows: Rows, /) -> Array:
        """−L."""
        return -rows.tail


def doctor(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""DOCTOR, :math:`-\log(1/\|\sigma\|_2^2 - 1)`, which ranks as :math:`1 - 1/\|\sigma\|_2^2` (SR_doctor).

    It uses all probabilities, not the largest alone. The log form has no cancellation near certainty. This is the α
    form; the β form, (1 − p_max)/p_max, ranks as `max_softmax`.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    temperature : float
        What the logits are divided by.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> doctor(np.array([[2.0, 1.0, 0.1, -1.0], [30.0, 5.0, 4.0, 0.0]])).round(6)
    array([-0.110735, 23.988677])

    References
    ----------
    Granese et al., 2021
    """
    return Doctor().of(logits, temperature=temperature)


@final
@dataclass(frozen=True)
class Doctor(SumsScore):
    """SR_doctor as a score: see `doctor`."""

    about = About(
        name="doctor",
        symbol="SR_doctor",
        family="softmax",
        reference="Granese et al., 2021",
        summary="How likely two draws from the softmax are to agree.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """−e^−c."""
        return minus_exp(confidence)

    def from_sums(self, rows: Rows, /) -> Array:
        """−[L + ln(2 + A − ρ) − log1p(Aρ)] with A = e^L and ρ = Σe^{2d}/Σe^d ≤ 1."""
        xp = array_namespace(rows.tail)
        return xp.log1p(rows.odds * rows.ratio) - (rows.tail + xp.log(2 + rows.odds - rows.ratio))


def neg_entropy(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""Minus log entropy, :math:`-\log H(\sigma)`, which ranks as :math:`\sum\sigma\log\sigma` (SR_ent).

    It punishes probability spread over many classes. The log form keeps the tiny entropies of confident rows.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    temperature : float
        What the logits are divided by.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> neg_entropy(np.array([[2.0, 1.0, 0.1, -1.0], [30.0, 5.0, 4.0, 0.0]])).round(6)
    array([ 0.040121, 21.412555])

    References
    ----------
    Liang et al., 2024
    """
    return NegEntropy().of(logits, temperature=temperature)


@final
@dataclass(frozen=True)
class NegEntropy(SumsScore):
    """SR_ent as a score: see `neg_entropy`."""

    about = About(
        name="neg_entropy",
        symbol="SR_ent",
        family="softmax",
        reference="Liang et al., 2024",
        summary="Minus the entropy of the softmax.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """−e^−c."""
        return minus_exp(confidence)

    def from_sums(self, rows: Rows, /) -> Array:
        """−[L + ln(log1p(A)/A + gap/(1 + A))] with A = e^L."""
        xp = array_namespace(rows.tail)
        odds = rows.odds
        per_odds = xp.where(odds > 0, rows.log_total / xp.where(odds > 0, odds, 1.0), 1.0)
        return -(rows.tail + xp.log(per_odds + rows.gap / (1 + odds)))


def max_logit(logits: Array, /) -> Array:
    r"""The largest logit :math:`z_1` (RL_max).

    Made to detect unknown classes; a weak guard against misclassification.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> max_logit(np.array([[2.0, 1.0, 0.1, -1.0]]))
    array([2.])

    References
    ----------
    Hendrycks et al., 2022
    """
    return MaxLogit().of(logits)


@final
@dataclass(frozen=True)
class MaxLogit(SumsScore):
    """RL_max as a score: see `max_logit`."""

    about = About(
        name="max_logit",
        symbol="RL_max",
        family="logit",
        for_ood=True,
        reference="Hendrycks et al., 2022",
        summary="The largest logit: made to detect unknown classes.",
    )

    needs_size = True

    def from_sums(self, rows: Rows, /) -> Array:
        """z₁."""
        return rows.top


def energy(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""Free energy :math:`T \log \sum_k e^{z_k/T}`, a smooth maximum of the logits.

    It keeps the size of the logits, which helps against unknown classes and hurts against misclassification.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    temperature : float
        T.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> energy(np.array([[0.0, 0.0], [2.0, 0.0]])).round(2)
    array([0.69, 2.13])

    References
    ----------
    Liu et al., 2020
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
        reference="Liu et al., 2020",
        summary="A smooth maximum of the logits, log Σ exp z: made to detect unknown classes.",
    )

    needs_size = True

    def from_sums(self, rows: Rows, /) -> Array:
        """z₁ + log1p(e^L)."""
        return rows.top + rows.log_total


ENERGY = Energy()


def confidence_margin(logits: Array, /) -> Array:
    r"""Gap between the two largest logits, :math:`z^{(1)} - z^{(2)}` (RL_conf-M).

    The default score, proposed by the paper. Multiplying the logits by a positive number does not change its ranking,
    unlike that of softmax scores, which all tend to it as the logits grow.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> confidence_margin(np.array([[2.0, 1.0, 0.1, -1.0]]))
    array([1.])

    References
    ----------
    Liang et al., 2024
    """
    return ConfidenceMargin().of(logits)


@final
@dataclass(frozen=True)
class ConfidenceMargin(SumsScore):
    """RL_conf-M as a score: see `confidence_margin`."""

    about = About(
        name="confidence_margin",
        symbol="RL_conf-M",
        family="margin",
        is_well_known=True,
        reference="Liang et al., 2024",
        summary="The gap between the two largest logits, free of their scale.",
    )

    def from_sums(self, rows: Rows, /) -> Array:
        """z₁ − z₂."""
        return rows.margin


LOGIT_SCORES = (
    MaxSoftmax(),
    Doctor(),
    NegEntropy(),
    MaxLogit(),
    Energy(),
    ConfidenceMargin(),
    GeometricMargin(),
)


def logit_scores(logits: Array, weight: Array | None = None, /) -> dict[str, Array]:
    """Confidence of every logit score by name, in one pass over the logits.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    weight : array (K, d), optional
        That of the last layer; without it the geometric margin is left out.

    Returns
    -------
    dict of str to array (n,)
        Confidence, higher = more trusted, arrays of the same library.

    Examples
    --------
    >>> scores = logit_scores(np.array([[2.0, 1.0, 0.1, -1.0]]))
    >>> {name: round(float(confidence[0]), 4) for name, confidence in scores.items()}
    {'max_softmax': 0.567, 'doctor': -0.1107, 'neg_entropy': 0.0401, 'max_logit': 2.0,
     'energy': 2.4493, 'confidence_margin': 1.0}
    """
    scores = [score for score in LOGIT_SCORES if weight is not None or "head" not in score.needs]
    return of_logits({score.name: score.formula for score in scores}, logits, None if weight is None else Head(weight))
