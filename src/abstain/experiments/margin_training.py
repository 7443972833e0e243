"""Open question (i) of the paper: does an objective that promotes margins improve selection by margins?

One body, one data set, six objectives, five seeds. All runs of a seed begin with the same body and see the same
batches, so that differences to cross-entropy are paired by seed. The learning rate of each objective is the best of
three by the errors on images held out of training.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.evaluation import evaluate
from abstain.experiments.claims import Outcome, Verdict
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.findings import Findings, Table
from abstain.experiments.image_tasks import CLASSES, ImageTask, fashion_task
from abstain.experiments.margin_of_loss import MarginOfLoss, margin_of_loss
from abstain.experiments.over_seeds import OverSeeds, over_seeds
from abstain.experiments.training_runs import TrainingRuns
from abstain.report.difference_figure import difference_figure

if TYPE_CHECKING:
    from abstain.train.objective import Objective
    from abstain.train.recipe import Recipe

TITLE = "Objectives that promote margins against cross-entropy, on Fashion-MNIST"
BASE = "cross-entropy"
PROMOTING = ("hinge", "additive margin")
MIXES = ("in", "in+cov", "in+label", "all")
MARGINS = {"confidence_margin": "RL_conf-M", "geometric_margin": "RL_geo-M"}
POST_HOC = {**MARGINS, "max_softmax": "SR_max"}
SYMBOLS = {**POST_HOC, "abstention": "abstention"}
EPOCHS, LONG_EPOCHS, SEEDS = 4, 15, 5
IMAGES = 20_000  # to train on in the short version
RATES = (0.1, 0.02, 0.004)
TUNING, HELD_OUT = 6_000, 5_000


def objectives() -> "dict[str, Objective]":
    """Each with the constants of its authors, but for the scale of the additive margin, which was for many faces."""
    from abstain.train.additive_margin import AdditiveMargin
    from abstain.train.cross_entropy import CrossEntropy
    from abstain.train.deep_gamblers import DeepGamblers
    from abstain.train.hinge import Hinge
    from abstain.train.logit_norm import LogitNorm
    from abstain.train.self_adaptive import SelfAdaptive

    return {
        BASE: CrossEntropy(),
        "hinge": Hinge(),
        "additive margin": AdditiveMargin(),
        "LogitNorm": LogitNorm(),
        "Deep Gamblers": DeepGamblers(),
        "self-adaptive": SelfAdaptive(),
    }


@dataclass(frozen=True)
class Trained:
    """What came of one objective with one seed."""

    objective: str
    seed: int
    rate: float
    error: float
    """Share of errors on clean images."""
    areas: dict[str, float]
    """AURC by score and mix, as "confidence_margin in"."""


def run(setting: Setting) -> Findings:
    """Train every objective with every seed, and compare with cross-entropy."""
    task = fashion_task(train=None if setting.long else IMAGES, limit=setting.limit, seed=setting.seed)
    epochs = LONG_EPOCHS if setting.long else EPOCHS
    seeds = range(setting.seed, setting.seed + (setting.seeds or SEEDS))
    runs = TrainingRuns(setting, len(objectives()) * (len(RATES) + len(seeds)))
    rates = {name: _rate(name, objective, task, runs, setting.seed) for name, objective in objectives().items()}
    found, margins = [], []
    for seed in seeds:
        for name, objective in objectives().items():
            network = runs.train(name, recipe(objective, rates[name], epochs), task.images, task.labels, seed=seed)
            outputs = task.outputs(network)
            clean = outputs.select(outputs.shift == "none")
            found.append(Trained(name, seed, rates[name], float(clean.errors.mean()), _areas(outputs)))
            if name == BASE:
                margins.append(margin_of_loss(clean))
    return findings(task, found, margins, epochs)


def recipe(objective: "Objective", rate: float, epochs: int) -> "Recipe":
    """The small network, the same for all objectives but for its head."""
    from abstain.train.recipe import Recipe

    return Recipe(body="small_cnn", objective=objective, classes=CLASSES, epochs=epochs, batch_size=256, lr=rate)


def _rate(name: str, objective: "Objective", task: ImageTask, runs: TrainingRuns, seed: int) -> float:
    """The learning rate with the fewest errors on the last images, after training on some of the others."""
    from abstain.train.predict import predict

    held = min(HELD_OUT, len(task.images) // 3)
    some = slice(min(TUNING, len(task.images) - held))
    wrong = {}
    for rate in RATES:
        tried = recipe(objective, rate, EPOCHS)
        network = runs.train(f"{name}-lr-{rate}", tried, task.images[some], task.labels[some], seed=seed)
        wrong[rate] = predict(network, task.images[-held:], task.labels[-held:]).errors.mean()
    return min(RATES, key=lambda rate: wrong[rate])


def _areas(outputs: Any) -> dict[str, float]:
    scores = [*POST_HOC, *outputs.given_names]
    rows = evaluate(outputs, scores=scores, alphas=(1.0,)).rows
    return {f"{row['score']} {row['mix']}": row["aurc"] for row in rows}


def findings(task: ImageTask, found: Sequence[Trained], margins: Sequence[MarginOfLoss], epochs: int) -> Findings:
    """Tables, a figure and verdicts from all runs."""
    names = [name for name in objectives() if name != BASE]
    gains = {
        f"{score} {mix}": {name: _gain(found, name, f"{score} {mix}") for name in names}
        for score in POST_HOC
        for mix in MIXES
    }
    seeds = len({each.seed for each in found})
    data = f"{task.words}; a small CNN, {epochs} epochs, {seeds} seeds"
    figure = {mix: {name: {SYMBOLS[s]: gains[f"{s} {mix}"][name] for s in MARGINS} for name in names} for mix in MIXES}
    return Findings(
        words=f"{data}. AURC × 100 of margin scores after training by other objectives, against {BASE}.",
        verdicts=(*(_verdict(name, gains, data) for name in PROMOTING), _footnote(margins, data)),
        tables=(_levels(found), *(_differences(score, gains, names) for score in POST_HOC)),
        numbers={
            "runs": [asdict(each) for each in found],
            "margin_of_loss": [asdict(each) for each in margins],
            "differences": {key: {name: asdict(gain) for name, gain in row.items()} for key, row in gains.items()},
        },
        figures={"differences": lambda: difference_figure(figure, against=BASE)},
    )


def _values(found: Sequence[Trained], name: str, key: str) -> list[float]:
    """Of one objective, by seed."""
    return [each.areas[key] for each in found if each.objective == name and key in each.areas]


def _gain(found: Sequence[Trained], name: str, key: str) -> OverSeeds:
    pairs = zip(_values(found, name, key), _values(found, BASE, key), strict=True)
    return over_seeds([other - base for other, base in pairs])


def _levels(found: Sequence[Trained]) -> Table:
    """Errors and areas as they are, mean ± standard deviation over seeds."""
    rows = []
    for name in objectives():
        runs = [each for each in found if each.objective == name]
        for score, symbol in SYMBOLS.items():
            cells = [_spread(_values(found, name, f"{score} {mix}")) for mix in MIXES]
            if cells[0]:
                rows.append((name, f"{runs[0].rate:g}", _spread([each.error for each in runs]), symbol, *cells))
    columns = ("objective", "learning rate", "errors, %", "score", *MIXES)
    return Table("AURC × 100, mean ± standard deviation over seeds", columns, tuple(rows))


def _spread(values: Sequence[float]) -> str:
    spread = f" ± {100 * np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{100 * np.mean(values):.2f}{spread}" if values else ""


def _differences(score: str, gains: dict[str, dict[str, OverSeeds]], names: Sequence[str]) -> Table:
    rows = tuple((name, *(_marked(gains[f"{score} {mix}"][name]) for mix in MIXES)) for name in names)
    return Table(
        f"{SYMBOLS[score]}: AURC × 100 minus that after {BASE}",
        ("objective", *MIXES),
        rows,
        "Paired by seed, 95% interval of Student's t over seeds; **bold**: better than cross-entropy, *italic*: worse.",
    )


def _marked(gain: OverSeeds) -> str:
    mark = {-1: "**", 0: "", 1: "*"}[gain.sign]
    return f"{mark}{gain}{mark}"


def _verdict(name: str, gains: dict[str, dict[str, OverSeeds]], data: str) -> Verdict:
    """Held if both margins get better in every mix, not held if one gets worse in any."""
    signs = [gains[f"{score} {mix}"][name].sign for score in MARGINS for mix in MIXES]
    better, worse = signs.count(-1), signs.count(1)
    outcome: Outcome = "held" if better == len(signs) else "not held" if worse else "undecided"
    cells = "; ".join(f"{SYMBOLS[s]} {mix} {gains[f'{s} {mix}'][name]}" for s in MARGINS for mix in MIXES)
    words = f"{name}: better in {better}, worse in {worse} of {len(signs)} (AURC × 100 minus that of {BASE}: {cells})"
    return Verdict("margin-training", outcome, words, data)


def _footnote(margins: Sequence[MarginOfLoss], data: str) -> Verdict:
    """Held if loss and margin rank samples alike and the strongest rival makes nearly all of the loss."""
    correlation, share = (min(getattr(each, name) for each in margins) for name in ("correlation", "share"))
    outcome: Outcome = "held" if min(correlation, share) > 0.9 else "not held" if correlation < 0.5 else "undecided"
    dominated = np.mean([each.dominated for each in margins])
    words = (
        f"rank correlation of cross-entropy with the margin at least {correlation:.4f}; the strongest rival alone "
        f"gives at least {share:.1%} of the loss; it outweighs all others tenfold in {dominated:.0%} of the samples"
    )
    return Verdict("cross-entropy-margin", outcome, words, data)


MARGIN_TRAINING = Experiment("margin-training", TITLE, run, frozenset({"seeds", "limit", "long"}))
