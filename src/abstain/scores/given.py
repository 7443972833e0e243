"""A confidence that somebody else computed, as a score like any other."""

from typing import Any

from abstain.scores.score import PlainScore


def given_score(name: str, /) -> PlainScore:
    """The score that reads the confidence given to `Outputs` under this name."""

    def refuse(_: Any, __: Any) -> Any:
        raise ValueError(f"`selector` must have a score that is computed from logits, got {name!r}, which was given.")

    return PlainScore(
        name=name,
        symbol=name,
        family="given",
        needs=("given",),
        reference="given with the outputs",
        function=lambda outputs: outputs.given_confidence(name),
        array_function=refuse,
    )
