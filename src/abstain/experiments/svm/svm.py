"""Two margins and two decision rules of a multiclass SVM: App. A and §3.2."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from abstain.draws import generator
from abstain.experiments.claims import Verdict
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.findings import Findings, Table
from abstain.experiments.svm.machine import TABLES, Machine, machine
from abstain.experiments.svm.machines import Machines
from abstain.experiments.svm.separated import Separated, separated
from abstain.experiments.svm.svm_figure import svm_figure

SPLITS = 20
FACTORS = (0.5, 2.0)  # by how much the w_j are rescaled
SMALL = ("wine", "iris")  # tables for the max–min problem, which has a constraint for every row and other class


def run(setting: Setting) -> Findings:
    """Fit and test machines on repeated splits of every table."""
    found, hard = [], {}
    seeds = [setting.seed * SPLITS + i for i in range(SPLITS)]
    for done, table in enumerate(TABLES):
        found.append(Machines(table, tuple(machine(table, seed=seed) for seed in seeds)))
        for classes in (2, 3) if table in SMALL else ():
            hard[f"{table}, {classes} classes"] = [separated(table, seed=seed, classes=classes) for seed in seeds]
        if setting.progress is not None:
            setting.progress(done + 1, len(TABLES))
    verdicts = [
        verdict for one in found for verdict in (rules(one), proxy(one), orders(one), rescaling(one, setting.seed))
    ]
    return Findings(
        words="Crammer and Singer's multiclass SVM on scikit-learn's tables, a one appended to the features as in App. "
        "A: the confidence margin and the geometric margin as scores, their two decision rules, and the machines of "
        "largest worst margins; errors know that splits overlap.",
        verdicts=tuple(verdicts),
        tables=(_scores_table(found), _rules_table(found), _hard_table(hard)),
        numbers={one.table: _numbers(one) for one in found} | {"hard margins": _hard_numbers(hard)},
        figures={"svm": lambda: svm_figure(found)},
    )


def rules(found: Machines, /) -> Verdict:
    """Whether the two rules predict differently."""
    differ = found.mean([100 * one.disagreement for one in found.all])
    gain = found.mean([100 * (one.outputs.errors.mean() - one.geometric_errors.mean()) for one in found.all])
    held = differ.mean > 0 or None
    evidence = (
        f"they disagree on {differ:.2f}% of the rows; the accuracy of the geometric rule less that of the "
        f"usual one is {gain:+.2f} points"
    )
    return Verdict.of("svm-decision-rules", held, evidence, found.data)


def proxy(found: Machines, /) -> Verdict:
    """Whether the margins are the same where all norms are, and rank alike, more or less, where they are not."""
    gap = max(_gap_of_equal_norms(one) for one in found.all)
    alike = found.mean([one.agreement for one in found.all])
    change = found.difference("eq. 11", "confidence_margin")
    norms = found.mean([_spread_of_norms(one) for one in found.all])
    evidence = (
        f"with all ‖w_j‖ made equal they differ by at most {gap:.0e}; as they are (largest over smallest norm "
        f"{norms:.2f}) their rank correlation is {alike:.3f}, and AURC × 100 of the geometric less the confidence "
        f"margin {change:+.3f}"
    )
    held = gap < 1e-9 and (alike.mean > 0 if alike.is_significant else None)
    return Verdict.of("svm-proxy", held, evidence, found.data)


def orders(found: Machines, /) -> Verdict:
    """Whether logits and distances order classes differently."""
    share = found.mean([100 * one.reordered for one in found.all])
    evidence = f"logits and distances order the classes differently in {share:.1f}% of the rows"
    return Verdict.of("orders-differ", share.mean > 0 or None, evidence, found.data)


def rescaling(found: Machines, seed: int, /) -> Verdict:
    """Whether factors on the w_j change the confidence margin's area, and leave the geometric rule's."""
    rng = generator("factors on weights", seed)
    changes: dict[str, list[float]] = {"confidence_margin": [], "geometric rule": []}
    for one in found.all:
        factors = np.exp(rng.uniform(np.log(FACTORS[0]), np.log(FACTORS[1]), size=len(one.weight)))
        after = one.rescaled(factors).areas
        for name, change in changes.items():
            change.append(100 * (after[name] - one.areas[name]))
    confidence, geometric = (abs(np.array(change)) for change in changes.values())
    least = f"by {geometric.max():.0e}" if geometric.max() else "does not move"
    evidence = (
        f"with every w_j multiplied by its own factor from {FACTORS[0]:g} to {FACTORS[1]:g}, AURC × 100 of the "
        f"confidence margin and its rule moves by {np.median(confidence):.2f} in the median split and by "
        f"{confidence.max():.2f} at most, that of the geometric margin and its rule {least}"
    )
    held = bool(np.median(confidence) > 0.01 and geometric.max() < 1e-9)
    return Verdict.of("conf-margin-scaling", held, evidence, found.data)


def _gap_of_equal_norms(one: Machine) -> float:
    equal = one.rescaled(1 / np.linalg.norm(one.weight, axis=1)).confidences
    return float(abs(equal["confidence_margin"] - equal["eq. 11"]).max())


def _spread_of_norms(one: Machine) -> float:
    norms = np.linalg.norm(one.weight, axis=1)
    return float(norms.max() / norms.min())


NAMES = {
    "confidence_margin": "RL_conf-M",
    "geometric_margin": "RL_geo-M",
    "eq. 11": "RL_geo-M (eq. 11)",
    "pairwise_margin": "RL_pair-M",
    "max_softmax": "SR_max",
    "geometric rule": "geometric rule, its margin",
}


def _scores_table(found: list[Machines]) -> Table:
    rows = tuple((symbol, *(f"{one.area(name):.3f}" for one in found)) for name, symbol in NAMES.items())
    return Table("AURC × 100", ("score", *(one.table for one in found)), rows, "Mean over splits ± standard error.")


def _rules_table(found: list[Machines]) -> Table:
    rows = tuple(
        (
            one.table,
            f"{one.mean([100 * float(m.outputs.errors.mean()) for m in one.all]):.2f}",
            f"{one.mean([100 * float(m.geometric_errors.mean()) for m in one.all]):.2f}",
            f"{one.mean([100 * m.disagreement for m in one.all]):.2f}",
            f"{one.difference('geometric rule', 'confidence_margin'):+.3f}",
        )
        for one in found
    )
    columns = (
        "table",
        "wrong by argmax z, %",
        "wrong by argmax d, %",
        "disagree, %",
        "AURC × 100 of argmax d less argmax z",
    )
    return Table("The two decision rules", columns, rows, "Each rule with its own margin.")


def _hard_table(hard: Mapping[str, Sequence[Separated | None]]) -> Table:
    rows = []
    for table, each in hard.items():
        there = [one for one in each if one is not None]
        rows.append(
            (
                table,
                f"{len(there)} of {len(each)}",
                _over(there, lambda one: one.worst),
                _over(there, lambda one: one.largest),
                f"{sum(one.is_optimal for one in there)} of {len(there)}",
                _over(there, lambda one: 100 * one.wrong),
                _over(there, lambda one: 100 * one.geometric_wrong),
            )
        )
    columns = (
        "table",
        "halves separated",
        "worst geometric margin of the largest confidence margins",
        "of the largest geometric margins",
        "proved the largest there is",
        "wrong by the first and argmax z, %",
        "wrong by the second and argmax d, %",
    )
    note = (
        "Means over the halves that hyperplanes separate. With two classes both machines are the binary one, and the "
        "worst gap of the two distances is twice its margin. The problem of the largest worst geometric margin is not "
        "convex, but with ‖w_j‖ ≤ 1 in place of norms of 1 it is, and bounds it: where the bound is reached, no "
        "weights do better."
    )
    return Table("The largest worst margins (App. A)", columns, tuple(rows), note)


def _over(found: Sequence[Separated], value: Callable[[Separated], float]) -> str:
    return f"{np.mean([value(one) for one in found]):.3f}".replace("-", "−") if found else "–"


def _hard_numbers(hard: Mapping[str, Sequence[Separated | None]]) -> dict[str, object]:
    return {table: [None if one is None else asdict(one) for one in each] for table, each in hard.items()}


def _numbers(found: Machines) -> dict[str, object]:
    return {
        "aurc": {name: [one.areas[name] for one in found.all] for name in NAMES},
        "disagreement": [one.disagreement for one in found.all],
        "errors": [float(one.outputs.errors.mean()) for one in found.all],
        "geometric_errors": [float(one.geometric_errors.mean()) for one in found.all],
    }


TITLE = "Margins and decision rules of a multiclass SVM"
SVM = Experiment("svm", TITLE, run)
