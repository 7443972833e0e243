"""`certify`: write down what a selector promises, and test it on fresh labelled rows."""

import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from abstain.metrics.checks import rejected_last
from abstain.metrics.slices import rows_of_parts
from abstain.outputs import Outputs
from abstain.outputs.digest import outputs_digest
from abstain.outputs.expected import expect_outputs
from abstain.outputs.unlabelled import unlabelled
from abstain.selector.calibration_data import class_names_of, slice_counts
from abstain.selector.certificate import (
    VERDICTS,
    Certificate,
    Event,
    FreshData,
    PromiseTest,
    SelectorFacts,
    SliceTest,
    Verdict,
)
from abstain.selector.selector import Selector
from abstain.thresholds.evidence import Evidence
from abstain.thresholds.parts import p_above
from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.refutation import Refutation, refutation, untestable
from abstain.thresholds.sample import check_chance

Mask = NDArray[np.bool_]


def certify(
    selector: Selector,
    fresh: Outputs | None = None,
    /,
    *,
    level: float = 0.05,
    sources: dict[str, str] | None = None,
) -> Certificate:
    """The certificate of a selector; with ``fresh`` labelled rows, whether its promise is consistent with them.

    The fresh rows must be drawn as those to come are, and none of them may have calibrated it. A promise that is kept
    is called refuted with probability at most ``level``, which all promises tested share. The test follows the
    guarantee, not the fresh rows: for clusters of at most M rows by bets, on the fresh clusters of at most M rows, and
    exact for independent rows and for one row of each cluster.
    """
    if not isinstance(selector, Selector):
        raise TypeError(f"`selector` must be a Selector, got {type(selector).__name__}.")
    check_chance("level", level)
    threshold, groups = selector.threshold, selector.groups
    return Certificate(
        selector=SelectorFacts(
            digest=selector.digest,
            score=selector.score,
            method=threshold.method,
            threshold=threshold.value,
            group_thresholds={} if groups is None else {name: one.value for name, one in groups.thresholds.items()},
            per=None if groups is None else groups.per,
            n_classes=selector.n_classes,
            calibrated_rows=threshold.n,
            accepted=threshold.accepted,
            errors=threshold.errors,
        ),
        promises=(threshold.promise, *threshold.further),
        calibration=selector.calibration,
        fresh=None if fresh is None else _Fresh(selector, fresh, level).data(),
        software={"abstain": version("abstain"), "python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy")},
        sources=dict(sources or {}),
    )


