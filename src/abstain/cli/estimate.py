"""`abstain estimate`: accuracy and risk of a selector on outputs without labels."""

from pathlib import Path
from typing import Annotated

import typer

import abstain
from abstain.cli.inputs import decided_rows, warn_unused
from abstain.cli.options import DeciderFile, GroupColumn
from abstain.cli.printing import Lines, Result, small_table


def estimate(
    selector: DeciderFile,
    outputs: Annotated[
        list[Path],
        typer.Argument(help="New outputs; for a cascade, one for each model. Labels in them are ignored."),
    ],
    reference: Annotated[
        list[Path],
        typer.Option(
            help="Labelled outputs from before the shift, such as those of calibration; for a cascade, repeat."
        ),
    ],
    method: Annotated[
        list[str] | None, typer.Option(help="A method; repeat. The first gives the reported estimate. [all]")
    ] = None,
    group_column: GroupColumn = None,
) -> Result:
    """Estimate risk and accuracy without labels. Several methods are used; none gives a guarantee.

    Each method assumes something about the shift that only labels can check; the spread between them shows how much
    that matters here. Coverage is counted.

    Example: abstain estimate s.abstain new/ --reference run/
    """
    from abstain.selector.cascades.loading import certifying_selector, load_selector

    decider = load_selector(selector)
    loaded = certifying_selector(decider)
    column = loaded.group_column or group_column
    known = decided_rows(decider, reference, what="--reference", group=column)
    new = decided_rows(decider, outputs, group=column)
    result = abstain.estimate_risk(loaded, new, reference=known, methods=method)
    warn_unused(*reference, *outputs, group=column)
    return Result(result.to_dict(), _lines(result))


def _lines(result: "abstain.RiskEstimate") -> Lines:
    columns = ("mean loss of accepted", "1 − mean loss of all") if result.is_graded else ("risk", "accuracy")
    titles = {name: method.title for name, method in abstain.monitor.RISK_METHODS.items()}
    rows = [(f"{each.method} ({titles[each.method]})", each.risk, each.accuracy) for each in result.estimates]
    rows.append(("reference rows, observed", result.reference.risk, result.reference.accuracy))
    yield small_table(("method", *columns), [(name, f"{risk:.1%}", f"{right:.1%}") for name, risk, right in rows])
    yield from (f"- {line}" for line in result.lines())
    yield from (f"- {name} is left out: {reason}." for name, reason in result.left_out.items())
