"""Experiments whose outputs are compared by all scores, over several draws of the rows that scores are fitted on."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

from abstain._names import check_name
from abstain.evaluation.figures.risk_coverage import risk_coverage_figure
from abstain.outputs import Outputs
from abstain_reproduction.cache import Make, cached_outputs
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.comparison.repetition import Repetition, repeat
from abstain_reproduction.comparison.repetition_table import repeated_table, repeated_words
from abstain_reproduction.comparison.separation import separates_less
from abstain_reproduction.comparison.shift_claims import shift_claims
from abstain_reproduction.experiment import Setting
from abstain_reproduction.findings import Findings
from abstain_reproduction.paper.score_claims import score_claims


def score_experiment(title: str, make: Make, /) -> Callable[[Setting], Findings]:
    """An experiment that makes outputs in ``folder / "outputs"`` and compares all scores on them."""

    def run(setting: Setting) -> Findings:
        outputs = cached_outputs(make, setting.folder / "outputs", seed=setting.seed, progress=setting.progress)
        return score_findings(title, outputs, seed=setting.seed)

    return run


def models_experiment(title: str, models: Mapping[str, Make], /) -> Callable[[Setting], Findings]:
    """The same experiment for several models by name, or for the one that ``model`` names."""

    def run(setting: Setting) -> Findings:
        if setting.model is not None:
            check_name("model", setting.model, models, rule="be a model of the experiment")
        findings_by_model = {}
        for name in models if setting.model is None else [setting.model]:
            folder = setting.folder / f"outputs-{name}"
            outputs = cached_outputs(models[name], folder, seed=setting.seed, progress=setting.progress)
            findings_by_model[name] = score_findings(f"{title}: {name}", outputs, seed=setting.seed)
        return joint_findings(findings_by_model)

    return run


def score_findings(title: str, outputs: Outputs, /, *, seed: int) -> Findings:
    """The comparison of scores: figure and words of the first draw, the table over all draws."""
    repetition = repeat(outputs, seed=seed)
    first = repetition.first
    return Findings(
        words=f"{title}. {repeated_words(repetition)}",
        verdicts=_verdicts(repetition, outputs, data=f"{title}; {first.n:,} rows"),
        tables=(repeated_table(repetition, title),),
        numbers=first.to_dict() | {"draws": [asdict(row) for row in repetition.rows]},
        figures={"risk-coverage": lambda: risk_coverage_figure(first)},
        evaluation=replace(first, notes=("This table is of the first draw.", *first.notes)),
    )


def _verdicts(repetition: Repetition, outputs: Outputs, *, data: str) -> tuple[ClaimVerdict, ...]:
    """Verdicts on scores over all draws, and on where errors and unknown samples lie, which needs no fit."""
    separation = separates_less(repetition.evaluations, data=data)
    return (
        *score_claims(repetition.evaluations, data=data),
        *shift_claims(outputs, data=data),
        *([] if separation is None else [separation]),
    )


def joint_findings(findings_by_model: Mapping[str, Findings], /) -> Findings:
    """The findings of several models as one; those of a single model unchanged."""
    if len(findings_by_model) == 1:
        return next(iter(findings_by_model.values()))
    all_findings = findings_by_model.values()
    return Findings(
        words="\n\n".join(findings.words for findings in all_findings),
        verdicts=tuple(verdict for findings in all_findings for verdict in findings.verdicts),
        tables=tuple(table for findings in all_findings for table in findings.tables),
        numbers={name: findings.numbers for name, findings in findings_by_model.items()},
        figures={
            f"{figure}-{name}": draw
            for name, findings in findings_by_model.items()
            for figure, draw in findings.figures.items()
        },
    )
