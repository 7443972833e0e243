"""`abstain calibrate`: outputs to a selector file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain._io.files import check_output_path
from abstain._names import check_name
from abstain.cli.completion import group_kinds, method_names, score_or_best
from abstain.cli.cost_table import cost_order, read_costs
from abstain.cli.inputs import OF_SKETCH, table_columns, warn_unused
from abstain.cli.options import ONE_SCORE, Delta, NewSelector, SplitSeed, numbers_of, refuse
from abstain.cli.printing import Lines, Result, next_command

if TYPE_CHECKING:
    from abstain.selector import Target

Kind = Literal["class", "domain"]


@final
@dataclass(frozen=True, kw_only=True)
class TargetOptions:
    """What the threshold is to satisfy."""

    risk: Annotated[float | None, typer.Option(help="Largest error rate among accepted samples.")] = None
    coverage: Annotated[float | None, typer.Option(help="Smallest share of samples to accept.")] = None
    review: Annotated[float | None, typer.Option(help="Largest share of samples to reject.")] = None
    miss_rate: Annotated[
        list[str] | None,
        typer.Option(metavar="CLASS=SHARE", help="Largest share of a class accepted with another answer; repeat."),
    ] = None
    cost: Annotated[
        str | None, typer.Option(help="Cost of rejecting, where an error costs 1; or one per class: 0.1,0.5,…")
    ] = None
    costs: Annotated[
        Path | None,
        typer.Option(
            help="A .csv of costs: a row for each predicted class, a column for each true class, with or without names."
        ),
    ] = None
    delta: Delta = 0.05


@final
@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Thresholds or guarantees per group."""

    per: Annotated[
        str | None,
        typer.Option(
            metavar="[class|group|COLUMN]",
            help="A threshold for each predicted class, group, or value of a column.",
            autocompletion=group_kinds,
        ),
    ] = None
    group_risk: Annotated[float | None, typer.Option(help="With --per: one threshold, this risk in each group.")] = None
    each: Annotated[
        bool, typer.Option("--each", help="With --per: each guarantee holds by itself, not all jointly.")
    ] = False


@final
@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """How the threshold is chosen, and on which rows."""

    method: Annotated[
        str | None,
        typer.Option(
            help="Another rule for the target; a wrong name lists them.",
            autocompletion=method_names,
        ),
    ] = None
    largest_cluster: Annotated[
        int | None, typer.Option(min=1, help="Largest number of rows per id in deployment. [the largest here]")
    ] = None
    label_above: Annotated[
        float | None,
        typer.Option(
            help="Never accept rows up to this confidence, which need no label. Fix it before: plan --unlabelled."
        ),
    ] = None
    seed: SplitSeed = 0


def calibrate(
    outputs: Annotated[Path, typer.Argument(help="Labelled outputs, or a .sketch, from the deployment distribution.")],
    output: NewSelector,
    target: TargetOptions,
    groups: GroupOptions,
    rule: RuleOptions,
    score: Annotated[
        str | None,
        typer.Option(
            help=f"The score, or several with commas, of which the best is used. {ONE_SCORE}",
            autocompletion=score_or_best,
        ),
    ] = None,
) -> Result:
    """Choose a threshold with a guarantee. It is on risk, coverage, rejections, misses or cost; the result is a file.

    OUTPUTS is a folder of outputs, an .npz file, or a .csv, .parquet or .jsonl table, with the columns confidence and
    correct (or error), or the columns logit_… or proba_… and label; the columns id and group are optional. --risk and
    --coverage can be combined.

    Example: abstain calibrate run/ --risk 0.02 --delta 0.05 -o selector.abstain
    """
    check_output_path(output)
    kind, column = _groups(groups.per, outputs)
    if groups.each and groups.per is None:
        raise InvalidInputError("`--each` must come with `--per`, got no `--per`.")
    if outputs.suffix == ".sketch":
        selector = _from_sketch(outputs, target, groups, rule, kind, score)
        selector.save(output)
        return Result(_document(selector, output), _lines(selector, output, score))
    rows = abstain.Outputs.load(
        outputs, nonfinite="reject", group=column, unlabelled="error" if rule.label_above is None else "keep"
    )
    selector = _from_rows(rows, _target(target, groups, kind, rule, rows), score, rule.seed)
    warn_unused(outputs, group=column)
    if groups.per is not None:
        selector = selector.with_groups_called(groups.per)  # as in the option
    selector.save(output)
    lines = [*_lines(selector, output, score, suffix=outputs.suffix if outputs.is_file() else "")]
    if target.costs is not None:
        lines.append(cost_order(rows.n_classes, rows.class_names))
    return Result(_document(selector, output), lines)


