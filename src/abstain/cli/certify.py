"""`abstain certify`: what a selector guarantees, whether fresh rows agree, and whether a certificate still holds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, final

import typer

import abstain
from abstain._errors import InvalidInputError, MissingFileError
from abstain._io.files import check_output_path, check_suffix, read_text, write_text
from abstain.cli.inputs import stage_outputs, table_columns, warn_unused
from abstain.cli.options import refuse
from abstain.cli.printing import Result, warn

BROKEN = 3
ON = "on"  # how the sources of fresh rows begin in a certificate


@final
@dataclass(frozen=True, kw_only=True)
class VerdictOptions:
    """How the guarantee is tested, and what passes."""

    level: Annotated[float | None, typer.Option(help="Probability of refuting a guarantee that holds. [0.05]")] = None
    require: Annotated[
        Literal["consistent", "confirmed"] | None,
        typer.Option(help="The weakest verdict that passes: exit 3 on a weaker one, such as too little data."),
    ] = None
    group_column: Annotated[
        str | None, typer.Option(help="The column of --on that names groups, to test each of them. [group]")
    ] = None


def certify(
    options: VerdictOptions,
    selector: Annotated[
        Path | None, typer.Argument(help="A selector or cascade file. [with --check, that of the certificate]")
    ] = None,
    on: Annotated[
        list[Path] | None,
        typer.Option(
            help="Fresh labelled outputs, or decisions with an audit, to test the guarantee on; for a cascade, "
            "repeat it with the outputs of each model."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the certificate here (.json, .md or .html).")
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="A certificate (.json): make it again, and exit 3 if it no longer holds.")
    ] = None,
) -> Result:
    """Test a guarantee on fresh labelled outputs. The certificate states what a selector guarantees, and on what data.

    Of decisions that `abstain select --audit` wrote, with the column error filled in, the audited rows test the risk.

    Exit code 0: nothing contradicts the guarantee. Exit code 3: it is refuted, the verdict is weaker than --require,
    or with --check the certificate no longer holds.

    Example: abstain certify s.abstain --on fresh/ -o certificate.json
    """
    if output is not None:
        _writer(output)
        check_output_path(output)
    old = (
        None if check is None else abstain.Certificate.from_json(read_text(check, "a certificate"), location=str(check))
    )
    new = _certificate(selector, on, options, old)
    if output is not None:
        write_text(output, _writer(output)(new))
    document, lines, holds = _findings(new, output) if old is None else _changes(old, new)
    if options.require is not None and not new.is_at_least(options.require):
        holds = False
        warn(f"`--require` needs the verdict {options.require!r}, got {new.verdict!r}.")
    return Result(document, lines, 0 if holds else BROKEN)


def _certificate(
    selector: Path | None, on: list[Path] | None, options: VerdictOptions, old: "abstain.Certificate | None"
) -> "abstain.Certificate":
    """Made of the files named, or else of those of the old certificate."""
    from abstain.selector import load_selector

    given = ({} if selector is None else {"selector": selector}) | _named(on)
    sources = {} if old is None else {k: v for k, v in old.sources.items() if not (on and k.startswith(ON))}
    sources |= {name: str(path) for name, path in given.items()}
    if "selector" not in sources:
        raise InvalidInputError(
            "`SELECTOR` must be given, got none. Name a selector file, or a certificate to --check."
        )
    level = options.level
    if level is None:
        level = 0.05 if old is None or old.fresh is None else old.fresh.level
    _check_sources({name: file for name, file in sources.items() if name not in given})
    loaded = load_selector(sources["selector"])
    files = [Path(file) for name, file in sources.items() if name.startswith(ON)]
    fresh = _fresh(loaded, files, options.group_column) if files else None
    return abstain.certify(loaded, fresh, level=level, sources=sources)


def _named(on: list[Path] | None) -> dict[str, Path]:
    """The files of fresh rows by their names in a certificate: on, then on 2 and so on for the models of a cascade."""
    return {ON if number == 1 else f"{ON} {number}": path for number, path in enumerate(on or (), start=1)}


def _fresh(loaded: "abstain.Selector | abstain.Cascade", files: list[Path], group: str | None) -> Any:
    """The rows to test on: decisions with an audit, or labelled outputs, of each model for a cascade."""
    from abstain.decision_log import is_log, read_log
    from abstain.outputs.table import read_decisions
    from abstain.selector.audited_decisions import COLUMNS, AuditedDecisions

    file, names = files[0], {*table_columns(files[0])}
    if isinstance(loaded, abstain.Cascade):
        refuse({"--group-column": group}, "be left out with a cascade")
    elif len(files) > 1:
        raise InvalidInputError(f"`--on` must be given once for a selector, got {len(files)}.")
    if len(files) == 1 and names >= {*COLUMNS}:
        refuse({"--group-column": group}, "be left out with decisions that have an audit")
        return AuditedDecisions.of(*read_decisions(file).values())
    if isinstance(loaded, abstain.Cascade):
        return stage_outputs(loaded, files, what="--on")
    if loaded.n_classes and file.is_file() and names >= {"confidence", "accepted"}:
        raise InvalidInputError(
            f"`{file}` must be labelled outputs, or decisions with an audit, got decisions without one. Give the "
            "outputs that were decided, with their labels, or run `select` or `serve` with --audit."
        )
    if is_log(file) and None in read_log(file).get("error", [None]):
        raise InvalidInputError(
            f"`{file}` must have an audit or a label for every decision, got decisions without a label. Run `serve` or "
            "`select` with --audit: labels that come for other reasons, such as complaints, would mislead."
        )
    column = group or loaded.certified_column
    if group is None and column not in names and "group" in names:  # which `select` calls it
        column = None
    rows = abstain.Outputs.load(file, nonfinite="reject", group=column)
    warn_unused(file, group=column)
    return rows


def _check_sources(sources: dict[str, str]) -> None:
    """The files that a certificate names exist."""
    for name, file in sources.items():
        if not Path(file).exists():
            raise MissingFileError(
                f"`{file}`, named in the certificate, must exist, got no such file in {Path.cwd()}. "
                f"Run this where the certificate was made, or give {'SELECTOR' if name == 'selector' else '--on'}."
            )


def _writer(output: Path) -> Callable[["abstain.Certificate"], str]:
    """What writes a file of this suffix."""
    from abstain.selector.certificate_page import certificate_markdown, certificate_page

    writers = {".json": lambda new: new.to_json(), ".md": certificate_markdown, ".html": certificate_page}
    check_suffix("--output", output, writers)
    return writers[output.suffix.lower()]


def _findings(new: "abstain.Certificate", output: Path | None) -> tuple[Any, list[str], bool]:
    """A new certificate as a document and lines, and whether it holds."""
    from abstain.selector.certificate_words import summary_lines

    written = [] if output is None else [f"Certificate: {output}"]
    return new.to_dict(), [*summary_lines(new), *written], new.verdict != "refuted"


def _changes(old: "abstain.Certificate", new: "abstain.Certificate") -> tuple[Any, list[str], bool]:
    """What has changed, in the same form."""
    from abstain.selector.certificate_changes import changes
    from abstain.selector.certificate_words import verdict_words

    changed = changes(old, new)
    lines = [
        f"The certificate {'holds' if changed.stands else 'is BROKEN'}.",
        f"- verdict: {verdict_words(new)}",
        *(f"- broken: {text}" for text in changed.breaks),
        *(f"- notice: {text}" for text in changed.notices),
    ]
    return {"stands": changed.stands, "breaks": changed.breaks, "notices": changed.notices}, lines, changed.stands
