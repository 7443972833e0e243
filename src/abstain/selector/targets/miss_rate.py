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


def check_rates(name: str, rates: Any, /) -> None:
    """Rates by class."""
    if not isinstance(rates, Mapping):
        raise InvalidTypeError(f"`{name}` must be a rate by class, such as {{'fraud': 0.05}}, got {rates!r:.60}.")
    if not rates:
        raise InvalidInputError(f"`{name}` must have a rate for at least one class, got none.")
    for rate in rates.values():
        check_target(name, rate)


@final
@dataclass(frozen=True, repr=False)
class MissRate(Target):
    """At most a share of the rows of a true class is accepted with another answer, such as frauds answered "ok".

    Each predicted class has a threshold of its own, limited by the rates of the other classes. A class without a rate
    is not limited: with ``{"fraud": 0.05}`` every answer "fraud" is accepted.

    Parameters
    ----------
    miss_rate : dict of str or int to float
        By name of the true class, or its number, the largest share of all its rows.
    delta : float
        The probability with which any of the rates may fail.
    method : str, optional
        Only `target_miss_rate`.

    Examples
    --------
    >>> MissRate({"fraud": 0.05})
    MissRate({'fraud': 0.05})
    """

    target_name: ClassVar = "miss rate"
    keys: ClassVar = ("miss_rate",)
    miss_rate: Mapping[str | int, float] = field(metadata={"check": check_rates})

    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold of each predicted class, and what they do together."""
        by_name = by_rule_of_classes(self, self.miss_rate, rows)
        first = next(iter(by_name.values()))
        free = replace(first, value=-inf, n=0, accepted=0, errors=0.0)  # a class that is never predicted here
        parts = {name: by_name.get(name, free) for name in class_list(rows.outputs)}
        total = replace(
            next(iter(parts.values())),
            value=inf,
            n=sum(part.n for part in parts.values()),
            accepted=sum(part.accepted for part in parts.values()),
            errors=sum(part.errors or 0.0 for part in parts.values()),
        )
        return total, GroupThresholds("class", parts)


def class_list(outputs: Outputs, /) -> list[str]:
    """The names of the classes, their numbers where they have none."""
    return [str(name) for name in class_names_of(np.arange(outputs.n_classes), outputs.class_names)]


def by_rule_of_classes(target: Target, rates: Mapping[str | int, float], rows: ScoredRows, /, **options: Any) -> Any:
    """What the rule of a target makes of answers and true classes; rates are by the name of a class, or its number."""
    if not rows.outputs.n_classes:
        raise InvalidInputError("`outputs` must have logits or probabilities for a miss rate, got confidences alone.")
    if rows.outputs.labels is None:
        raise unlabelled("outputs")
    names = class_list(rows.outputs)
    if len({str(name) for name in rates}) < len(rates):
        raise InvalidInputError(f"`miss_rate` must name each class once, got {', '.join(map(repr, rates))}.")
    for name in rates:
        check_name(
            "miss_rate",
            str(name),
            names,
            rule="name classes of the outputs",
            otherwise=f"There are {', '.join(names[:9])}{', …' * (len(names) > 9)}.",
        )
    classes = np.array([*names, None], dtype=object)  # None for an unknown class
    columns = classes[rows.predictions], classes[np.maximum(rows.outputs.labels, -1)]
    return target.by_rule(rows, *columns, miss_rate={str(name): rate for name, rate in rates.items()}, **options)
