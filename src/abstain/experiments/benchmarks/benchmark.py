"""A task of the paper's tables: its data in local folders, its models, and what is found on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstain.collect import Data, collect, collect_part
from abstain.collect.model import NamedModel
from abstain.collect.specs import MODEL_KINDS
from abstain.evaluation import Evaluation, evaluate
from abstain.evaluation.verdict import verdict
from abstain.experiments.benchmarks.cards import Card, model_of
from abstain.experiments.benchmarks.local_folders import found
from abstain.experiments.benchmarks.pixels import Pixels
from abstain.experiments.benchmarks.saved_outputs import saved_outputs
from abstain.experiments.experiment import Experiment, Option, Setting
from abstain.experiments.findings import Findings, Table
from abstain.experiments.paper.paper_code import paper_code_areas
from abstain.experiments.paper.paper_table import PaperTable
from abstain.experiments.paper.score_claims import PAPER_SCORES, score_claims
from abstain.files import write_text
from abstain.outputs import Outputs
from abstain.report.figures.risk_coverage import risk_coverage_figure

MACHINE = ("device", "amp", "part", "workers")
TAKES: frozenset[Option] = frozenset(
    {"data", "limit", "model", "paper_code", "batch_size", "workers", "device", "amp", "part"}
)
OMITTED = "doctor"  # in the figures, as in the paper: it almost overlaps with SR_max


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One task: where its data are, and the models of the paper by the names people type."""

    name: str
    title: str
    expects: str
    """What `--data` has to hold, in words."""
    parts: Callable[[Path, int | None, int], list[Data]]
    """From the folder, a limit and a seed to in-distribution samples first, then shifted ones."""
    cards: Mapping[str, Card]
    corrupted: tuple[str, ...] = ()
    """Names of the folder of corrupted samples; where there is none they are made."""
    pixels: Pixels | None = None
    """How images are prepared for a model that does not say."""
    authors: Pixels | None = None
    """How the authors' code prepared them, whatever the model."""
    batch_size: int = 64

    def experiment(self) -> Experiment:
        """For the registry."""
        return Experiment(self.name, self.title, self.run, TAKES)

    def run(self, setting: Setting) -> Findings | None:
        """Collect, or load, then compare the ten scores, beside what the paper has."""
        model = setting.model or next(iter(self.cards))
        outputs = self._outputs(model, setting)
        if outputs is None:
            return None
        evaluation = evaluate(outputs, scores=PAPER_SCORES, fitting="paper", seed=setting.seed)
        ours = PaperTable.of(evaluation)
        if setting.paper_code:
            ours = PaperTable(paper_code_areas(outputs, seed=setting.seed))
        setting.folder.mkdir(parents=True, exist_ok=True)
        write_text(setting.folder / "table.tex", ours.latex())
        name = model if self._is_model(model) else Path(model).name
        what = f"{name} on {self.title}"
        return Findings(
            words=" ".join(
                [f"{what}, fitted on five rows per class.", verdict(evaluation).words, *self._caveats(setting)]
            ),
            verdicts=score_claims([evaluation], data=f"{what}: {evaluation.n:,} rows"),
            tables=self._tables(ours, outputs, name, paper_code=setting.paper_code),
            numbers=evaluation.to_dict() | {"table": [_row(key, value) for key, value in ours.areas.items()]},
            figures={"risk-coverage": lambda: _figure(evaluation)},
            evaluation=evaluation,
        )

    def _outputs(self, model: str, setting: Setting) -> Outputs | None:
        if not self._is_model(model):
            if not Path(model).exists():
                raise FileNotFoundError(
                    f"`--model` must be {', '.join(self.cards)}, a model as collect takes it or a folder of outputs, "
                    f"got {model}."
                )
            if setting.limit is not None:
                raise ValueError(f"`--limit` must be left out for outputs that were collected, got {setting.limit}.")
            if unused := [name for name in MACHINE if getattr(setting, name)]:
                raise ValueError(f"`--{unused[0]}` must be left out for outputs that were collected.")
            return saved_outputs(Path(model))
        root = setting.data
        if root is None or not root.is_dir():
            given = "none" if root is None else f"no folder {root}"
            raise FileNotFoundError(f"`--data` must be a folder with {self.expects}, got {given}.")
        parts = self.parts(root, setting.limit, setting.seed)  # before a model that takes minutes to make
        prepare = self.authors if setting.paper_code else None
        made = NamedModel(
            model_of(
                model, self.cards, root, pixels=self.pixels, prepare=prepare, device=setting.device, amp=setting.amp
            )
        )
        folder = setting.folder / _slug(model, setting)
        options: dict[str, Any] = {
            "batch_size": setting.batch_size or self.batch_size,
            "workers": setting.workers,
            "progress": setting.progress,
        }
        if setting.part is not None:
            return collect_part(made, parts, folder, setting.part, **options)
        return collect(made, parts, folder, **options)

    def _is_model(self, name: str) -> bool:
        return name in self.cards or name.partition(":")[0] in MODEL_KINDS

    def _tables(self, ours: PaperTable, outputs: Outputs, model: str, *, paper_code: bool) -> tuple[Table, ...]:
        how = "by the conventions of the authors' code" if paper_code else "by the paper's text"
        note = "Bold: best; underlined: second and third."
        beside = ours.beside(self.name, model)
        return (
            ours.markdown(f"AURC-α × 100, {how}", note),
            *([] if beside is None else [beside]),
            _samples(outputs, self.cards.get(model)),
        )

    def _caveats(self, setting: Setting) -> list[str]:
        words = []
        if setting.limit is not None:
            words.append(f"At most {setting.limit} samples of each part: not comparable with the paper's numbers.")
        if self.corrupted and setting.data is not None and found(setting.data, self.corrupted) is None:
            words.append(f"Corruptions were made here, as there is no {self.corrupted[0]}.")
        if setting.paper_code:
            words.append("The table has the conventions of the authors' code; verdicts and figure have ours.")
        return words


def _figure(evaluation: Evaluation) -> object:
    shown = [name for name, entry in evaluation.entries.items() if entry.about.name != OMITTED]
    return risk_coverage_figure(evaluation, scores=shown)


def _samples(outputs: Outputs, card: Card | None) -> Table:
    """What was evaluated, and the accuracy beside the paper's."""
    rows = []
    for kind in dict.fromkeys(outputs.shift.tolist()):
        chosen = outputs.shift == kind
        domains = [] if outputs.domain is None else list(dict.fromkeys(outputs.domain[chosen].tolist()))
        accuracy = f"{100 * (1 - outputs.errors[chosen].mean()):.2f}"
        paper = f"{card.accuracy:g}" if card and card.accuracy and kind == "none" else ""
        shown = ", ".join(domains[:3]) + (f" and {len(domains) - 3} more" if len(domains) > 3 else "")
        rows.append((kind, shown, f"{int(chosen.sum()):,}", accuracy, paper))
    return Table("Samples", ("shift", "domains", "samples", "accuracy (%)", "the paper's"), tuple(rows))


def _row(key: tuple[str, str, float], value: float) -> dict[str, str | float]:
    return {"score": key[0], "mix": key[1], "alpha": key[2], "aurc": value}


def _slug(model: str, setting: Setting) -> str:
    """A folder of its own for each model, limit, seed and preparation."""
    plain = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in model)
    limit = "" if setting.limit is None else f"-{setting.limit}"
    how = ("-paper-code" if setting.paper_code else "") + ("-amp" if setting.amp else "")
    return f"outputs-{plain}{limit}-seed-{setting.seed}{how}"