class _Fresh:
    """Fresh rows under a selector."""

    def __init__(self, selector: Selector, outputs: Outputs, level: float) -> None:
        expect_outputs(outputs, name="fresh")
        if not outputs.is_labelled:
            raise unlabelled("fresh")
        self.digest = outputs_digest(outputs)
        self.selector, self.outputs, self.level = selector, outputs, level
        self.confidence = rejected_last(selector.confidence(outputs))
        self.accepted, self.errors = selector.accepted(outputs, self.confidence), selector.errors(outputs)
        _check_unseen(selector, outputs, self.digest)
        self.ids = None if outputs.ids is None else outputs.samples[0]

    def data(self) -> FreshData:
        tests, (classes, domains) = tuple(self.tests()), self.slices()
        return FreshData(
            digest=self.digest,
            compared=() if self.selector.seen is None else self.selector.seen.compared(self.outputs),
            rows=len(self.outputs),
            samples=self.outputs.samples[1],
            unusable=int(np.count_nonzero(~self.outputs.usable)),
            accepted=int(np.count_nonzero(self.accepted)),
            errors=int(np.count_nonzero(self.accepted & self.errors)),
            level=self.level,
            tests=tests,
            classes=classes,
            domains=domains,
            unseen=tuple(sorted(self.selector.unseen(self.outputs))),
            verdict=_overall(tests),
        )

    def tests(self) -> Iterator[PromiseTest]:
        """Each promise, those of groups after those of all rows; the level is shared by those that can be tested."""
        asked = list(self.promises())
        share = self.level / max(1, sum(not untestable(promise) for _, promise, _ in asked))
        for about, promise, inside in asked:
            reason = untestable(promise)
            event: Event = "wrong" if promise.quantity == RISK else "rejected"
            evidence = self.evidence(promise, inside)
            result = None if reason else self.tested(promise, evidence, share)
            left_out = 0 if reason else evidence.left_out
            yield PromiseTest(about=about, event=event, result=result, reason=reason, left_out=left_out)

    def promises(self) -> Iterator[tuple[str, Promise, Mask]]:
        """What is promised, in words, and of which rows."""
        every = np.ones(len(self.outputs), dtype=bool)
        threshold, groups = self.selector.threshold, self.selector.groups
        for promise in (threshold.promise, *threshold.further):
            yield promise.quantity, promise, every
        if groups is None:
            return
        names = self.selector.group_names(self.outputs)
        for name, one in groups.thresholds.items():
            if one.value < np.inf:
                yield f"{one.promise.quantity} in the group {name}", one.promise, names == name

    def evidence(self, promise: Promise, inside: Mask) -> Evidence:
        """The rows that test a promise, of those in its group."""
        return Evidence.of(promise, inside, self.ids, self.confidence, self.errors)

    def tested(self, promise: Promise, evidence: Evidence, level: float) -> Refutation:
        """A share of errors among the accepted, or of rows rejected, is at most what is promised."""
        of_risk = promise.quantity == RISK
        return refutation(
            self.errors if of_risk else ~self.accepted,
            evidence.rows & self.accepted if of_risk else evidence.rows,
            evidence.clusters,
            limit=promise.limit,
            level=level,
            delta=1 - (promise.probability or 0.0),
            largest=evidence.largest,
        )

    def classes(self) -> NDArray[np.str_] | None:
        if not self.outputs.n_classes:
            return None
        return class_names_of(self.selector.predictions(self.outputs), self.selector.class_names)

    def slices(self) -> tuple[tuple[SliceTest, ...], tuple[SliceTest, ...]]:
        """Every class and every domain, all tested together against the promised risk; no part of the verdict."""
        named = (self.classes(), self.outputs.domain)
        classes, domains = (slice_counts(names, self.accepted, self.errors) for names in named)
        parts = [*_rows_of(named[0], len(classes)), *_rows_of(named[1], len(domains))]
        tests = [
            SliceTest(counts=one, above=above)
            for one, above in zip((*classes, *domains), self.are_above(parts), strict=True)
        ]
        return tuple(tests[: len(classes)]), tuple(tests[len(classes) :])

    def are_above(self, parts: list[NDArray[np.int64]]) -> list[bool]:
        """Whether the risk of each of these parts of the rows is significantly above what is promised of all."""
        promise = self.selector.threshold.promise
        if promise.quantity != RISK or untestable(promise):
            return [False] * len(parts)
        evidence = self.evidence(promise, np.ones(len(self.outputs), dtype=bool))
        found = p_above(
            parts,
            self.errors,
            self.accepted & evidence.rows,
            evidence.clusters,
            limit=promise.limit,
            level=self.level,
            largest=evidence.largest,
        )
        return [p <= self.level for p in found]


def _check_unseen(selector: Selector, fresh: Outputs, digest: str) -> None:
    """Refuse rows that calibrated the selector, and warn of those that have the ids of some."""
    if selector.calibration is not None and digest == selector.calibration.digest:
        raise ValueError("`fresh` must be rows that the selector has not seen, got those it was calibrated on.")
    if selector.seen is None:
        return
    if share := selector.seen.share(fresh):
        raise ValueError(
            f"`fresh` must be rows that the selector has not seen, got about {max(1, round(share * len(fresh))):,} of "
            f"{len(fresh):,} that calibrated it. Take rows that neither chose the score nor its threshold."
        )
    if share := selector.seen.namesakes(fresh):
        warn(
            f"About {max(1, round(share * len(fresh))):,} of {len(fresh):,} fresh rows have ids of rows that "
            "calibrated the selector, but other logits or confidences: they are taken for other samples. If they "
            "are the same samples, answered anew, they are not fresh: take others.",
            stacklevel=4,  # whoever calls `certify`
        )


def _rows_of(names: NDArray[np.str_] | None, parts: int) -> list[NDArray[np.int64]]:
    """The rows of each name, in the order of the names."""
    return rows_of_parts(np.unique(names, return_inverse=True)[1], parts) if names is not None and parts else []


def _overall(tests: Iterable[PromiseTest]) -> Verdict:
    """The worst of them; all must be confirmed for the whole to be."""
    return min((test.result.verdict for test in tests if test.result), key=VERDICTS.index, default="not tested")
