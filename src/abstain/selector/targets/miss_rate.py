"""`MissRate`: few rows of some true classes are accepted with another answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, ClassVar, final

import numpy as np

from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.outputs.validation import unlabelled
from abstain.selector.calibration_data import class_names_of
from abstain.selector.group_thresholds import GroupThresholds
from abstain.selector.targets.target import ScoredRows, Target, Thresholds
from abstain.thresholds.sample import check_target


def miss_rate_options(rates: Any) -> str:
    """The options of `abstain calibrate` for these rates."""
    return " ".join(f"--miss-rate {name}={rate:g}" for name, rate in rates.items())


@final
@dataclass(frozen=True, repr=False)
class MissRate(Target):
    """At most a share of the rows of a true class is accepted with another answer, such as frauds answered "ok".

    Each predicted class has a threshold of its own, limited by the rates of the other classes. A class without a rate
    is not limited: with ``{"fraud": 0.05}`` every answer "fraud" is accepted.

    Parameters
    ----------
    miss_rate
        By name of the true class, or its number, the largest share of all its rows.
    delta
        The probability with which any of the rates may fail.
    method
        Only `target_miss_rate`.

    Examples
    --------
    >>> MissRate({"fraud": 0.05}).command()
    '--miss-rate fraud=0.05'
    """

    target_name: ClassVar = "miss rate"
    keys: ClassVar = ("miss_rate",)
    miss_rate: Mapping[str | int, float] = field(metadata={"option": miss_rate_options})

    def check(self) -> None:
        """Raise an error for invalid options."""
        check_rates(self.miss_rate)

    def threshold(self, rows: ScoredRows, /, *, seed: int) -> Thresholds:
        """The threshold of each predicted class, and what they do together."""
        by_name = self.rule()(*sample_of(rows), **options_of(self.miss_rate, rows, self.delta, seed))
        free = replace(next(iter(by_name.values())), value=-inf, n=0, accepted=0, errors=0.0)
        parts = {name: by_name.get(name, free) for name in class_list(rows.outputs)}  # never predicted: not limited
        first = next(iter(parts.values()))
        total = replace(
            first,
            value=inf,
            n=sum(part.n for part in parts.values()),
            accepted=sum(part.accepted for part in parts.values()),
            errors=sum(part.errors or 0.0 for part in parts.values()),
        )
        return total, GroupThresholds("class", parts)


def check_rates(rates: Any, /) -> None:
    """Rates by class."""
    if not isinstance(rates, Mapping):
        raise InvalidTypeError(f"`miss_rate` must be a rate by class, such as {{'fraud': 0.05}}, got {rates!r:.60}.")
    if not rates:
        raise InvalidInputError("`miss_rate` must have a rate for at least one class, got none.")
    for rate in rates.values():
        check_target("miss_rate", rate)


def class_list(outputs: Outputs, /) -> list[str]:
    """The names of the classes, their numbers where they have none."""
    return [str(name) for name in class_names_of(np.arange(outputs.n_classes), outputs.class_names)]


def sample_of(rows: ScoredRows, /) -> tuple[Any, Any, Any]:
    """Confidence, and the names of the answers and of the true classes, None for unknown ones."""
    if not rows.outputs.n_classes:
        raise InvalidInputError("`outputs` must have logits or probabilities for a miss rate, got confidences alone.")
    if rows.outputs.labels is None:
        raise unlabelled("outputs")
    names = np.array([*class_list(rows.outputs), None], dtype=object)
    return rows.confidence, names[rows.predictions], names[np.maximum(rows.outputs.labels, -1)]


def options_of(rates: Mapping[str | int, float], rows: ScoredRows, delta: float | None, seed: int, /) -> dict[str, Any]:
    """The options of a rule, rates by the name of the class."""
    names = class_list(rows.outputs)
    for name in rates:
        check_name(
            "miss_rate",
            str(name),
            names,
            rule="name classes of the outputs",
            otherwise=f"There are {', '.join(names[:9])}{', …' * (len(names) > 9)}.",
        )
    by_name = {str(name): rate for name, rate in rates.items()}
    return {"miss_rate": by_name, "delta": delta, "ids": rows.outputs.ids, "seed": seed}
