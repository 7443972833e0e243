"""`abstain plan`: how many labelled samples a guarantee needs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, final

import typer

from abstain._errors import InvalidInputError
from abstain.cli.options import Delta, Figure, given, refuse
from abstain.cli.plan_tables import coverages_plan, pilot_plan, risks_plan, samples_plan, with_floor
from abstain.cli.printing import Result

FRACTIONS = (0.0, 0.25, 0.5, 0.75)
RATES = (0.0, 0.005, 0.01, 0.02, 0.05)


@final
@dataclass(frozen=True, kw_only=True)
class AssumptionOptions:
    """What is assumed of the classifier and its score."""

    coverage: Annotated[float | None, typer.Option(help="The share of samples to be accepted.", show_default="0.6")] = (
        None
    )
    error_rate: Annotated[
        float | None, typer.Option(help="The true error rate among accepted samples. [a range of rates]")
    ] = None
    power: Annotated[float | None, typer.Option(help="Probability that calibration succeeds.", show_default="0.9")] = (
        None
    )
    label_share: Annotated[
        float | None,
        typer.Option(help="Label only this share of the samples, the most confident.", show_default="1"),
    ] = None


@final
@dataclass(frozen=True, kw_only=True)
class PilotOptions:
    """A small labelled sample in place of assumptions."""

    pilot: Annotated[
        Path | None, typer.Option(help="Predict the calibration from this small labelled table or folder.")
    ] = None
    unlabelled: Annotated[
        Path | None,
        typer.Option(help="With --label-share: unlabelled outputs; prints the confidence above which to label."),
    ] = None
    score: Annotated[
        str | None,
        typer.Option(help="The score of these rows. [confidence_margin, or the table's only confidence]"),
    ] = None


def plan(
    assumed: AssumptionOptions,
    sample: PilotOptions,
    risk: Annotated[float | None, typer.Option(help="The risk to guarantee.")] = None,
    delta: Delta = 0.05,
    n: Annotated[
        int | None,
        typer.Option(
            "--n", min=1, help="Labelled samples you have: prints the achievable risk, or with --risk the coverage."
        ),
    ] = None,
    figure: Figure = None,
) -> Result:
    """Show how many labelled samples a guarantee needs. Or what those you have can achieve.

    The numbers are ranges: the lower end is for a good score, whose error rate grows with the square of the rank; the
    upper end is for one that does not rank the accepted samples at all. A --pilot of a few hundred labelled samples
    narrows the range.

    Example: abstain plan --risk 0.02 --delta 0.05 --coverage 0.6 --error-rate 0.01
    """
    from abstain.report.figures.save import check_figure

    check_figure(figure)
    _check(assumed, sample, risk, n, figure)
    if sample.pilot is not None:
        return pilot_plan(sample.pilot, sample.score, risk=risk, delta=delta, n=n)
    known = {"delta": delta, "power": 0.9 if assumed.power is None else assumed.power}
    coverage = 0.6 if assumed.coverage is None else assumed.coverage
    label_share = 1.0 if assumed.label_share is None else assumed.label_share
    coverages = sorted(each for each in {coverage, 0.4, 0.6, 0.9} if each <= label_share or each == coverage)
    rates = [*RATES] if risk is None else [risk * fraction for fraction in FRACTIONS]
    rates = rates if assumed.error_rate is None else [assumed.error_rate]
    if risk is None:
        assert n is not None
        return risks_plan(n, coverages, rates, known)
    if n is not None:
        return coverages_plan(n, risk, rates, known)
    if figure is not None:
        from abstain.report.figures.save import save_figure
        from abstain.thresholds.plan_figure import plan_figure

        save_figure(plan_figure(risk=risk, coverage=coverage, **known), figure)
    result = samples_plan(risk, coverages, rates, known, coverage=coverage, label_share=label_share)
    if sample.unlabelled is None:
        return result
    return with_floor(result, sample.unlabelled, sample.score, share=label_share)


def _check(
    assumed: AssumptionOptions, sample: PilotOptions, risk: float | None, n: int | None, figure: Path | None
) -> None:
    """Options that exclude or need each other."""
    if n is not None and figure is not None:
        raise InvalidInputError("`--figure` must come without `--n`, got both. Give --risk alone.")
    if n is not None and risk is not None and assumed.coverage is not None:
        raise InvalidInputError(
            f"`--coverage` must be left out with `--risk` and `--n`, which determine it, got {assumed.coverage:g}. "
            "Leave out --n for the number of samples it needs, or --risk for the achievable risk."
        )
    if sample.pilot is not None:
        other = {"--figure": figure, "--unlabelled": sample.unlabelled}
        refuse(given(assumed) | other, "be left out with `--pilot`, which replaces assumptions")
        return
    if sample.unlabelled is not None and (assumed.label_share is None or risk is None):
        raise InvalidInputError("`--unlabelled` must come with `--risk` and `--label-share`, got it without them.")
    if sample.score is not None and sample.unlabelled is None:
        raise InvalidInputError(f"`--score` must come with `--pilot` or `--unlabelled`, got {sample.score} alone.")
    if risk is None and n is None:
        raise InvalidInputError("`--risk` or `--n` must be given, or both, got neither.")
    shares = {"--label-share": assumed.label_share}
    if n is not None:
        refuse(shares, "be left out with `--n`, the number of labelled samples")
    if figure is not None:
        refuse(shares, "be left out with `--figure`, which assumes that all samples are labelled")
