"""The plans of `abstain plan`: labelled samples, achievable risks or coverages, as plain data, a table and notes."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import abstain
from abstain._errors import InvalidInputError
from abstain.cli.printing import Lines, Result, small_table

Known = dict[str, float]
"""delta and power."""
Row = dict[str, Any]


def _lines(columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str]) -> Lines:
    """The table of a plan, and notes on it."""
    yield small_table(columns, rows)
    yield from (f"- {note}" for note in notes)


def samples_plan(
    risk: float, coverages: list[float], rates: list[float], known: Known, /, *, coverage: float, label_share: float
) -> Result:
    """How many labelled samples guarantee a risk, by coverage and error rate."""
    from abstain.thresholds.binomial import samples_needed
    from abstain.thresholds.planning import samples_range

    rows = []
    for rate in rates:
        for each in coverages:
            low, high = samples_range(risk=risk, coverage=each, error_rate=rate, label_share=label_share, **known)
            rows.append({"error_rate": rate, "coverage": each, "n": high, "n_rising": low})
    least = samples_needed(risk, known["delta"])
    middle = [row for row in rows if row["coverage"] == coverage]
    example = middle[len(middle) // 2]
    notes = [
        f"Labelled samples that guarantee risk <= {risk:g} with probability {1 - known['delta']:g}.",
        f"For example, with {example['n']:,} samples calibration accepts {coverage:.0%} of them in "
        f"{known['power']:.0%} of cases, if the error rate is {example['error_rate']:.3g} among the accepted "
        "samples and in the next tenth of the ranking.",
        "The lower number is for a score whose error rate grows with the square of the rank, the upper one for a score "
        "that does not rank the accepted samples.",
        f"At least {least:,} accepted samples without a single error are needed in any case.",
        "Guaranteeing the coverage as well takes more samples.",
    ]
    if label_share < 1:
        notes.insert(1, f"Only the most confident {label_share:.0%} of the samples are labelled.")
    document = {"risk": risk, **known, "label_share": label_share, "least_accepted": least, "rows": rows}
    return _by_coverage(document, notes, _range)


def risks_plan(n: int, coverages: list[float], rates: list[float], known: Known, /) -> Result:
    """The lowest risk that n labelled samples guarantee, by coverage and error rate."""
    from abstain.thresholds.planning import risk_for

    rows = [
        {"error_rate": rate, "coverage": each, "risk": risk_for(n=n, coverage=each, error_rate=rate, **known)}
        for rate in rates
        for each in coverages
    ]
    notes = [
        f"The lowest risk that {n:,} labelled samples guarantee with probability {1 - known['delta']:g}, in "
        f"{known['power']:.0%} of cases, if errors get rarer with confidence.",
        f"{min(row['risk'] for row in rows):.3g} is the lowest of all.",
    ]
    return _by_coverage({"n": n, **known, "rows": rows}, notes, lambda row: f"{row['risk']:.3g}")


def coverages_plan(n: int, risk: float, rates: list[float], known: Known, /) -> Result:
    """The lowest coverage at which n labelled samples certify a risk, by error rate."""
    from abstain.thresholds.binomial import samples_needed
    from abstain.thresholds.planning import coverage_for

    least = samples_needed(risk, known["delta"])
    rows = [{"error_rate": rate, "coverage": coverage_for(n=n, risk=risk, error_rate=rate, **known)} for rate in rates]
    cells = [
        [f"{row['error_rate']:.3g}", "not achievable" if row["coverage"] is None else f"{row['coverage']:.1%}"]
        for row in rows
    ]
    notes = [
        f"The smallest coverage at which {n:,} labelled samples guarantee risk <= {risk:g} with probability "
        f"{1 - known['delta']:g}, in {known['power']:.0%} of cases, if errors get rarer with confidence.",
        f"At least {least:,} accepted samples without a single error are needed in any case.",
        "Leave out --n for the number of samples needed, or --risk for the achievable risks.",
    ]
    document = {"n": n, "risk": risk, **known, "least_accepted": least, "rows": rows}
    return Result(document, _lines(("error rate among accepted", "coverage"), cells, notes))


def pilot_plan(pilot: Path, score: str | None, /, *, risk: float | None, delta: float, n: int | None) -> Result:
    """What calibrations of several sizes are expected to certify, predicted from a small labelled sample."""
    from abstain.thresholds.pilot import SIZES, plan_from_pilot

    if risk is None:
        raise InvalidInputError("`--risk` must come with `--pilot`, got none.")
    outputs = abstain.Outputs.load(pilot, nonfinite="reject")
    if (ids := outputs.samples[1]) < len(outputs):
        raise InvalidInputError(
            f"`--pilot` must have one row per id, since the plan is for independent rows, got {len(outputs):,} rows of "
            f"{ids:,} ids."
        )
    sizes = SIZES if n is None else (n,)
    rows = plan_from_pilot(_confidence(outputs, score), outputs.outcomes, risk=risk, delta=delta, sizes=sizes)
    cells = [
        [f"{row.n:,}", f"{row.middle:.0%}", f"{row.low:.0%} to {row.high:.0%}", f"{row.nothing:.0%}"] for row in rows
    ]
    notes = [
        f"Predicted from {len(outputs):,} samples for risk <= {risk:g} with probability {1 - delta:g}.",
        "Assumed: errors get steadily rarer with confidence. Confident errors, if there are any, are missed.",
        "Calibrate on other samples than these.",
    ]
    columns = ("labelled samples", "certified coverage", "in 80% of cases", "nothing certified")
    document = {"risk": risk, "delta": delta, "pilot": len(outputs), "rows": rows}
    return Result(document, _lines(columns, cells, notes))


def with_floor(plan: Result, unlabelled: Path, score: str | None, /, *, share: float) -> Result:
    """The plan, with the confidence above which this share of the unlabelled outputs lies."""
    from abstain.thresholds.target_risk import label_floor

    outputs = abstain.Outputs.load(unlabelled, nonfinite="reject", unlabelled="keep")
    confidence = _confidence(outputs, score)
    floor = label_floor(confidence, share=share)
    labels = int((confidence > floor).sum())
    note = (
        f"- Of the {len(outputs):,} rows of {unlabelled}, label the {labels:,} with confidence above {floor!r} and "
        f"leave the others empty; then `calibrate --label-above {floor!r}`."
    )
    return Result(plan.document | {"floor": floor, "labels": labels}, chain(plan.lines, [note]))


def _confidence(outputs: "abstain.Outputs", score: str | None) -> Any:
    from abstain.metrics.checks import rejected_last
    from abstain.scores.fitting_draw import FittingRows
    from abstain.selector.choice import candidates

    entry, *others = candidates(score, outputs)
    if others or entry.needs_fitting:
        raise InvalidInputError(f"`--score` must be a single score that needs no fitting to plan, got {score}.")
    return rejected_last(entry.fit(FittingRows.all_alike(outputs).of(entry))(outputs))


def _by_coverage(document: dict[str, Any], notes: list[str], cell: Callable[[Row], str]) -> Result:
    """A table of error rates by coverages."""
    cells = {(row["error_rate"], row["coverage"]): cell(row) for row in document["rows"]}
    rates, coverages = dict.fromkeys(rate for rate, _ in cells), sorted({coverage for _, coverage in cells})
    columns = ["error rate among accepted", *(f"coverage {coverage:g}" for coverage in coverages)]
    rows = [[f"{rate:.3g}", *(cells[rate, coverage] for coverage in coverages)] for rate in rates]
    return Result(document, _lines(columns, rows, notes))


def _range(row: Row) -> str:
    return f"{row['n']:,}" if row["n"] == row["n_rising"] else f"{row['n_rising']:,} – {row['n']:,}"
