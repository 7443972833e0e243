"""Estimates of risk without labels on every available model: errors, spread, and the choice of the default."""

from collections.abc import Sequence
from dataclasses import asdict

from abstain.monitor import RISK_METHODS
from abstain.outputs import Outputs
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings
from abstain_reproduction.label_free.cases import EstimateCase, estimate_cases
from abstain_reproduction.label_free.label_free_tables import (
    NO_CHANGE,
    best_method,
    is_inside,
    mean_error,
    methods_table,
    models_table,
)
from abstain_reproduction.learned.classifiers import CLASSIFIERS
from abstain_reproduction.other_outputs import other_outputs
from abstain_reproduction.training.image_tasks import PACKAGES

DESIGN = ("digits", "fashion", "cifar10-nets-resnet8", "sentiment", "mnist-few", "forest")
"""The models on which the default method is chosen, by lowest mean error; fixed before any other was looked at."""
SEED = 1  # of the classifiers that are trained here


def run(setting: Setting) -> Findings:
    """Estimate on outputs of other experiments in the same folder, and on classifiers trained here."""
    models = other_outputs(setting, with_features=False)
    networks = setting.folder / "networks"
    networks.mkdir(parents=True, exist_ok=True)
    cases: list[EstimateCase] = []
    names = [*models, *(name for name in CLASSIFIERS if name not in models)]
    for number, name in enumerate(names):
        cases += estimate_cases(name, _outputs(name, models, setting), seed=setting.seed)
        if setting.progress is not None:
            setting.progress(number + 1, len(names))
    return findings(cases)


def _outputs(name: str, models: dict[str, Outputs], setting: Setting) -> Outputs:
    if name in models:
        return models[name]
    trained = CLASSIFIERS[name]
    return trained.outputs(setting.folder / "networks", seed=SEED, limit=setting.limit, progress=None)


def findings(cases: Sequence[EstimateCase], /) -> Findings:
    """Errors of each method on the models of the choice and on the others."""
    design = [case for case in cases if case.model in DESIGN]
    others = [case for case in cases if case.model not in DESIGN]
    parts = {"Models on which the default is chosen": design, "Models set aside": others}
    tables, words, default = [], [], next(iter(RISK_METHODS))
    for title, some in parts.items():
        if some:
            tables.append(methods_table(f"{title}: error of each method", some, list(RISK_METHODS)))
            tables.append(models_table(f"{title}: each model", some, default))
            words.append(_words(title, some, default))
    if design:
        words.append(f"Lowest error on the models of the choice: {best_method(design, list(RISK_METHODS))}.")
    return Findings(
        words=" ".join(words) or "There are no outputs to estimate on.",
        tables=tuple(tables),
        numbers={"cases": [asdict(case) for case in cases], "design": list(DESIGN)},
    )


def _words(title: str, cases: Sequence[EstimateCase], method: str) -> str:
    own, none = (100 * (mean_error(cases, name) or 0.0) for name in (method, NO_CHANGE))
    return (
        f"{title}, {len(cases)} cases of {len({case.model for case in cases})} models: {method} is off by {own:.1f} "
        f"points of selective risk on average, {none:.1f} if no change is assumed; the truth is between the lowest and "
        f"the highest estimate in {sum(map(is_inside, cases))} cases."
    )


TITLE = "Selective risk without labels: six estimators on real models and shifts"
LABEL_FREE = Experiment(
    "label-free",
    TITLE,
    run,
    takes=frozenset({"limit"}),
    reads_others=True,
    has_verdicts=False,
    needs=PACKAGES,
    about=(
        "Outputs of other experiments in the same folder, and the classifiers of `learned`. In-distribution rows "
        "calibrate a selector for a coverage of 0.6 and 0.9 and are the reference; the new rows are of other samples: "
        "unchanged, of each covariate shift with 100 rows or more, of all together, and with a tenth of unknown "
        f"classes. The default is chosen on {', '.join(DESIGN)}, which were named before the others were looked at."
    ),
)
