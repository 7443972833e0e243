"""KNN over k on all available models: App. H, Fig. 10."""

from math import comb

import numpy as np

from abstain.datasets import digits
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.knn.ablation import LARGE, PAPER, ROWS, Ablation, ablate
from abstain_reproduction.knn.knn_figure import ablation_figure
from abstain_reproduction.other_outputs import other_outputs

SENSITIVE = 0.1  # of the lowest AURC


def run(setting: Setting) -> Findings:
    """Evaluate KNN for every k on the shipped network on digits, and on outputs collected before."""
    others = {name: outputs for name, outputs in other_outputs(setting, rows=None).items() if name != "digits"}
    models = {"digits": digits()} | others
    smaller, larger = [], []
    for done, (name, outputs) in enumerate(models.items()):
        smaller.append(ablate(name, outputs, seed=setting.seed))
        larger.append(ablate(name, outputs, bank="large", seed=setting.seed))
        if setting.progress is not None:
            setting.progress(done + 1, len(models))
    return Findings(
        words=f"KNN with k neighbours on {len(smaller)} real models, of each some {ROWS:,} samples at most. The bank "
        f"has five times as many rows as classes, the paper's rule, or {LARGE:,} rows, its size on ImageNet, at most "
        "half of the in-distribution rows, and drawn five times.",
        verdicts=tuple(
            verdict for ablation in (*smaller, *larger) for verdict in (sensitive(ablation), best_is_two(ablation))
        ),
        tables=(
            _areas_table(smaller, "AURC × 100 of KNN over all samples, five times as many rows as classes in the bank"),
            _areas_table(
                larger, f"AURC × 100 of KNN over all samples, {LARGE:,} rows in the bank, or half of those there are"
            ),
        ),
        numbers={"five times the classes": _numbers(smaller), "large": _numbers(larger)},
        figures={"knn-ablation": lambda: ablation_figure(smaller, larger)},
    )


def _numbers(ablations: list[Ablation]) -> list[dict[str, object]]:
    return [
        {"model": ablation.name, "aurc": {str(k): areas for k, areas in ablation.areas.items()}}
        for ablation in ablations
    ]


def sensitive(ablation: Ablation, /) -> ClaimVerdict:
    """Held where the best and the worst k differ by more than a tenth, among all pairs they were chosen from."""
    difference = ablation.difference(ablation.worst, ablation.best)
    low, high = (float(np.mean(ablation.areas[k])) for k in (ablation.best, ablation.worst))
    least, most = difference.interval(among=comb(len(ablation.ks), 2))
    held = True if least > SENSITIVE * low else False if most < SENSITIVE * low else None
    evidence = (
        f"AURC × 100 from {100 * low:.2f} (k = {ablation.best}) to {100 * high:.2f} (k = {ablation.worst}), difference "
        f"{difference.times(100):.2f}; the confidence margin has {100 * ablation.margin:.2f}"
    )
    return ClaimVerdict.of("knn-sensitive", held, evidence, _data(ablation))


def best_is_two(ablation: Ablation, /) -> ClaimVerdict:
    """Held where every other k is significantly worse than 2, not held where one is significantly better."""
    others = {k: ablation.difference(k, PAPER) for k in ablation.ks if k != PAPER}
    closest = min(others, key=lambda k: others[k].mean)
    change = others[closest]
    evidence = f"AURC × 100 of k = {closest} less that of k = 2: {change.times(100):+.2f}"
    if ablation.best == PAPER:
        evidence = f"k = 2 has the lowest AURC, k = {closest} the next. {evidence}"
    intervals = [difference.interval(among=len(others)) for difference in others.values()]
    all_worse = all(low > 0 for low, _ in intervals)
    better = any(high < 0 for _, high in intervals)
    return ClaimVerdict.of("knn-k2", False if better else True if all_worse else None, evidence, _data(ablation))


def _data(ablation: Ablation) -> str:
    outputs = ablation.draws[0].outputs
    size = f"{max(len(draw.bank) for draw in ablation.draws):,} rows"
    bank = {"paper": f"five times as many rows as classes ({size})", "large": size}[ablation.bank]
    draws = len(ablation.draws)
    return f"{ablation.name}, {len(outputs):,} rows, {outputs.errors.mean():.1%} wrong; {draws} banks of {bank}"


def _areas_table(ablations: list[Ablation], title: str) -> ResultTable:
    ks = sorted({k for ablation in ablations for k in ablation.ks})
    rows = tuple(
        (ablation.name, *(_cell(ablation, k) for k in ks), f"{100 * ablation.margin:.2f}", str(ablation.best))
        for ablation in ablations
    )
    columns = ("model", *(f"k = {k}" for k in ks), "RL_conf-M", "best k")
    return ResultTable(title, columns, rows, "Mean ± standard deviation over the banks.")


def _cell(ablation: Ablation, k: int) -> str:
    if k not in ablation.areas:
        return "–"
    areas = 100 * np.array(ablation.areas[k])
    return f"{areas.mean():.2f} ± {areas.std(ddof=1):.2f}"


TITLE = "KNN over its number of neighbours"
KNN_ABLATION = Experiment("knn-ablation", TITLE, run, reads_others=True)
