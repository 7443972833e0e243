"""Targets as values: what `calibrate` is to guarantee.

To add one: write its file, import it here and put its name into `__all__`. `TARGETS`, the exports of `abstain.selector`
and `abstain`, and the tests over all targets read this list.
"""

from dataclasses import fields
from typing import Any

from abstain._errors import InvalidInputError
from abstain.selector.targets.cost import Cost
from abstain.selector.targets.coverage import Coverage
from abstain.selector.targets.joint_risk import JointRisk
from abstain.selector.targets.miss_rate import MissRate
from abstain.selector.targets.review import Review
from abstain.selector.targets.risk import Risk
from abstain.selector.targets.risk_and_coverage import RiskAndCoverage
from abstain.selector.targets.risk_and_miss_rate import RiskAndMissRate
from abstain.selector.targets.target import Target, is_default

__all__ = ["Cost", "Coverage", "JointRisk", "MissRate", "Review", "Risk", "RiskAndCoverage", "RiskAndMissRate"]

TARGETS: tuple[type[Target], ...] = tuple(globals()[name] for name in __all__)
"""Every kind of target."""


def target_of(target: Target | None = None, /, **options: Any) -> Target:
    """The target itself, or the one that the options of the short form mean.

    Parameters
    ----------
    target : Target, optional
        A target, with which no option may be given.
    **options : object
        Fields of the targets by name; None stands for "not given".

    Examples
    --------
    >>> target_of(risk=0.02, per="class")
    Risk(0.02, per='class')
    """
    defaults = {field.name: field.default for kind in TARGETS for field in fields(kind)}
    given = {
        name: value
        for name, value in options.items()
        if value is not None and name != "delta" and not is_default(value, defaults.get(name))
    }
    if target is not None:
        if not isinstance(target, Target):
            raise InvalidInputError(f"`target` must be a target such as Risk(0.02), got {target!r:.60}.")
        if not is_default(options.get("delta", defaults["delta"]), defaults["delta"]):
            given["delta"] = options["delta"]
        if given:
            raise InvalidInputError(
                f"`{next(iter(given))}` must be left out with a target, got both. Put it into the target."
            )
        return target
    keys = {key for kind in TARGETS for key in kind.keys}
    asked = [name for name in given if name in keys]
    kind = next((kind for kind in TARGETS if set(kind.keys) == set(asked)), None)
    if kind is None:
        choices = "; ".join(" with ".join(kind.keys) for kind in TARGETS)
        advice = "Give one of them." if asked else "Give one, such as a risk of 0.02."
        raise InvalidInputError(f"`target` must be one of {choices}, got {' with '.join(asked) or 'none'}. {advice}")
    for name in given:
        those = [other for other in TARGETS if name in {field.name for field in fields(other)}]
        if kind not in those:
            others = " or ".join(_quoted(other.keys) for other in those)
            raise InvalidInputError(f"`{name}` must come with {others}, got {_quoted(kind.keys)}.")
    return kind(**given, **{name: options[name] for name in ("delta",) if name in options})


def _quoted(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)
