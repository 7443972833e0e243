"""`cascade`: the outputs of several models on the same rows, a target, and the cascade that keeps it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import check_list, check_number
from abstain._errors import InvalidInputError
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.hashes import outputs_digest
from abstain.outputs.rows import draw_rows
from abstain.outputs.validation import unlabelled
from abstain.scores.fitting_draw import FittingRows
from abstain.scores.registry import AnyScore
from abstain.scores.score import Score
from abstain.selector.calibrate import calibrate
from abstain.selector.cascades.cascade import Cascade
from abstain.selector.cascades.cheapest_routing import RoutingPlan, cheapest_routing
from abstain.selector.cascades.matching import MatchedRows
from abstain.selector.cascades.routing import Routing
from abstain.selector.cascades.stage import NAME, Stage, combined_outputs, stage_confidence
from abstain.selector.choice import candidates
from abstain.selector.seen_rows import SeenRows
from abstain.selector.selector import Selector
from abstain.selector.targets import target_of
from abstain.selector.targets.target import Target

ROUTING_SHARES = (0.1, 0.3)  # of the rows, to choose the routing on, at least and at most
ROUTING_ERRORS = 5.0  # that these rows would have at the target risk, if there are enough
FITTING_SHARE = 0.2  # of the rows, to fit scores on, where one needs it
PERSON_FACTOR = 10.0  # the default cost of a person over that of all stages
Mask = NDArray[np.bool_]


def cascade(
    outputs: Sequence[Outputs],
    target: Target | None = None,
    /,
    *,
    costs: Sequence[float],
    human_cost: float | None = None,
    risk: float | None = None,
    stage_risk: float | None = None,
    delta: float = 0.05,
    scores: Sequence[AnyScore | None] | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
) -> Cascade:
    """Make a cascade of models with one guarantee on all their answers, from labelled outputs on the same rows.

    A row is answered by the first model whose confidence is above its threshold, else by a person. A random 10% of
    the rows, or up to 30% if there are few, chooses which rows each model is to answer at the least expected cost. The
    others certify the answers of all models together, whatever the dependence between these. Proof:
    docs/guarantees.md.

    Parameters
    ----------
    outputs : list of Outputs
        Of each model, in the order in which they are asked, on the same rows: matched by ids where all have ids, else
        by order. Rows must be drawn as those of deployment are, and have trained no model.
    target : Target, optional
        A target with a risk and all options, such as ``Risk(0.02, largest_cluster=5)``. Its groups, with ``per``, are
        the stages or the predicted classes; groups of rows get no guarantees of their own.
    costs : list of float
        Of running each model on a row.
    human_cost : float, optional
        Of a person who answers a row; by default ten times as much as all models.
    risk : float, optional
        The short form: the largest risk among all answered rows.
    stage_risk : float, optional
        The largest risk among the rows that each stage answers.
    delta : float
        The probability with which the guarantee may fail.
    scores : list of str or score, optional
        The confidence of each model, by default ``"confidence_margin"``; a fitted one gets a fifth of the rows.
    names : list of str, optional
        Of the models, by default ``stage 1`` and so on.
    seed : int
        Of the draws of rows.

    Returns
    -------
    Cascade
        Its guarantee is in ``cascade.selector.threshold.guarantee``.

    Raises
    ------
    NoSafeThresholdError
        No threshold keeps the target on these rows; ``error.achievable`` lists targets that can be kept.

    Examples
    --------
    >>> from abstain.datasets import digits
    >>> large = digits()
    >>> small = Outputs(logits=large.logits + np.roll(large.logits, 1, axis=0) / 2, labels=large.labels, ids=large.ids)
    >>> cascade([small, large], risk=0.05, costs=[1, 20], human_cost=200, names=["small", "large"]).names
    ('small', 'large')
    """
    called = _names(names, outputs)
    matched = MatchedRows.of(outputs, called)
    matched.check_complete()
    if not matched.is_labelled:
        raise unlabelled("outputs")
    asked, largest = _target(target, matched, risk, stage_risk, delta)
    human_cost = _checked_human_cost(costs, human_cost, len(called))
    stages, chosen = _stages(matched, scores, costs, seed)
    share = _routing_share(len(matched), largest)
    held_out = chosen | _drawn(matched, ~chosen, "rows to route a cascade on", share, seed)
    confidence = stage_confidence(stages, matched)
    pilot = held_out & ~chosen
    plan = RoutingPlan(
        risk=largest,
        delta=asked.delta or delta,
        ratio=float(np.count_nonzero(~held_out) / np.count_nonzero(pilot)),
        costs=tuple(stage.cost for stage in stages),
        human_cost=human_cost,
    )
    routing = cheapest_routing(rejected_last(confidence[pilot]), matched.losses[pilot], plan)
    selector = _certified(matched, confidence, routing, held_out, asked, seed)
    return Cascade(stages, routing, selector, human_cost)


def _names(names: Sequence[str] | None, outputs: Any) -> tuple[str, ...]:
    count = len(outputs) if isinstance(outputs, Sequence) else 0
    called = tuple(f"stage {number}" for number in range(1, count + 1)) if names is None else tuple(names)
    if names is not None and (len(set(called)) < len(called) or not all(isinstance(name, str) for name in called)):
        raise InvalidInputError(f"`names` must be different strings, got {', '.join(map(repr, called))}.")
    if isinstance(outputs, Sequence) and count < 2:
        raise InvalidInputError(f"`outputs` must be of at least 2 models, got {count}. `calibrate` takes one.")
    return called


def _checked_human_cost(costs: Sequence[float], human_cost: float | None, stages: int) -> float:
    """What a person costs, by default ten times as much as all stages; an error for costs that do not fit."""
    check_list("costs", costs, "numbers")
    if len(costs) != stages:
        raise InvalidInputError(f"`costs` must have one cost for each of {stages} stages, got {costs!r:.60}.")
    human = PERSON_FACTOR * sum(costs) if human_cost is None else human_cost
    for name, value in (*(("costs", cost) for cost in costs), ("human_cost", human)):
        check_number(name, value)
        if not 0 <= value < np.inf:
            raise InvalidInputError(f"`{name}` must be at least 0, got {value}.")
    return float(human)


def _target(
    target: Target | None, matched: MatchedRows, risk: float | None, stage_risk: float | None, delta: float
) -> tuple[Target, float]:
    """The target and its risk, which it must have; its groups must be the stages or the predicted classes."""
    if target is None and risk is None:
        raise InvalidInputError("`target` must have a risk, such as Risk(0.02), got none.")
    per = None if stage_risk is None else "domain"
    asked = target_of(target, delta=delta, risk=risk, group_risk=stage_risk, per=per)
    largest: float | None = getattr(asked, "risk", None)
    if largest is None:
        raise InvalidInputError(f"`target` must have a risk, such as Risk(0.02), got {asked!r}.")
    if getattr(target, "per", None) in ("domain", "group") and matched.first.domain is not None:
        raise InvalidInputError(
            "`target` must not be about groups of rows, since those of a cascade are its stages, got `per` for outputs "
            "with a domain. Use `stage_risk`, or leave the domain out to mean the stages."
        )
    return asked, largest


def _routing_share(n: int, risk: float) -> float:
    """Of the rows, to choose the routing on; fixed by their number and the target alone."""
    least, most = ROUTING_SHARES
    return min(most, max(least, ROUTING_ERRORS / (risk * n)))


def _drawn(matched: MatchedRows, among: Mask, purpose: str, share: float, seed: int) -> Mask:
    """(n,) a random sample of the rows ``among``, as large as a share of all rows; clusters stay whole."""
    rng, indices = matched.first.generator(purpose, seed), np.flatnonzero(among)
    ids = None if matched.first.ids is None else matched.first.ids[indices]
    drawn = np.zeros(len(matched), dtype=bool)
    drawn[indices[draw_rows(len(indices), ids, size=share * len(matched), rng=rng)]] = True
    return drawn


def _stages(
    matched: MatchedRows, scores: Sequence[AnyScore | None] | None, costs: Sequence[float], seed: int
) -> tuple[tuple[Stage, ...], Mask]:
    """The stages with their fitted scores, and the rows that these were fitted on."""
    asked = [None] * len(matched.names) if scores is None else list(scores)
    if isinstance(scores, str) or len(asked) != len(matched.names):
        raise InvalidInputError(
            f"`scores` must have one score for each of {len(matched.names)} stages, got {scores!r:.60}."
        )
    entries = [_entry(score, outputs) for score, outputs in zip(asked, matched.outputs, strict=True)]
    none = np.zeros(len(matched), dtype=bool)
    fits = any(entry.needs_fitting for entry in entries)
    drawn = _drawn(matched, ~none, "rows to fit scores of a cascade on", FITTING_SHARE, seed) if fits else none
    stages = []
    for number, entry in enumerate(entries):
        rows = matched.outputs[number]
        if entry.needs_fitting:
            rows = FittingRows.within(matched.select(drawn).of_stage(number)).of(entry)
        stages.append(Stage(matched.names[number], entry, entry.fit(rows), rows.n_classes, float(costs[number])))
    return tuple(stages), drawn


def _entry(score: AnyScore | None, outputs: Outputs) -> Score:
    entries = candidates(score, outputs)
    if len(entries) > 1:
        raise InvalidInputError(f"`scores` must name one score for each stage, got {score!r:.60}.")
    return entries[0]


def _certified(
    matched: MatchedRows,
    confidence: NDArray[np.float64],
    routing: Routing,
    held_out: Mask,
    target: Target,
    seed: int,
) -> Selector:
    """The selector of the combined outputs, calibrated on the rows that chose neither scores nor routing."""
    every = combined_outputs(matched, routing.stages(confidence), routing.confidence(confidence))
    selector = calibrate(every.select(~held_out), target, score=NAME, seed=seed)
    data = selector.calibration
    assert data is not None
    data = replace(
        data,
        digest=outputs_digest(every),
        rows=len(every),
        samples=every.samples[1],
        unusable=int(np.count_nonzero(~every.usable)),
        held_out=int(np.count_nonzero(held_out)),
    )
    return replace(selector.with_groups_called("stage"), calibration=data, seen=SeenRows.of(every))
