"""KNN over k on every model at hand: App. H, Fig. 10."""

from math import comb

import numpy as np

from abstain.datasets import digits
from abstain.experiments.claims import Verdict
from abstain.experiments.collected import collected
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.findings import Findings, Table
from abstain.experiments.knn.ablation import LARGE, PAPER, ROWS, Ablation, ablate
from abstain.experiments.knn.knn_figure import ablation_figure

SENSITIVE = 0.1  # of the lowest AURC


def run(setting: Setting) -> Findings:
    """Evaluate KNN for every k on the shipped network on digits, and on outputs collected before."""
    others = {name: outputs for name, outputs in collected(setting, rows=None).items() if name != "digits"}
    models = {"digits": digits()} | others
    found, larger = [], []
    for done, (name, outputs) in enumerate(models.items()):
        found.append(ablate(name, outputs, seed=setting.seed))
        larger.append(ablate(name, outputs, bank="large", seed=setting.seed))
        if setting.progress is not None:
            setting.progress(done + 1, len(models))
    return Findings(
        words=f"KNN with k neighbours on {len(found)} real models, of each some {ROWS:,} samples at most. The bank is "
        f"five rows per class, the paper's rule, or {LARGE:,} rows, its size on ImageNet, at most half of the "
        "in-distribution rows, and drawn five times.",
        verdicts=tuple(verdict for one in (*found, *larger) for verdict in (sensitive(one), best_is_two(one))),
        tables=(
            _areas_table(found, "AURC × 100 of KNN over all samples, five rows per class in the bank"),
            _areas_table(
                larger, f"AURC × 100 of KNN over all samples, {LARGE:,} rows in the bank, or half of those there are"
            ),
        ),
        numbers={"five per class": _numbers(found), "large": _numbers(larger)},
        figures={"knn-ablation": lambda: ablation_figure(found, larger)},
    )


def _numbers(found: list[Ablation]) -> list[dict[str, object]]:
    return [{"model": one.name, "aurc": {str(k): areas for k, areas in one.areas.items()}} for one in found]


def sensitive(found: Ablation, /) -> Verdict:
    """Held where the best and the worst k differ by more than a tenth, among all pairs they were chosen from."""
    difference = found.difference(found.worst, found.best)
    low, high = (float(np.mean(found.areas[k])) for k in (found.best, found.worst))
    least, most = difference.interval(among=comb(len(found.ks), 2))
    held = True if least > SENSITIVE * low else False if most < SENSITIVE * low else None
    evidence = (
        f"AURC × 100 from {100 * low:.2f} (k = {found.best}) to {100 * high:.2f} (k = {found.worst}), difference "
        f"{difference.times(100):.2f}; the confidence margin has {100 * found.margin:.2f}"
    )
    return Verdict.of("knn-sensitive", held, evidence, _data(found))


def best_is_two(found: Ablation, /) -> Verdict:
    """Held where every other k is significantly worse than 2, not held where one is significantly better."""
    others = {k: found.difference(k, PAPER) for k in found.ks if k != PAPER}
    closest = min(others, key=lambda k: others[k].mean)
    change = others[closest]
    evidence = f"AURC × 100 of k = {closest} less that of k = 2: {change.times(100):+.2f}"
    if found.best == PAPER:
        evidence = f"k = 2 has the lowest AURC, k = {closest} the next. {evidence}"
    intervals = [one.interval(among=len(others)) for one in others.values()]
    all_worse = all(low > 0 for low, _ in intervals)
    better = any(high < 0 for _, high in intervals)
    return Verdict.of("knn-k2", False if better else True if all_worse else None, evidence, _data(found))


def _data(found: Ablation) -> str:
    outputs = found.draws[0].outputs
    size = f"{max(len(draw.bank) for draw in found.draws):,} rows"
    bank = {"paper": f"five rows per class ({size})", "large": size}[found.bank]
    return f"{found.name}, {len(outputs):,} rows, {outputs.errors.mean():.1%} wrong; {len(found.draws)} banks of {bank}"


def _areas_table(found: list[Ablation], title: str) -> Table:
    ks = sorted({k for one in found for k in one.ks})
    rows = tuple((one.name, *(_cell(one, k) for k in ks), f"{100 * one.margin:.2f}", str(one.best)) for one in found)
    columns = ("model", *(f"k = {k}" for k in ks), "RL_conf-M", "best k")
    return Table(title, columns, rows, "Mean ± standard deviation over the banks.")


def _cell(found: Ablation, k: int) -> str:
    if k not in found.areas:
        return "–"
    areas = 100 * np.array(found.areas[k])
    return f"{areas.mean():.2f} ± {areas.std(ddof=1):.2f}"


TITLE = "KNN over its number of neighbours"
KNN_ABLATION = Experiment("knn-ablation", TITLE, run, reads_others=True)
