"""SelectiveNet (§4.2): its selection head against post-hoc scores, on the classifier that was trained with it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain.evaluation import Evaluation, evaluate
from abstain.experiments.claims import Outcome, Verdict
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.findings import Findings, Table
from abstain.experiments.image_tasks import CLASSES, PACKAGES, cifar_task, fashion_task
from abstain.experiments.over_seeds import OverSeeds, over_seeds, spread
from abstain.experiments.score_claims import COMPARABLE
from abstain.experiments.training_runs import TrainingRuns
from abstain.metrics.compare import compare
from abstain.report.figures import risk_coverage_figure

if TYPE_CHECKING:
    from abstain.train.recipe import Recipe

TITLE = "SelectiveNet: its selection head against post-hoc scores"
HEAD, MARGIN = "selection_head", "confidence_margin"
SCORES = {HEAD: "ScNet", MARGIN: "RL_conf-M", "geometric_margin": "RL_geo-M", "max_softmax": "SR_max", "sirc": "SIRC"}
MIXES = ("in", "in+cov", "in+label", "all")
ALPHAS = (0.1, 0.5, 1.0)
SHORT_SEEDS, LONG_SEEDS = 5, 3
IMAGES = 20_000  # to train on in the short version
Pairs = Mapping[tuple[str, str, str, float], OverSeeds]


def recipe(*, long: bool) -> "Recipe":
    """A small network for minutes; for the long version a ResNet-20."""
    from abstain.train.augmentation import Augmentation
    from abstain.train.recipe import Recipe
    from abstain.train.selective_net import Selective

    if not long:
        return Recipe(body="small_cnn", objective=Selective(), classes=CLASSES, epochs=15, batch_size=256, lr=0.05)
    augmentation = Augmentation(pad=4, flip=True)
    return Recipe(body="resnet20", objective=Selective(), classes=CLASSES, epochs=8, augmentation=augmentation)


def run(setting: Setting) -> Findings:
    """Train with every seed, then compare the scores on the fixed classifier, paired."""
    if setting.long:
        task = cifar_task(limit=setting.limit, seed=setting.seed)
    else:
        task = fashion_task(train=IMAGES, limit=setting.limit, seed=setting.seed)
    chosen = recipe(long=setting.long)
    count = setting.seeds or (LONG_SEEDS if setting.long else SHORT_SEEDS)
    runs = TrainingRuns(setting, count)
    evaluations = []
    for seed in range(setting.seed, setting.seed + count):
        network = runs.train("scnet", chosen, task.images, task.labels, seed=seed)
        evaluations.append(evaluate(task.outputs(network), scores=list(SCORES), alphas=ALPHAS, fitting="paper"))
    data = f"{task.words}; {chosen.body}, {chosen.epochs} epochs, {count} seed{'s' * (count > 1)}"
    return findings(evaluations, data)


def findings(evaluations: Sequence[Evaluation], data: str) -> Findings:
    """Tables, curves of the seed whose head is the middle one, and verdicts."""
    pairs = _pairs(evaluations)
    errors = [float(each.outputs.errors[each.outputs.shift == "none"].mean()) for each in evaluations]
    selected = [_selected(each) for each in evaluations]
    words = (
        f"{data}. The classifier errs on {spread(errors)}% of clean images; the selection head gives them a mean of "
        f"{', '.join(f'{share:.1%}' for share in selected)} by seed, where 70% were asked for in training."
    )
    return Findings(
        words=words,
        verdicts=(_comparable(pairs, _levels(evaluations), data), _not_best(pairs, data)),
        tables=(*(_areas(evaluations, alpha) for alpha in ALPHAS), *(_against_head(pairs, alpha) for alpha in ALPHAS)),
        numbers={
            "errors": errors,
            "selected": selected,
            "rows": [row | {"run": number} for number, each in enumerate(evaluations) for row in each.rows],
            "differences": {" ".join(map(str, key)): value.to_dict() for key, value in pairs.items()},
        },
        figures={"risk-coverage": lambda: risk_coverage_figure(_middle(evaluations), scores=list(SCORES))},
    )


def _middle(evaluations: Sequence[Evaluation]) -> Evaluation:
    """By the area of the head on clean images: neither the luckiest nor the unluckiest."""
    ranked = sorted(evaluations, key=lambda each: float(each.row(HEAD, "in", 1.0)["aurc"]))
    return ranked[len(ranked) // 2]


def _selected(evaluation: Evaluation) -> float:
    """The mean that the head gives to clean images, after the sigmoid."""
    return float(expit(evaluation.confidence[HEAD][evaluation.outputs.shift == "none"]).mean())


def _pairs(evaluations: Sequence[Evaluation]) -> Pairs:
    """The AURC-α of the first minus that of the second, for every two scores, by mix and α."""
    names = list(SCORES)
    return {
        (a, b, mix, alpha): _paired(evaluations, a, b, mix, alpha)
        for place, a in enumerate(names)
        for b in names[place + 1 :]
        for mix in MIXES
        for alpha in ALPHAS
    }


def _paired(evaluations: Sequence[Evaluation], a: str, b: str, mix: str, alpha: float) -> OverSeeds:
    found = []
    for each in evaluations:
        rows: NDArray[np.bool_] = each.mix(mix).rows(each.outputs.shift)
        ids = None if each.outputs.ids is None else each.outputs.ids[rows]
        sides = each.confidence[a][rows], each.confidence[b][rows]
        found.append(compare(*sides, each.outputs.errors[rows], alpha=alpha, ids=ids))
    return over_seeds([one.difference for one in found], [one.se for one in found])


def _levels(evaluations: Sequence[Evaluation]) -> dict[tuple[str, str], float]:
    """Mean AURC over seeds, by score and mix."""
    return {
        (score, mix): float(np.mean([each.row(score, mix, 1.0)["aurc"] for each in evaluations]))
        for score in SCORES
        for mix in MIXES
    }


def _areas(evaluations: Sequence[Evaluation], alpha: float) -> Table:
    rows = tuple(
        (symbol, *(spread([each.row(score, mix, alpha)["aurc"] for each in evaluations]) for mix in MIXES))
        for score, symbol in SCORES.items()
    )
    return Table(f"AURC-{alpha:g} × 100, mean ± standard deviation over seeds", ("score", *MIXES), rows)


def _against_head(pairs: Pairs, alpha: float) -> Table:
    rows = tuple(
        (SCORES[score], *(pairs[HEAD, score, mix, alpha].marked() for mix in MIXES))
        for score in SCORES
        if score != HEAD
    )
    return Table(
        f"AURC-{alpha:g} × 100 of the selection head minus that of the score",
        ("score", *MIXES),
        rows,
        "Paired on the same images, 95% interval over seeds and test images; **bold**: the head is better, *italic*: "
        "the post-hoc score is.",
    )


def _comparable(pairs: Pairs, levels: Mapping[tuple[str, str], float], data: str) -> Verdict:
    """Head and confidence margin alike, both better than SR_max and SIRC, in and in+cov, as in Fig. 6 (a, b)."""
    mixes, others = ("in", "in+cov"), ("max_softmax", "sirc")
    gains = {(a, b, mix): pairs[a, b, mix, 1.0] for mix in mixes for a in (HEAD, MARGIN) for b in others}
    gaps = {(HEAD, MARGIN, mix): pairs[HEAD, MARGIN, mix, 1.0] for mix in mixes}
    among = len(gains) + len(gaps)
    found = [-gain.sign(among=among) for gain in gains.values()]
    found += [_alike(gap, levels[MARGIN, mix], among) for (_, _, mix), gap in gaps.items()]
    outcome: Outcome = "not held" if -1 in found else "undecided" if 0 in found else "held"
    told = [f"{SCORES[a]} − {SCORES[b]} {mix} {value}" for (a, b, mix), value in (gaps | gains).items()]
    words = f"{found.count(1)} of {among} comparisons speak for it, {found.count(-1)} against (joint 95% intervals). "
    return Verdict("scnet-cifar", outcome, words + "AURC × 100: " + "; ".join(told), data)


def _alike(gap: OverSeeds, level: float, among: int) -> int:
    """1 where two areas are comparable, −1 where they are not, 0 in doubt."""
    bound = max(COMPARABLE[0] * level, COMPARABLE[1])
    low, high = gap.interval(1 - 0.05 / among)
    return 1 if -bound <= low and high <= bound else -1 if low > bound or high < -bound else 0


def _not_best(pairs: Pairs, data: str) -> Verdict:
    """Held where some post-hoc score is better in some mix, not held where the head is better than each in all."""
    against = {(score, mix): pairs[HEAD, score, mix, 1.0] for score in SCORES if score != HEAD for mix in MIXES}
    signs = [gap.sign(among=len(against)) for gap in against.values()]
    better, worse = signs.count(1), signs.count(-1)
    outcome: Outcome = "held" if better else "not held" if worse == len(against) else "undecided"
    worst = max(against, key=lambda key: against[key].mean)
    words = (
        f"of {len(against)} comparisons of AURC, corrected for their number, the post-hoc score is better in {better}, "
        f"the head in {worse}; largest gap: {SCORES[worst[0]]}, {worst[1]}, head minus score {against[worst]}"
    )
    return Verdict("scnet-not-best", outcome, words, data)


SCNET = Experiment("scnet", TITLE, run, frozenset({"seeds", "limit", "long"}), needs=PACKAGES)
