"""The toy example: §3.3, Fig. 3, and the heat maps of App. D."""

from abstain.metrics import aurc, aurc_se
from abstain.scores import SCORES
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.gaussians.cases import COMPARED, COVERAGE, SOFTMAX, ToyCase, cases
from abstain_reproduction.gaussians.heat_maps import heat_maps_figure
from abstain_reproduction.gaussians.toy_figure import rejections_figure, toy_figure
from abstain_reproduction.gaussians.toy_verdicts import (
    OURS,
    errors_near_boundary,
    largest_logit,
    no_longer_superior,
    rejected_alike,
    rejected_where,
    superior,
    zero_radii,
)


def run(setting: Setting) -> Findings:
    """Rank the population of each case by each score, and draw what is rejected."""
    all_cases = cases(setting.seed)
    first, second, third = all_cases
    return Findings(
        words="Four Gaussians, as they are, perturbed by up to 0.5 and by up to 2: what each score rejects and at what "
        "risk, for the whole population, by quadrature.",
        verdicts=(
            superior(first, "toy-case-1", tuple(name for name in COMPARED if name != OURS)),
            superior(second, "toy-case-2", SOFTMAX),
            no_longer_superior(third),
            errors_near_boundary(second, first),
            *(zero_radii(case) for case in all_cases),
            *(rejected_where(case) for case in all_cases),
            *(rejected_alike(case) for case in all_cases),
            *(largest_logit(case) for case in all_cases),
        ),
        tables=(_areas_table(all_cases), _radii_table(all_cases)),
        numbers={"cases": [_numbers(case) for case in all_cases]},
        figures={
            "toy": lambda: toy_figure(all_cases),
            "rejections": lambda: rejections_figure(all_cases),
            "heat-maps": lambda: heat_maps_figure(first),
        },
    )


def _areas_table(all_cases: list[ToyCase]) -> ResultTable:
    rows = [
        (SCORES[name].symbol, *(f"{100 * case.curves[name].aurc:.3f} ({_seen(case, name)})" for case in all_cases))
        for name in COMPARED
    ]
    rows.append(("s_post", *(f"{100 * case.best.aurc:.3f}" for case in all_cases)))
    rows.append(("all wrong predictions", *(f"{100 * case.best.risk[0]:.3f}" for case in all_cases)))
    note = f"In brackets the same on {len(all_cases[0].sample):,} samples, with its standard error."
    return ResultTable("AURC × 100 of the population", ("score", *map(_head, all_cases)), tuple(rows), note)


def _seen(case: ToyCase, name: str) -> str:
    """The area on a sample by the library's own score."""
    confidence = SCORES[name].fit(case.sample)(case.sample)
    errors = case.sample.errors
    return f"{100 * aurc(confidence, errors):.3f} ± {100 * aurc_se(confidence, errors):.3f}"


def _radii_table(all_cases: list[ToyCase]) -> ResultTable:
    rows = tuple(
        (SCORES[name].symbol, *(f"{case.populations[name].smallest_radius(COVERAGE):.4f}" for case in all_cases))
        for name in COMPARED
    )
    title = "Smallest robustness radius among the selected at coverage 0.8, of the population"
    return ResultTable(title, ("score", *map(_head, all_cases)), rows)


def _head(case: ToyCase) -> str:
    return f"case {case.number} ({case.name})"


def _numbers(case: ToyCase) -> dict[str, object]:
    return {
        "case": case.number,
        "perturbation": case.spread,
        "risk": float(case.best.risk[0]),
        "aurc": {name: curve.aurc for name, curve in case.curves.items()},
        "aurc_of_posterior": case.best.aurc,
        "smallest_radius": {
            name: population.smallest_radius(COVERAGE) for name, population in case.populations.items()
        },
    }


TITLE = "What margins and softmax scores reject, on four Gaussians"
TOY = Experiment("toy", TITLE, run)
