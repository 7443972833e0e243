"""App. C on its own data: Table 5 and Fig. 7 for a model on ImageNet's validation images and ImageNet-O."""

from abstain._errors import InvalidInputError
from abstain.evaluation import FittingDraw, evaluate
from abstain.metrics import aurc
from abstain_reproduction.benchmarks.benchmark import Benchmark
from abstain_reproduction.benchmarks.imagenet_data import with_imagenet_o
from abstain_reproduction.benchmarks.tasks import IMAGENET
from abstain_reproduction.experiment import Experiment, Option, Setting
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.ood.contest import BETTER, METRICS, Contest
from abstain_reproduction.ood.ood_figure import contest_panels
from abstain_reproduction.ood.ood_metrics import blind, weaker
from abstain_reproduction.ood.search import SELECTION, ContestResult

DETECTOR = "vim"
PRINTED = {"AUROC": (0.765, 0.944), "AUPR": (0.987, 0.997), "FPR@TPR=0.95": (0.816, 0.279)}  # Table 5, of s1 and s2
TASK = Benchmark(
    name="imagenet-o",
    task="ImageNet",
    title="ImageNet and ImageNet-O (App. C, Table 5, Fig. 7)",
    expects="val (ILSVRC-2012) and imagenet-o",
    parts=with_imagenet_o,
    cards=IMAGENET.cards,
    pixels=IMAGENET.pixels,
    authors=IMAGENET.authors,
)


def run(setting: Setting) -> Findings:
    """Collect, or load; then both scores by the metrics of OOD detection and by their risk–coverage curves."""
    outputs = TASK.outputs(setting)
    assert outputs is not None  # nothing is collected in parts
    known = outputs.select(outputs.shift != "covariate")
    evaluation = evaluate(known, scores=[SELECTION, DETECTOR], fitting=FittingDraw("paper", setting.seed))
    if DETECTOR not in evaluation.confidence:
        raise InvalidInputError(f"`--model` must have features for ViM, got {TASK.model_name(setting)} without.")
    contest = Contest(evaluation.outputs, SELECTION, DETECTOR, dict(evaluation.confidence))
    model = TASK.model_name(setting)
    result = ContestResult(model, contest, contest)
    limit = "" if setting.limit is None else f" At most {setting.limit} samples of each part: not the paper's numbers."
    return Findings(
        words=f"{model} on {TASK.title}: s₁ is RL_conf-M, s₂ is ViM, fitted on five times as many rows as classes."
        + limit,
        verdicts=(weaker(result), blind(result)),
        tables=(table_5(contest, with_paper=model == "eva"),),
        numbers={
            name: dict(zip(METRICS, contest.detection(name).tolist(), strict=True)) for name in contest.confidence
        },
        figures={"figure-7": lambda: contest_panels(contest, model)},
        evaluation=evaluation,
    )


def table_5(contest: Contest, /, *, with_paper: bool) -> ResultTable:
    """The metrics of OOD detection, the better of the two in bold, and AURC, which prefers the other."""
    scores = (contest.selection, contest.detector)
    measured = zip(METRICS, *(contest.detection(name) for name in scores), BETTER, strict=True)
    rows = []
    for metric, selection, detection, sign in measured:
        arrow = "↑" if sign > 0 else "↓"
        rows.append(
            (
                f"{metric} ({arrow})",
                *_bold(selection, detection, sign, 3),
                *(_paper(metric, sign) if with_paper else ()),
            )
        )
    first, second = (100 * aurc(contest.confidence[name], contest.outputs.errors) for name in scores)
    rows.append(("AURC × 100 (↓)", *_bold(first, second, -1.0, 2), *(("", "") if with_paper else ())))
    paper = ("s₁ in the paper", "s₂ in the paper") if with_paper else ()
    return ResultTable("Table 5: the better of the two in bold", ("metric", "s₁", "s₂", *paper), tuple(rows))


def _paper(metric: str, sign: float) -> tuple[str, str]:
    return _bold(*PRINTED[metric], sign, 3)


def _bold(first: float, second: float, sign: float, digits: int) -> tuple[str, str]:
    texts = f"{first:.{digits}f}", f"{second:.{digits}f}"
    if first == second:
        return texts
    first_is_better = sign * (first - second) > 0
    return (f"**{texts[0]}**" if first_is_better else texts[0]), (texts[1] if first_is_better else f"**{texts[1]}**")


TAKES: frozenset[Option] = frozenset({"data", "limit", "model", "batch_size", "workers", "device", "amp"})
IMAGENET_O = Experiment("imagenet-o", f"App. C: {TASK.title}", run, TAKES, variant=TASK.run_name)
