"""How the page was computed."""

import platform
from importlib.metadata import version

from abstain.evaluation import summarize
from abstain.evaluation.page.context import PageContext
from abstain.report.page import Section, render

PACKAGES = ("numpy", "scipy", "numba", "altair", "vl-convert-python")


def provenance(case: PageContext, /) -> Section:
    """Versions, numbers of rows, the seed, and all that was noted on the way."""
    evaluation, outputs, errors = case.evaluation, case.point.outputs, case.point.errors
    shown = {
        "Outputs": case.labels.run,
        "Rows": f"{case.n:,}, of {outputs.samples[1]:,} samples",
        **({"Mean loss": f"{errors.mean():.4g}"} if case.is_graded else {"Errors": f"{int(errors.sum()):,}"}),
        "Classes": f"{outputs.n_classes:,}" if outputs.n_classes else "not known: only confidences were given",
        "Scores": f"{len(evaluation.scores)}, compared on {evaluation.n:,} rows",
        "Mixes": ", ".join(evaluation.mixes),
        "Seed": str(evaluation.seed),
        "Intervals": f"{100 * evaluation.level:g}%; bounds {100 * (1 - case.delta):g}%",
        "abstain": version("abstain"),
        "Python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
    html = render("provenance.html", facts=shown, remarks=summarize(evaluation).remarks())
    return Section(name="provenance", title="How it was computed", html=html)
