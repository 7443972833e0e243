"""A task of the paper's tables: its data in local folders, its models, and what is found on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abstain._errors import InvalidInputError, MissingFileError
from abstain._io.files import write_text
from abstain._model_kinds import MODEL_KINDS
from abstain.collect import Data, collect, collect_part
from abstain.collect.model import NamedModel
from abstain.evaluation import Evaluation, FittingDraw, evaluate
from abstain.evaluation.figures.risk_coverage import risk_coverage_figure
from abstain.evaluation.verdict import verdict
from abstain.outputs import Outputs
from abstain_reproduction.benchmarks.cards import Card, is_checkpoint, model_of
from abstain_reproduction.benchmarks.local_folders import first_existing
from abstain_reproduction.benchmarks.pixels import Pixels
from abstain_reproduction.benchmarks.saved_outputs import saved_outputs
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.experiment import Experiment, Option, Setting
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.paper.curves_figure import OMITTED, SCNET_MIXES, SCNET_SCORES, curves_figure
from abstain_reproduction.paper.paper_code import paper_code_areas
from abstain_reproduction.paper.paper_latex import LatexBlock, paper_latex
from abstain_reproduction.paper.paper_table import HEAD, PaperTable
from abstain_reproduction.paper.run_record import RunRecord, run_name
from abstain_reproduction.paper.score_claims import BY_THE_PAPER, score_claims
from abstain_reproduction.training.selection_head import head_claims

HEAD_ROWS = 2_000  # on which features are compared with logits
MACHINE = ("device", "amp", "part", "workers")
TAKES: frozenset[Option] = frozenset(
    {"data", "limit", "model", "paper_code", "batch_size", "workers", "device", "amp", "part"}
)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One task: where its data are, and the models of the paper by the names people type."""

    name: str
    task: str
    """What the paper calls it in its tables."""
    title: str
    expects: str
    """What `--data` must contain, for messages."""
    parts: Callable[[Path, int | None, int], list[Data]]
    """From the folder, a limit and a seed to in-distribution samples first, then shifted ones."""
    cards: Mapping[str, Card]
    corrupted: tuple[str, ...] = ()
    """Names of the folder of corrupted samples; where there is none they are made."""
    pixels: Pixels | None = None
    """How images are prepared for a model that does not say."""
    authors: Pixels | None = None
    """How the authors' code prepared images, for every model."""
    batch_size: int = 64

    def experiment(self) -> Experiment:
        """For the registry."""
        return Experiment(self.name, self.title, self.run, TAKES, variant=self.run_name)

    def run_name(self, setting: Setting) -> str:
        """The part of a folder's name that identifies model, limit, seed and conventions."""
        name = self.model_name(setting)
        return run_name(name, limit=setting.limit, seed=setting.seed, paper_code=setting.paper_code, amp=setting.amp)

    def model_name(self, setting: Setting) -> str:
        """The model as people type it; of outputs and checkpoints the name of their file."""
        model = setting.model or next(iter(self.cards))
        return model if model in self.cards or _is_spec(model) else Path(model).stem

    def run(self, setting: Setting) -> Findings | None:
        """Collect or load, then compare the scores with each other and the paper; None while parts are missing."""
        outputs = self.outputs(setting)
        if outputs is None:
            return None
        scores = [*BY_THE_PAPER, *(name for name in outputs.confidence_names if name == HEAD)]
        evaluation = evaluate(outputs, scores=scores, fitting=FittingDraw("paper", setting.seed))
        ours = PaperTable.of(evaluation)
        if setting.paper_code:
            ours = PaperTable(paper_code_areas(outputs, seed=setting.seed))
        name = self.model_name(setting)
        shown = self.cards[name].short if name in self.cards else name
        setting.folder.mkdir(parents=True, exist_ok=True)
        write_text(setting.folder / "table.tex", paper_latex([[LatexBlock(self.task, shown, ours)]]))
        record = RunRecord.of(evaluation, ours, task=self.task, model=shown)
        record.save(setting.folder)
        what = f"{name} on {self.title}"
        return Findings(
            words=" ".join(
                [
                    f"{what}, fitted on five times as many rows as classes.",
                    verdict(evaluation).words,
                    *head_words(outputs),
                    *self._caveats(setting),
                ]
            ),
            verdicts=self._verdicts(evaluation, f"{what}: {evaluation.n:,} rows"),
            tables=self._tables(ours, outputs, name, paper_code=setting.paper_code),
            numbers=evaluation.to_dict() | {"table": [_row(key, value) for key, value in ours.areas.items()]},
            figures=_figures(evaluation, record),
            evaluation=evaluation,
        )

    def _verdicts(self, evaluation: Evaluation, data: str) -> tuple[ClaimVerdict, ...]:
        """Claims on scores; with a selection head also what §4.2 says of it."""
        verdicts = score_claims([evaluation], data=data)
        return (*verdicts, *head_claims([evaluation], data)) if HEAD in evaluation.confidence else verdicts

    def outputs(self, setting: Setting) -> Outputs | None:
        """The model's outputs on the data, collected once, or outputs that were collected before."""
        model = setting.model or next(iter(self.cards))
        if not (model in self.cards or _is_spec(model) or is_checkpoint(model)):
            if not Path(model).exists():
                raise MissingFileError(
                    f"`--model` must be {', '.join(self.cards)}, a model as collect takes it or a folder of outputs, "
                    f"got {model}."
                )
            if setting.limit is not None:
                raise InvalidInputError(f"`--limit` must be left out for saved outputs, got {setting.limit}.")
            if unused := [name for name in MACHINE if getattr(setting, name)]:
                value = getattr(setting, unused[0])
                raise InvalidInputError(f"`--{unused[0]}` must be left out for saved outputs, got {value}.")
            return saved_outputs(Path(model))
        root = setting.data
        if root is None or not root.is_dir():
            given = "none" if root is None else f"no folder {root}"
            raise MissingFileError(f"`--data` must be a folder with {self.expects}, got {given}.")
        parts = self.parts(root, setting.limit, setting.seed)  # before a model that takes minutes to make
        prepare = self.authors if setting.paper_code else None
        made = model_of(
            model, self.cards, root, pixels=self.pixels, prepare=prepare, device=setting.device, amp=setting.amp
        )
        folder = setting.folder / f"outputs-{self.run_name(setting)}"
        options: dict[str, Any] = {
            "batch_size": setting.batch_size or self.batch_size,
            "workers": setting.workers,
            "progress": setting.progress,
        }
        outputs = (
            collect(NamedModel(made), parts, folder, **options)
            if setting.part is None
            else collect_part(NamedModel(made), parts, folder, setting.part, **options)
        )
        return (
            made.with_own_confidence(outputs)
            if outputs is not None and hasattr(made, "with_own_confidence")
            else outputs
        )

    def _tables(self, ours: PaperTable, outputs: Outputs, model: str, *, paper_code: bool) -> tuple[ResultTable, ...]:
        how = "by the conventions of the authors' code" if paper_code else "by the paper's text"
        note = "Bold: best; underlined: second and third."
        paper_comparison = ours.paper_comparison(self.name, model)
        return (
            ours.markdown(f"AURC-α × 100, {how}", note),
            *([] if paper_comparison is None else [paper_comparison]),
            _samples(outputs, self.cards.get(model)),
        )

    def _caveats(self, setting: Setting) -> list[str]:
        words = []
        if setting.limit is not None:
            words.append(f"At most {setting.limit} samples of each part: not comparable with the paper's numbers.")
        if self.corrupted and setting.data is not None and first_existing(setting.data, self.corrupted) is None:
            words.append(f"Corruptions were made here, as there is no {self.corrupted[0]}.")
        if setting.paper_code:
            words.append("The table has the conventions of the authors' code; verdicts and figure have ours.")
        return words


