"""RL_geo-M: the gap between signed distances to the hyperplanes of the last layer, and the decision rule for it."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.scores.head import Head, as_numpy
from abstain.scores.inputs import Inputs
from abstain.scores.logit_formulas import of_logits
from abstain.scores.operations import Array
from abstain.scores.score import About, PlainScore, no_size

Form = Literal["signed", "top_two"]
FORMS = ("signed", "top_two")


def geometric_margin(
    logits: Array,
    weight: Array,
    /,
    *,
    bias: Array | None = None,
    form: Form = "signed",
) -> Array:
    r"""Geometric margin :math:`d_{\hat y} - \max_{j \ne \hat y} d_j`, with :math:`d_j = z_j / \|w_j\|` (RL_geo-M).

    It is negative exactly where the largest distance belongs to another class than the prediction ŷ. For a
    classifier that decides by these distances (`geometric_rule`) it is the confidence margin.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    weight : array (K, d)
        Of the last layer.
    bias : array (K,), optional
        If given, norms are of the rows of [W, b], as in App. A and the authors' code.
    form : {'signed', 'top_two'}
        ``top_two`` is the paper's eq. 11, :math:`d^{(1)} - d^{(2)}`, whichever class these belong to.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> W, z = np.array([[1.0, 2, 2], [0, 3, 4], [2, 0, 0]]), np.array([[4.0, 4.5, 2.25]])
    >>> geometric_margin(z, W).round(4), geometric_margin(z, W, form="top_two").round(4)
    (array([-0.4333]), array([0.2083]))

    References
    ----------
    Liang et al., 2024
    """
    if bias is not None:
        if np.shape(bias) != (len(weight),):
            raise InvalidInputError(
                f"`bias` must have one value for each of {len(weight)} classes, got shape {np.shape(bias)}."
            )
        weight = np.column_stack([as_numpy(weight), as_numpy(bias)])
    formula = GeometricMargin(form).formula
    return of_logits({"margin": formula}, logits, Head(weight))["margin"]


def geometric_rule(outputs: Outputs, /) -> Outputs:
    r"""The same network deciding by the largest distance :math:`d_j = z_j / \|w_j\|`: outputs whose logits are these.

    Its predictions and errors are those of that decision rule, and its ``confidence_margin`` is RL_geo-M, eq. 11 of the
    paper. It is another classifier, so it is not a score of the first: compare the two by `compare_runs`.

    Parameters
    ----------
    outputs : Outputs
        With logits, head and, if labelled, labels.

    Returns
    -------
    Outputs
        Those of the other classifier.

    Examples
    --------
    >>> W, z = np.array([[1.0, 2, 2], [0, 3, 4], [2, 0, 0]]), np.array([[4.0, 4.5, 2.25]])
    >>> outputs = Outputs(logits=z, weight=W)
    >>> outputs.predictions, geometric_rule(outputs).predictions
    (array([1]), array([0]))

    References
    ----------
    Liang et al., 2024
    """
    if objection := GeometricMargin().objection(outputs):
        raise InvalidInputError(
            f"`outputs` must have logits and a head with a distance for every class, got {objection}."
        )
    if outputs.labels is None and outputs.is_labelled:
        raise InvalidInputError("`outputs` must have labels, got errors, which are those of another decision rule.")
    head = Head.of(outputs)
    scale = head.inverse_norms
    return Outputs(
        logits=outputs.logits * scale,
        labels=outputs.labels,
        features=outputs.features,
        weight=head.rows * scale[:, None],
        bias=None if outputs.bias is None else outputs.bias * scale,
        shift=outputs.shift,
        domain=outputs.domain,
        ids=outputs.ids,
        class_names=outputs.class_names,
        nonfinite="error" if outputs.usable.all() else "reject",
    )


@final
@dataclass(frozen=True)
class GeometricMargin(PlainScore):
    """RL_geo-M as a score: see `geometric_margin`.

    Parameters
    ----------
    form : {'signed', 'top_two'}
        Signed against the prediction, or the gap of the two largest distances.

    References
    ----------
    Liang et al., 2024
    """

    form: Form = "signed"
    uses_head = True

    def __post_init__(self) -> None:
        check_name("form", self.form, FORMS, rule=f"be {' or '.join(map(repr, FORMS))}")

    @property
    def about(self) -> About:
        """The registry entry; only the symbol depends on the form."""
        return About(
            name="geometric_margin",
            symbol="RL_geo-M" if self.form == "signed" else "RL_geo-M (eq. 11)",
            family="margin",
            is_well_known=True,
            needs=("logits", "head"),
            reference="Liang et al., 2024",
            summary="The gap between signed distances to the hyperplanes of the last layer.",
        )

    def flaw(self, outputs: Outputs, /) -> str | None:
        """A class of zero weight has no distance, and log-probabilities have lost the size of the logits."""
        zero = np.flatnonzero(Head.of(outputs).norms == 0)
        return f"a weight of norm zero at class {zero[0]}" if zero.size else no_size(outputs)

    def formula(self, inputs: Inputs, /) -> Array:
        """The margin of the logits scaled by 1/‖wⱼ‖."""
        if self.form == "signed":
            return inputs.scaled_margin
        return Inputs(inputs.distances).sums().margin

    def note(self, confidence: Floats, /) -> str | None:
        """How often the two argmaxes differ, which the gap of the top two does not show."""
        if self.form != "signed":
            return None
        differ = np.nanmean(confidence < 0)
        return f"The largest distance belongs to another class than the largest logit in {differ:.2%} of the rows."
