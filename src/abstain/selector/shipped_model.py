"""A model that a selector ships with, in a service or a logged model: what it must have, and what it returns."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.outputs.probabilities import known_logits
from abstain.selector.selector import Selector

Head = tuple[NDArray[Any] | None, NDArray[Any] | None]
"""Weight (K, d) and bias (K,), or None where they are not known."""


def check_model(selector: Selector, head: Head, /, *, n_classes: int | None = None) -> None:
    """Refuse a model with this head, and so many classes, on which the selector could not decide."""
    weight, _ = head
    if not selector.fitted.is_formula:
        raise InvalidInputError(
            f"`selector` must be of a score of the logits or features, got {selector.score!r}, a confidence that was "
            "given or a function of yours."
        )
    if selector.needs_head and weight is None:
        raise InvalidInputError(
            f"`model` must end in a linear layer of constant weights for {selector.score}, got another operation. Name "
            "the logits, or calibrate a score of the logits alone."
        )
    known = n_classes if weight is None else len(weight)
    if known not in (None, selector.n_classes):
        raise InvalidInputError(f"`model` must have {selector.n_classes} classes, as in calibration, got {known}.")


def model_outputs(
    selector: Selector,
    logits: NDArray[Any],
    features: NDArray[Any] | None,
    head: Head,
    /,
    *,
    domain: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> Outputs:
    """What a model returned, with what the score needs of it; a non-finite row is rejected.

    That its values are logits is known of the model, and not guessed from the rows of a request.
    """
    weight, bias = head if selector.needs_head else (None, None)
    with known_logits():
        return Outputs(
            logits=logits,
            features=features if selector.needs_head else None,
            weight=weight,
            bias=bias,
            domain=domain,
            ids=ids,
            nonfinite="reject",
        )
