"""`abstain plan`: how many labelled samples a promise needs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from abstain.cli.options import Figure, Json, refuse
from abstain.cli.show import print_json, say

FRACTIONS = (0.0, 0.25, 0.5, 0.75)


def plan(
    risk: Annotated[float | None, typer.Option(help="The risk to promise.")] = None,
    delta: Annotated[float, typer.Option(help="Probability with which the promise may fail.")] = 0.05,
    coverage: Annotated[
        float | None, typer.Option(help="The share of samples to be accepted.", show_default="0.6")
    ] = None,
    error_rate: Annotated[
        float | None, typer.Option(help="The true share of errors among the accepted, if you have an idea of it.")
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n", min=1, help="The labelled samples there are: what is in reach, or with --risk at which coverage?"
        ),
    ] = None,
    power: Annotated[
        float | None, typer.Option(help="Probability with which calibration is to succeed.", show_default="0.9")
    ] = None,
    label_share: Annotated[
        float | None,
        typer.Option(help="Only this share of the samples, the most trusted, is to be labelled.", show_default="1"),
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(help="A small labelled table or folder, to judge from what a calibration will give.")
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(help="With --pilot: the score to trust. [confidence_margin, or the only confidence given]"),
    ] = None,
    figure: Figure = None,
    json: Json = False,
) -> None:
    """Tell before you label how many labelled samples a promise needs, or what is in reach with those there are.

    A range of samples is printed: with a good score, whose errors grow with the square of the rank, and with one that
    does not rank within the accepted samples. A --pilot of some hundred labelled samples narrows it.

    Example: abstain plan --risk 0.02 --delta 0.05 --coverage 0.6 --error-rate 0.01
    """
    from abstain.report.figures.save import check_figure

    check_figure(figure)
    if n is not None and figure is not None:
        raise ValueError("`--figure` must come with `--risk`, got it with `--n`.")
    if n is not None and risk is not None and coverage is not None:
        raise ValueError(
            f"`--coverage` must be left out with `--risk` and `--n`, which tell the coverage, got {coverage:g}. Leave "
            "out --n to be told how many samples it takes, or --risk to be told the risk in reach."
        )
    if pilot is not None:
        assumed = {"--coverage": coverage, "--error-rate": error_rate, "--power": power, "--label-share": label_share}
        refuse(assumed | {"--figure": figure}, "be left out with `--pilot`, from which the coverages are told.")
        _tell_pilot(json, pilot, score, risk, delta, n)
        return
    if score is not None:
        raise ValueError("`--score` must come with `--pilot`, got no `--pilot`.")
    if n is not None:
        refuse({"--label-share": label_share}, "be left out with `--n`, the labelled samples there are.")
    if figure is not None:
        refuse({"--label-share": label_share}, "be left out with `--figure`, whose samples are all labelled.")
    coverage = 0.6 if coverage is None else coverage
    power = 0.9 if power is None else power
    label_share = 1.0 if label_share is None else label_share
    coverages = sorted(each for each in {coverage, 0.4, 0.6, 0.9} if each <= label_share or each == coverage)
    known: dict[str, Any] = {"delta": delta, "power": power}
    if n is not None and risk is None:
        rows = _risks(n, coverages, [0.0, 0.005, 0.01, 0.02, 0.05] if error_rate is None else [error_rate], known)
        _tell(json, {"n": n, "delta": delta, "power": power, "rows": rows}, _reach(n, delta, power, rows))
        return
    if risk is None:
        raise ValueError("`--risk` or `--n` must be given, or both, got none.")
    rates = [risk * f for f in FRACTIONS] if error_rate is None else [error_rate]
    if n is not None:
        _tell_coverages(json, n, risk, _coverages(n, risk, rates, known), known)
        return
    rows = _sizes(risk, coverages, rates, known, label_share)
    if figure is not None:
        from abstain.report.figures.plan import plan_figure
        from abstain.report.figures.save import save_figure

        save_figure(plan_figure(risk=risk, coverage=coverage, **known), figure)
    _tell(json, *_plan(risk, coverage, rows, known, label_share))


def _plan(
    risk: float, coverage: float, rows: list[dict[str, Any]], known: dict[str, Any], label_share: float
) -> tuple[dict[str, Any], str]:
    from abstain.thresholds.binomial import samples_needed

    least = samples_needed(risk, known["delta"])
    words = _needed(risk, known["delta"], coverage, known["power"], least, rows, label_share)
    return {"risk": risk, **known, "label_share": label_share, "least_accepted": least, "rows": rows}, words


def _tell_pilot(json: bool, pilot: Path, score: str | None, risk: float | None, delta: float, n: int | None) -> None:
    """What calibrations of several sizes are expected to certify, judged from a small labelled sample."""
    from dataclasses import asdict

    from rich import box
    from rich.console import Console
    from rich.table import Table

    from abstain.metrics.checks import rejected_last
    from abstain.outputs import Outputs
    from abstain.scores.fitting_draw import FittingRows
    from abstain.selector.choice import candidates
    from abstain.thresholds.pilot import SIZES, plan_from_pilot

    if risk is None:
        raise ValueError("`--risk` must come with `--pilot`, got none.")
    outputs = Outputs.load(pilot, nonfinite="reject")
    if (counts := outputs.samples[1]) < len(outputs):
        raise ValueError(
            f"`--pilot` must have rows of different ids, since the plan is for independent rows, got {len(outputs):,} "
            f"rows of {counts:,} ids. Give one row per id."
        )
    entry, *others = candidates(score, outputs)
    if others or entry.needs_fitting:
        raise ValueError(f"`--score` must be one that needs no fitting with `--pilot`, got {score}.")
    confidence = rejected_last(entry.fit(FittingRows.all_alike(outputs).of(entry))(outputs))
    sizes = SIZES if n is None else (n,)
    rows = plan_from_pilot(confidence, outputs.errors, risk=risk, delta=delta, sizes=sizes)
    if json:
        print_json({"risk": risk, "delta": delta, "pilot": len(outputs), "rows": [asdict(row) for row in rows]})
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("labelled samples", "coverage certified", "eight cases of ten between", "nothing certified"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(f"{row.n:,}", f"{row.middle:.0%}", f"{row.low:.0%} and {row.high:.0%}", f"{row.nothing:.0%}")
    console = Console()
    console.print(table)
    console.print(
        f"Estimated from {len(outputs):,} samples for risk <= {risk:g} with probability {1 - delta:g}, assuming that "
        "errors get steadily rarer with confidence; confident errors are missed. Calibrate on other samples than these."
    )


def _risks(n: int, coverages: list[float], rates: list[float], known: dict[str, Any]) -> list[dict[str, Any]]:
    from abstain.thresholds.planning import risk_for

    return [
        {"error_rate": rate, "coverage": c, "risk": risk_for(n=n, coverage=c, error_rate=rate, **known)}
        for rate in rates
        for c in coverages
    ]


def _sizes(
    risk: float, coverages: list[float], rates: list[float], known: dict[str, Any], label_share: float
) -> list[dict[str, Any]]:
    from abstain.thresholds.planning import samples_range

    rows = []
    for rate in rates:
        for c in coverages:
            low, high = samples_range(risk=risk, coverage=c, error_rate=rate, label_share=label_share, **known)
            rows.append({"error_rate": rate, "coverage": c, "n": high, "n_rising": low})
    return rows


def _coverages(n: int, risk: float, rates: list[float], known: dict[str, Any]) -> list[dict[str, Any]]:
    from abstain.thresholds.planning import coverage_for

    return [{"error_rate": rate, "coverage": coverage_for(n=n, risk=risk, error_rate=rate, **known)} for rate in rates]


def _tell_coverages(json: bool, n: int, risk: float, rows: list[dict[str, Any]], known: dict[str, Any]) -> None:
    """From which coverage on these rows certify the risk."""
    from abstain.thresholds.binomial import samples_needed

    least = samples_needed(risk, known["delta"])
    if json:
        print_json({"n": n, "risk": risk, **known, "least_accepted": least, "rows": rows})
        return
    say(
        f"Can {n:,} labelled samples promise risk <= {risk:g} with probability {1 - known['delta']:g}? In "
        f"{known['power']:.0%} of cases, if errors get rarer with confidence and at least so many can be accepted:"
    )
    for row in rows:
        reached = row["coverage"]
        told = "not so often, even if all are accepted" if reached is None else f"{reached:.1%} accepted, or more"
        say(f"  {row['error_rate']:.3g} of the accepted wrong: {told}")
    say(
        f"At least {least:,} accepted samples without a single error are needed in any case. Without --n: how many "
        "labelled samples it takes; without --risk: the risks in reach."
    )


def _tell(json: bool, document: dict[str, Any], words: str) -> None:
    if json:
        print_json(document)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    rows = document["rows"]
    value = "n" if "n" in rows[0] else "risk"
    coverages = sorted({row["coverage"] for row in rows})
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("errors among the accepted")
    for coverage in coverages:
        table.add_column(f"coverage {coverage:g}", justify="right")
    for rate in dict.fromkeys(row["error_rate"] for row in rows):
        cells = {row["coverage"]: row for row in rows if row["error_rate"] == rate}
        table.add_row(
            f"{rate:.3g}", *(_range(cells[c]) if value == "n" else f"{cells[c][value]:.3g}" for c in coverages)
        )
    console = Console()
    console.print(table)
    console.print(words)


def _range(row: dict[str, Any]) -> str:
    return f"{row['n']:,}" if row["n"] == row["n_rising"] else f"{row['n_rising']:,}–{row['n']:,}"


def _needed(
    risk: float,
    delta: float,
    coverage: float,
    power: float,
    least: int,
    rows: list[dict[str, Any]],
    label_share: float,
) -> str:
    middle = [row for row in rows if row["coverage"] == coverage]
    chosen = middle[len(middle) // 2]
    which = "" if label_share == 1 else f" Only the most trusted {label_share:.0%} of the samples are labelled."
    return (
        f"Labelled samples with which risk <= {risk:g} can be promised with probability {1 - delta:g}.{which} With "
        f"{chosen['n']:,}, calibration accepts {coverage:.0%} of the samples in {power:.0%} of cases, if "
        f"{chosen['error_rate']:.3g} of those are wrong, whatever their confidence, and of the next few as well; with "
        "a score whose errors grow with the square of the rank the lower number does. To promise the coverage as well "
        f"takes more. At least {least:,} accepted samples without a single error are needed in any case."
    )


def _reach(n: int, delta: float, power: float, rows: list[dict[str, Any]]) -> str:
    lowest = min(row["risk"] for row in rows)
    return (
        f"The lowest risk that {n:,} labelled samples promise with probability {1 - delta:g}, in {power:.0%} of cases "
        f"if errors get rarer with confidence; {lowest:.3g} is the lowest of all."
    )
