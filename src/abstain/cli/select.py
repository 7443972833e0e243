"""`abstain select`: decisions on outputs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.options import Json
from abstain.cli.sharded import Address, Engine, Workers, check_in_memory, is_sharded, rows_bar
from abstain.cli.show import print_json, say

if TYPE_CHECKING:
    from abstain.engines import Selected
    from abstain.selector import Selector


def select(
    selector: Annotated[Path, typer.Argument(help="A selector file.")],
    outputs: Annotated[
        list[str], typer.Argument(help="Outputs to decide on, or many Parquet files; labels are not needed.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .csv or .parquet file to write; of many Parquet files a folder.")
    ],
    engine: Engine = None,
    workers: Workers = None,
    address: Address = None,
    json: Json = False,
) -> None:
    """Decide for each sample whether to accept the prediction: id, prediction, confidence, accepted, reason, error.

    The reason says in words why a sample is rejected; the error is there if labels are.

    Where the outputs have no ids, rows get names that no other outputs have: a digest of these, and the row's number.

    Of many Parquet files each gets a file of decisions in the folder; called again, it goes on where it stopped.

    Example: abstain select selector.abstain run/ -o decisions.csv
    """
    import abstain
    import abstain.engines

    chosen = abstain.Selector.load(selector)
    if is_sharded(outputs, engine):
        with rows_bar() as progress:
            found = abstain.engines.select(
                chosen,
                outputs,
                output,
                engine=engine or "local",
                workers=workers,
                address=address,
                progress=progress,
            )
    else:
        check_in_memory(workers=workers, address=address)
        found = _in_memory(chosen, Path(outputs[0]), Path(output))
    if json:
        print_json({"n": found.n, "accepted": found.accepted, "decisions": output})
        return
    if found.unseen:
        names = ", ".join(found.unseen)
        say(f"{found.unseen.total()} samples are of groups that calibration did not have, and rejected: {names}.")
    known = "" if found.wrong is None else f", {found.wrong} of them wrong"
    say(
        f"Accepted {found.accepted} of {found.n} samples ({found.accepted / found.n:.1%}){known}; decisions in {output}"
    )


def _in_memory(selector: "Selector", outputs: Path, output: Path) -> "Selected":
    from collections import Counter

    import abstain
    from abstain.engines import Selected
    from abstain.report.table_file import COLUMNS, check_table, write_columns

    check_table(output, COLUMNS)
    run = abstain.Outputs.load(outputs, nonfinite="reject", group=selector.group_column)
    columns = {name: values.tolist() for name, values in selector.decide(run).items()}
    write_columns(columns, output)
    both = zip(columns.get("error", ()), columns["accepted"], strict=False)
    wrong = sum(wrong and taken for wrong, taken in both) if "error" in columns else None
    return Selected(len(run), sum(columns["accepted"]), wrong, Counter(selector.unseen(run)))
