"""`abstain cascade`: the outputs of several models to a cascade file."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain._io.files import check_output_path
from abstain.cli.options import Delta, SplitSeed, numbers_of
from abstain.cli.printing import Lines, Result, next_command

if TYPE_CHECKING:
    from abstain.selector.cascades.alternatives import Alternative


@final
@dataclass(frozen=True, kw_only=True)
class CascadeTarget:
    """What is guaranteed of the answers."""

    risk: Annotated[float, typer.Option(help="Largest error rate among the samples that any model answers.")]
    stage_risk: Annotated[
        float | None, typer.Option(help="Largest error rate among the samples of each model, besides --risk.")
    ] = None
    delta: Delta = 0.05


@final
@dataclass(frozen=True, kw_only=True)
class CascadeCosts:
    """What a sample costs, in any unit."""

    costs: Annotated[str, typer.Option(metavar="COST,COST…", help="Cost of running each model on a sample, in order.")]
    human_cost: Annotated[
        float | None, typer.Option(help="Cost of a person who answers a sample. [ten times that of all models]")
    ] = None


@final
@dataclass(frozen=True, kw_only=True)
class StageOptions:
    """What the models are called, and how their answers are scored."""

    names: Annotated[
        str | None, typer.Option(metavar="NAME,NAME…", help="Names of the models. [those of the files]")
    ] = None
    score: Annotated[
        str | None, typer.Option(help="The score of all models, or one for each, with commas. [confidence_margin]")
    ] = None


def cascade(
    outputs: Annotated[
        list[Path], typer.Argument(help="Labelled outputs of each model on the same samples, in the order to ask them.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The cascade file to write.")],
    target: CascadeTarget,
    prices: CascadeCosts,
    stages: StageOptions,
    seed: SplitSeed = 0,
) -> Result:
    """Ask several models in turn, then a person. One guarantee is on the answers of all models together.

    Each sample is answered by the first model that is confident enough. Samples of the models are matched by the column
    id, or else by their order. A random tenth of them, more of few, chooses who is to answer what, at the least cost;
    the others certify the risk.

    Example: abstain cascade small/ large/ --risk 0.02 --costs 1,20 --human-cost 200 -o c.abstain
    """
    from abstain.selector.cascades.alternatives import alternatives

    check_output_path(output)
    if len(outputs) < 2:
        raise InvalidInputError(f"`OUTPUTS` must be of at least 2 models, got {len(outputs)}. `calibrate` takes one.")
    rows = [abstain.Outputs.load(path, nonfinite="reject") for path in outputs]
    made = abstain.cascade(
        rows,
        costs=numbers_of("--costs", prices.costs, rule="be numbers with commas, such as 1,20"),
        scores=_scores(stages.score, len(rows)),
        names=_names(outputs) if stages.names is None else stages.names.split(","),
        seed=seed,
        **asdict(target),
        human_cost=prices.human_cost,
    )
    made.save(output)
    table = alternatives(made, rows, risk=target.risk, delta=target.delta, seed=seed)
    document = {
        "cascade": str(output),
        "thresholds": made.thresholds,
        "threshold": made.selector.threshold,
        "costs": made.costs,
        "human_cost": made.human_cost,
        "alternatives": table,
    }
    suffix = outputs[0].suffix if outputs[0].is_file() else ""
    new = [f"NEW-{name}{suffix}" for name in made.names]
    return Result(
        document, [made.summary(), *_costs_lines(table), next_command("select", output, *new, "-o", "decisions.csv")]
    )


def _costs_lines(table: "Sequence[Alternative]") -> Lines:
    """Who answers how much and what a sample costs, by the cascade and without it."""
    yield "Mean cost of a sample, observed on these samples at the same certified risk:"
    for each in table:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in each.shares.items())
        yield f"- {each.name}: {each.cost:.4g} ({shares})"
    cheapest = min(table, key=lambda each: each.cost)
    if cheapest is not table[0]:
        yield f"Here {cheapest.name} costs less than the cascade."


def _scores(text: str | None, stages: int) -> list[str | None] | None:
    """One for each stage."""
    from abstain.scores.registry import split_names

    if text is None:
        return None
    names = split_names(text)
    return [*names] * stages if len(names) == 1 else [*names]


def _names(paths: list[Path]) -> list[str]:
    """The names of the files or folders, or numbers where two are equal."""
    names = [path.absolute().stem if path.is_file() else path.absolute().name for path in paths]
    return names if len(set(names)) == len(names) else [f"stage {number}" for number in range(1, len(paths) + 1)]
