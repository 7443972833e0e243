"""`certify`: write down what a selector guarantees, and test it on fresh labelled rows."""

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from abstain._errors import InvalidTypeError
from abstain.outputs import Outputs
from abstain.selector.audited_decisions import AuditedDecisions
from abstain.selector.cascades.cascade import Cascade
from abstain.selector.certificate import Certificate, SelectorFacts
from abstain.selector.fresh_rows import FreshRows
from abstain.selector.selector import Selector
from abstain.thresholds.sample import check_chance


def certify(
    selector: Selector | Cascade,
    fresh: Outputs | Sequence[Outputs] | AuditedDecisions | None = None,
    /,
    *,
    level: float = 0.05,
    sources: dict[str, str] | None = None,
) -> Certificate:
    """The certificate of a selector; with ``fresh`` labelled rows, whether its guarantee is consistent with them.

    The fresh rows must be drawn as those to come are, and none of them may have calibrated it. A guarantee that is kept
    is called refuted with probability at most ``level``, which all guarantees tested share. The test follows the
    guarantee, not the fresh rows: for clusters of at most M rows by bets, on the fresh clusters of at most M rows, and
    exact for independent rows and for one row of each cluster. Of decisions with an audit, the audited rows test what
    is guaranteed of the accepted, and all rows what is guaranteed of the share accepted.

    Parameters
    ----------
    selector : Selector or Cascade
        A selector or cascade, whose guarantees are certified.
    fresh : Outputs, list of Outputs, or AuditedDecisions, optional
        Labelled outputs, or decisions with an audit, to test them on; for a cascade the outputs of each stage in a
        list.
    level : float
        The probability of refuting a guarantee that holds.
    sources : dict, optional
        Names of the files, which the certificate records.

    Returns
    -------
    Certificate
        With the verdict on the fresh rows, if there are any.
    """
    check_chance("level", level)
    if not isinstance(selector, Selector | Cascade):
        raise InvalidTypeError(f"`selector` must be a Selector or a Cascade, got {type(selector).__name__}.")
    certified = selector.selector if isinstance(selector, Cascade) else selector
    rows: Any = fresh
    if isinstance(selector, Cascade) and fresh is not None and not isinstance(fresh, AuditedDecisions):
        if isinstance(fresh, Outputs):
            raise InvalidTypeError("`fresh` must be a list with the outputs of each stage for a cascade, got Outputs.")
        rows = selector.combined(fresh)
    threshold, groups = certified.threshold, certified.groups
    return Certificate(
        selector=SelectorFacts(
            digest=selector.digest,
            score=certified.score,
            method=threshold.method,
            threshold=threshold.value,
            group_thresholds={} if groups is None else {name: group.value for name, group in groups.thresholds.items()},
            per=None if groups is None else groups.per,
            n_classes=certified.n_classes,
            calibrated_rows=threshold.n,
            accepted=threshold.accepted,
            errors=threshold.errors,
        ),
        guarantees=threshold.guarantees,
        calibration=certified.calibration,
        fresh=None if rows is None else FreshRows.of(certified, rows, level).data(),
        software={"abstain": version("abstain"), "python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy")},
        sources=dict(sources or {}),
    )
