"""Experiments whose outputs are compared by all scores, over several draws of the rows that scores are fitted on."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

from abstain.experiments.cache import Make, cached_outputs
from abstain.experiments.claims import Verdict
from abstain.experiments.comparison.repeated import Repetition, repeat
from abstain.experiments.comparison.repeated_table import repeated_table, repeated_words
from abstain.experiments.comparison.separation import separates_less
from abstain.experiments.comparison.shift_claims import shift_claims
from abstain.experiments.experiment import Setting
from abstain.experiments.findings import Findings
from abstain.experiments.paper.score_claims import score_claims
from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.report.figures.risk_coverage import risk_coverage_figure


def comparing(title: str, make: Make, /) -> Callable[[Setting], Findings]:
    """An experiment that makes outputs in ``folder / "outputs"`` and compares all scores on them."""

    def run(setting: Setting) -> Findings:
        outputs = cached_outputs(make, setting.folder / "outputs", seed=setting.seed, progress=setting.progress)
        return compared(title, outputs, seed=setting.seed)

    return run


def comparing_models(title: str, models: Mapping[str, Make], /) -> Callable[[Setting], Findings]:
    """The same of several models by name, one after the other, or of the one that ``model`` names."""

    def run(setting: Setting) -> Findings:
        if setting.model is not None:
            check_name("model", setting.model, models, rule="be a model of the experiment")
        found = {}
        for name in models if setting.model is None else [setting.model]:
            place = setting.folder / f"outputs-{name}"
            outputs = cached_outputs(models[name], place, seed=setting.seed, progress=setting.progress)
            found[name] = compared(f"{title}: {name}", outputs, seed=setting.seed)
        return joined(found)

    return run


def compared(title: str, outputs: Outputs, /, *, seed: int) -> Findings:
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


def _verdicts(repetition: Repetition, outputs: Outputs, *, data: str) -> tuple[Verdict, ...]:
    """On scores over all draws, and on where errors and unknown samples lie, for which nothing is fitted."""
    separation = separates_less(repetition.evaluations, data=data)
    return (
        *score_claims(repetition.evaluations, data=data),
        *shift_claims(outputs, data=data),
        *([] if separation is None else [separation]),
    )


def joined(found: Mapping[str, Findings], /) -> Findings:
    """What was found of several models, as one; of a single one as it is."""
    if len(found) == 1:
        return next(iter(found.values()))
    each = found.values()
    return Findings(
        words="\n\n".join(one.words for one in each),
        verdicts=tuple(verdict for one in each for verdict in one.verdicts),
        tables=tuple(table for one in each for table in one.tables),
        numbers={name: one.numbers for name, one in found.items()},
        figures={f"{figure}-{name}": draw for name, one in found.items() for figure, draw in one.figures.items()},
    )
