"""How the page was computed."""

import platform
from importlib.metadata import version

from abstain.evaluation import summarize
from abstain.report.evaluation_page.case import Case
from abstain.report.page import Section, text

PACKAGES = ("numpy", "scipy", "numba", "altair", "vl-convert-python")


def provenance(case: Case, /) -> Section:
    """Versions, numbers of rows, the seed, and all that was noted on the way."""
    evaluation, outputs = case.evaluation, case.point.outputs
    shown = {
        "Outputs": case.run,
        "Rows": f"{case.n:,}, of {outputs.samples[1]:,} samples",
        "Errors": f"{int(case.point.errors.sum()):,}",
        "Classes": f"{outputs.n_classes:,}" if outputs.n_classes else "not known: only confidences were given",
        "Scores": f"{len(evaluation.scores)}, compared on {evaluation.n:,} rows",
        "Mixes": ", ".join(evaluation.mixes),
        "Seed": str(evaluation.seed),
        "Intervals": f"{100 * evaluation.level:g}%; bounds {100 * (1 - case.delta):g}%",
        "abstain": version("abstain"),
        "Python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
    facts = "".join(f"<dt>{text(title)}</dt><dd>{text(value)}</dd>" for title, value in shown.items())
    remarks = "".join(f"<li>{text(remark)}</li>" for remark in summarize(evaluation).remarks())
    notes = f"<h3>Notes</h3><ul>{remarks}</ul>" if remarks else ""
    close = (
        "<footer>This file needs no network and sends nothing anywhere. The same outputs and versions give the same "
        "file.</footer>"
    )
    return Section(name="provenance", title="How it was computed", html=f'<dl class="facts">{facts}</dl>{notes}{close}')
