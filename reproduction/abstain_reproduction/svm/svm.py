"""Two margins and two decision rules of a multiclass SVM: App. A and §3.2."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.draws import generator
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.svm.hard_margins import HardMargins, hard_margins
from abstain_reproduction.svm.machine import TABLES, Machine, machine
from abstain_reproduction.svm.machines import Machines
from abstain_reproduction.svm.svm_figure import svm_figure

SPLITS = 20
FACTORS = (0.5, 2.0)  # by how much the w_j are rescaled
SMALL = ("wine", "iris")  # tables for the max–min problem, which has a constraint for every row and other class


def run(setting: Setting) -> Findings:
    """Fit and test machines on repeated splits of every table."""
    results, hard = [], {}
    seeds = [setting.seed * SPLITS + i for i in range(SPLITS)]
    for done, table in enumerate(TABLES):
        results.append(Machines(table, tuple(machine(table, seed=seed) for seed in seeds)))
        for classes in (2, 3) if table in SMALL else ():
            hard[f"{table}, {classes} classes"] = [hard_margins(table, seed=seed, classes=classes) for seed in seeds]
        if setting.progress is not None:
            setting.progress(done + 1, len(TABLES))
    verdicts = [
        verdict
        for machines in results
        for verdict in (rules(machines), proxy(machines), orders(machines), rescaling(machines, setting.seed))
    ]
    return Findings(
        words="Crammer and Singer's multiclass SVM on scikit-learn's tables, a one appended to the features as in App. "
        "A: the confidence margin and the geometric margin as scores, their two decision rules, and the machines of "
        "largest worst margins; errors know that splits overlap.",
        verdicts=tuple(verdicts),
        tables=(_scores_table(results), _rules_table(results), _hard_table(hard)),
        numbers={machines.table: _numbers(machines) for machines in results} | {"hard margins": _hard_numbers(hard)},
        figures={"svm": lambda: svm_figure(results)},
    )


def rules(machines: Machines, /) -> ClaimVerdict:
    """Whether the two rules predict differently."""
    differ = machines.mean([100 * machine.disagreement for machine in machines.all])
    gain = machines.mean(
        [100 * (machine.outputs.errors.mean() - machine.geometric_errors.mean()) for machine in machines.all]
    )
    held = differ.mean > 0 or None
    evidence = (
        f"they disagree on {differ:.2f}% of the rows; the accuracy of the geometric rule less that of the "
        f"usual one is {gain:+.2f} points"
    )
    return ClaimVerdict.of("svm-decision-rules", held, evidence, machines.data)


def proxy(machines: Machines, /) -> ClaimVerdict:
    """Whether the margins are equal for equal norms, and rank similarly for unequal ones."""
    gap = max(_gap_of_equal_norms(machine) for machine in machines.all)
    alike = machines.mean([machine.agreement for machine in machines.all])
    change = machines.difference("eq. 11", "confidence_margin")
    norms = machines.mean([_spread_of_norms(machine) for machine in machines.all])
    evidence = (
        f"with all ‖w_j‖ made equal they differ by at most {gap:.0e}; as they are (largest over smallest norm "
        f"{norms:.2f}) their rank correlation is {alike:.3f}, and AURC × 100 of the geometric less the confidence "
        f"margin {change:+.3f}"
    )
    held = gap < 1e-9 and (alike.mean > 0 if alike.is_significant else None)
    return ClaimVerdict.of("svm-proxy", held, evidence, machines.data)


def orders(machines: Machines, /) -> ClaimVerdict:
    """Whether logits and distances order classes differently."""
    share = machines.mean([100 * machine.reordered for machine in machines.all])
    evidence = f"logits and distances order the classes differently in {share:.1f}% of the rows"
    return ClaimVerdict.of("orders-differ", share.mean > 0 or None, evidence, machines.data)


def rescaling(machines: Machines, seed: int, /) -> ClaimVerdict:
    """Whether factors on the w_j change the confidence margin's area, and leave the geometric rule's."""
    rng = generator("factors on weights", seed)
    changes: dict[str, list[float]] = {"confidence_margin": [], "geometric rule": []}
    for fitted in machines.all:
        factors = np.exp(rng.uniform(np.log(FACTORS[0]), np.log(FACTORS[1]), size=len(fitted.weight)))
        after = fitted.rescaled(factors).areas
        for name, change in changes.items():
            change.append(100 * (after[name] - fitted.areas[name]))
    confidence, geometric = (abs(np.array(change)) for change in changes.values())
    least = f"by {geometric.max():.0e}" if geometric.max() else "does not move"
    evidence = (
        f"with every w_j multiplied by its own factor from {FACTORS[0]:g} to {FACTORS[1]:g}, AURC × 100 of the "
        f"confidence margin and its rule moves by {np.median(confidence):.2f} in the median split and by "
        f"{confidence.max():.2f} at most, that of the geometric margin and its rule {least}"
    )
    held = bool(np.median(confidence) > 0.01 and geometric.max() < 1e-9)
    return ClaimVerdict.of("conf-margin-scaling", held, evidence, machines.data)


def _gap_of_equal_norms(machine: Machine) -> float:
    equal = machine.rescaled(1 / np.linalg.norm(machine.weight, axis=1)).confidences
    return float(abs(equal["confidence_margin"] - equal["eq. 11"]).max())


def _spread_of_norms(machine: Machine) -> float:
    norms = np.linalg.norm(machine.weight, axis=1)
    return float(norms.max() / norms.min())


NAMES = {
    "confidence_margin": "RL_conf-M",
    "geometric_margin": "RL_geo-M",
    "eq. 11": "RL_geo-M (eq. 11)",
    "pairwise_margin": "RL_pair-M",
    "max_softmax": "SR_max",
    "geometric rule": "geometric rule, its margin",
}


def _scores_table(results: list[Machines]) -> ResultTable:
    rows = tuple((symbol, *(f"{machines.area(name):.3f}" for machines in results)) for name, symbol in NAMES.items())
    return ResultTable(
        "AURC × 100", ("score", *(machines.table for machines in results)), rows, "Mean over splits ± standard error."
    )


def _rules_table(results: list[Machines]) -> ResultTable:
    rows = tuple(
        (
            machines.table,
            f"{machines.mean([100 * float(m.outputs.errors.mean()) for m in machines.all]):.2f}",
            f"{machines.mean([100 * float(m.geometric_errors.mean()) for m in machines.all]):.2f}",
            f"{machines.mean([100 * float(m.errors_without_bias.mean()) for m in machines.all]):.2f}",
            f"{machines.mean([100 * m.disagreement for m in machines.all]):.2f}",
            f"{machines.difference('geometric rule', 'confidence_margin'):+.3f}",
        )
        for machines in results
    )
    columns = (
        "table",
        "wrong by argmax z, %",
        "wrong by argmax d, %",
        "the same with norms without the bias, %",
        "disagree, %",
        "AURC × 100 of argmax d less argmax z",
    )
    return ResultTable("The two decision rules", columns, rows, "Each rule with its own margin.")


def _hard_table(hard: Mapping[str, Sequence[HardMargins | None]]) -> ResultTable:
    rows = []
    for table, each in hard.items():
        there = [split for split in each if split is not None]
        rows.append(
            (
                table,
                f"{len(there)} of {len(each)}",
                _over(there, lambda split: split.worst),
                _over(there, lambda split: split.largest),
                f"{sum(split.is_optimal for split in there)} of {len(there)}",
                _over(there, lambda split: 100 * split.wrong),
                _over(there, lambda split: 100 * split.geometric_wrong),
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
    return ResultTable("The largest worst margins (App. A)", columns, tuple(rows), note)


def _over(splits: Sequence[HardMargins], value: Callable[[HardMargins], float]) -> str:
    return f"{np.mean([value(split) for split in splits]):.3f}".replace("-", "−") if splits else "–"


def _hard_numbers(hard: Mapping[str, Sequence[HardMargins | None]]) -> dict[str, object]:
    return {table: [None if split is None else asdict(split) for split in each] for table, each in hard.items()}


def _numbers(machines: Machines) -> dict[str, object]:
    return {
        "aurc": {name: [machine.areas[name] for machine in machines.all] for name in NAMES},
        "disagreement": [machine.disagreement for machine in machines.all],
        "errors": [float(machine.outputs.errors.mean()) for machine in machines.all],
        "geometric_errors": [float(machine.geometric_errors.mean()) for machine in machines.all],
        "errors_without_bias": [float(machine.errors_without_bias.mean()) for machine in machines.all],
    }


TITLE = "Margins and decision rules of a multiclass SVM"
SVM = Experiment("svm", TITLE, run)
