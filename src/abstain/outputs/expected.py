"""Outputs where outputs are expected, and not the arrays they are made of."""

from typing import Any

from abstain.outputs.outputs import Outputs


def expect_outputs(value: Any, /, *, name: str = "outputs") -> None:
    """An error that says how to make outputs where something else was given."""
    if not isinstance(value, Outputs):
        raise TypeError(
            f"`{name}` must be Outputs, got {type(value).__name__}. Make them with abstain.Outputs(logits=…, labels=…) "
            "or abstain.Outputs.load(path)."
        )