def _is_spec(name: str) -> bool:
    return name.partition(":")[0] in MODEL_KINDS


def head_words(outputs: Outputs, /) -> list[str]:
    """What follows for the scores where there are no features, or where they do not make the logits."""
    if outputs.features is None or outputs.weight is None:
        return ["There is no linear last layer with its input: RL_geo-M, KNN, ViM and SIRC cannot all be computed."]
    rows = np.unique(np.linspace(0, len(outputs) - 1, HEAD_ROWS).astype(np.int64))
    check = outputs.select(rows).check_head()
    if check.agrees:
        return []
    return [
        f"Careful, {check}, as where a head normalises its input inside. What follows: ViM and SIRC measure from an "
        "origin, and RL_geo-M by weights, that do not make these logits, and KNN has other features than the last "
        "layer, so that these four rows are not the paper's; the six other scores use the logits alone and stand. "
        "Put the normalisation before the last linear layer, as scripts/export-flyp does."
    ]


def _figures(evaluation: Evaluation, record: RunRecord) -> dict[str, Callable[[], object]]:
    """All mixes; of a network with a selection head also the panels of Fig. 6."""
    shown = [name for name, entry in evaluation.entries.items() if entry.about.name != OMITTED]
    figures: dict[str, Callable[[], object]] = {
        "risk-coverage": lambda: risk_coverage_figure(evaluation, scores=shown),
    }
    if HEAD in evaluation.confidence:
        mixes = [mix for mix in SCNET_MIXES if mix in evaluation.mixes]
        figures["figure-6"] = lambda: curves_figure([record], mixes=mixes, scores=SCNET_SCORES)
    return figures


def _samples(outputs: Outputs, card: Card | None) -> ResultTable:
    """What was evaluated, with our accuracy and the paper's."""
    rows = []
    for kind in dict.fromkeys(outputs.shift.tolist()):
        chosen = outputs.shift == kind
        domains = [] if outputs.domain is None else list(dict.fromkeys(outputs.domain[chosen].tolist()))
        accuracy = f"{100 * (1 - outputs.errors[chosen].mean()):.2f}"
        paper = f"{card.accuracy:g}" if card and card.accuracy and kind == "none" else ""
        shown = ", ".join(domains[:3]) + (f" and {len(domains) - 3} more" if len(domains) > 3 else "")
        rows.append((kind, shown, f"{int(chosen.sum()):,}", accuracy, paper))
    return ResultTable("Samples", ("shift", "domains", "samples", "accuracy (%)", "the paper's"), tuple(rows))


def _row(key: tuple[str, str, float], value: float) -> dict[str, str | float]:
    return {"score": key[0], "mix": key[1], "alpha": key[2], "aurc": value}