def _from_sketch(
    file: Path, asked: TargetOptions, groups: GroupOptions, rule: RuleOptions, kind: Kind | None, score: str | None
) -> "abstain.Selector":
    """Calibrate on counts, with none of the options that need the rows."""
    from abstain.selector import calibrate_sketch

    refused = {
        "--review": asked.review,
        "--miss-rate": asked.miss_rate,
        "--cost": asked.cost,
        "--costs": asked.costs,
        "--group-risk": groups.group_risk,
        "--largest-cluster": rule.largest_cluster,
        "--label-above": rule.label_above,
    }
    refuse(refused, OF_SKETCH)
    return calibrate_sketch(abstain.Sketch.load(file), _target(asked, groups, kind, rule), score=score)


def _target(
    asked: TargetOptions,
    groups: GroupOptions,
    kind: Kind | None,
    rule: RuleOptions,
    rows: "abstain.Outputs | None" = None,
) -> "Target":
    """The target that the options ask for."""
    from abstain.selector.targets import target_of

    options = vars(asked) | vars(groups) | vars(rule)
    for name in ("each", "seed"):  # not of the target, or under another name
        del options[name]
    if rows is not None and asked.costs is not None:
        options["costs"] = read_costs(asked.costs, rows.n_classes, rows.class_names)
    if asked.cost is not None:
        costs = numbers_of("--cost", asked.cost, rule="be a number, or one per class such as 0.1,0.5,0.3")
        options["cost"] = costs[0] if len(costs) == 1 else costs
    return target_of(**options | {"per": kind, "jointly": not groups.each, "miss_rate": _rates(asked.miss_rate)})


def _from_rows(rows: "abstain.Outputs", target: "Target", score: str | None, seed: int) -> "abstain.Selector":
    from abstain.scores.registry import split_names

    return abstain.calibrate(rows, target, score=None if score is None else split_names(score), seed=seed)


def _document(selector: "abstain.Selector", output: Path) -> dict[str, Any]:
    return {
        "selector": str(output),
        "score": selector.score,
        "threshold": selector.threshold,
        "groups": selector.groups,
    }


def _lines(selector: "abstain.Selector", output: Path, score: str | None, *, suffix: str = "") -> Lines:
    """What the selector guarantees, and the next command, on outputs with this suffix."""
    from abstain.scores.registry import default_words
    from abstain.thresholds.refutation import untestable

    yield selector.summary()
    for name, threshold in () if selector.groups is None else selector.groups.thresholds.items():
        yield f"- {name}: {_threshold_words(threshold)}"
    if score is None:
        yield default_words(selector.score)
    if reason := untestable(selector.threshold.guarantee):
        yield f"`abstain certify` cannot test this guarantee on fresh rows: {reason}."
    yield next_command("select", output, f"NEW{suffix}", "-o", "decisions.csv")


def _groups(per: str | None, outputs: Path) -> tuple[Kind | None, str | None]:
    """What --per means: classes or domains, and the column that names these, if it is not group or domain."""
    from abstain.outputs.column_names import is_outcome_or_confidence

    if per is None:
        return None, None
    if per == "class":
        return "class", None
    if per in ("domain", "group"):
        return "domain", None
    columns = table_columns(outputs)
    rule = "be class, group" + (" or a column of the table" if columns else " or domain")
    check_name("--per", per, [*columns, "class", "group", "domain"], rule=rule)
    if is_outcome_or_confidence(per):
        raise InvalidInputError(
            f"`--per` must be a column known before the answer is checked, not a confidence or an id, got {per}. "
            "Groups that depend on the outcome guarantee nothing about new rows."
        )
    return "domain", per


def _threshold_words(threshold: "abstain.thresholds.Threshold") -> str:
    if threshold.value == -float("inf"):
        return f"always accepted ({threshold.n:,} rows)"
    if threshold.value == float("inf"):
        return f"always rejected, since {threshold.n} rows certify nothing"
    return f"accept above {threshold.value:.6g} ({threshold.accepted / threshold.n:.1%} of {threshold.n} rows)"


def _rates(options: list[str] | None) -> dict[str, float] | None:
    """Rates by class, of options such as fraud=0.05."""
    from abstain._arguments import written_number

    rates = {}
    for option in options or ():
        name, equals, share = option.rpartition("=")
        if name in rates:
            raise InvalidInputError(f"`--miss-rate` must be given once for a class, got {name} twice.")
        try:
            rates[name] = written_number(share)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise InvalidInputError(f"`--miss-rate` must be a class and a share, such as fraud=0.05, got {option!r}.")
    return rates or None
