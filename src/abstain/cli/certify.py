"""`abstain certify`: what a selector guarantees, whether fresh rows agree, and whether a certificate still holds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, final

import typer

from abstain._errors import InvalidInputError, MissingFileError
from abstain.cli.inputs import stage_outputs, warn_unused
from abstain.cli.options import Json, refuse
from abstain.cli.printing import print_json, say

if TYPE_CHECKING:
    from abstain.outputs import Outputs
    from abstain.selector import Cascade, Selector
    from abstain.selector.audited_decisions import AuditedDecisions
    from abstain.selector.certificate import Certificate

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
    json: Json = False,
) -> None:
    """Test a guarantee on fresh labelled outputs. The certificate states what a selector guarantees, and on what data.

    Of decisions that `abstain select --audit` wrote, with the column error filled in, the audited rows test the risk.

    Exit code 0: nothing contradicts the guarantee. Exit code 3: it is refuted, the verdict is weaker than --require,
    or with --check the certificate no longer holds.

    Example: abstain certify s.abstain --on fresh/ -o certificate.json
    """
    from abstain._io.files import check_output_path, write_text

    if output is not None:
        _writer(output)
        check_output_path(output)
    old = None if check is None else _read(check)
    new = _certificate(selector, on, options, old)
    if output is not None:
        write_text(output, _writer(output)(new))
    missing = None if options.require is None or new.is_at_least(options.require) else options.require
    if old is None:
        _print(new, output, json)
        holds = new.verdict != "refuted"
    else:
        holds = _print_changes(old, new, json)
    if missing is not None:
        typer.echo(f"`--require` needs the verdict {missing!r}, got {new.verdict!r}.", err=True)
    raise typer.Exit(0 if holds and missing is None else BROKEN)


def _read(file: Path) -> "Certificate":
    from abstain._io.files import read_text
    from abstain.selector.certificate import Certificate

    return Certificate.from_json(read_text(file, "a certificate"), location=str(file))


def _certificate(
    selector: Path | None, on: list[Path] | None, options: VerdictOptions, old: "Certificate | None"
) -> "Certificate":
    """Made of the files named, or else of those of the old certificate."""
    from abstain.selector import load_selector
    from abstain.selector.certify import certify as certify_selector

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
    return certify_selector(loaded, fresh, level=level, sources=sources)


def _named(on: list[Path] | None) -> dict[str, Path]:
    """The files of fresh rows by their names in a certificate: on, then on 2 and so on for the models of a cascade."""
    return {ON if number == 1 else f"{ON} {number}": path for number, path in enumerate(on or (), start=1)}


def _fresh(
    loaded: "Selector | Cascade", files: list[Path], group: str | None
) -> "Outputs | list[Outputs] | AuditedDecisions":
    """The rows to test on: of each model for a cascade, unless they are decisions."""
    from abstain.selector import Cascade

    if not isinstance(loaded, Cascade):
        if len(files) > 1:
            raise InvalidInputError(f"`--on` must be given once for a selector, got {len(files)}.")
        _check_audited(loaded, files[0])
        return _fresh_rows(files[0], loaded.certified_column or group)
    refuse({"--group-column": group}, "be left out with a cascade")
    if len(files) == 1 and _are_decisions(files[0]):
        return _fresh_rows(files[0], None)
    return stage_outputs(loaded, files, what="--on")


def _are_decisions(file: Path) -> bool:
    """Whether a table has the decisions of `abstain select --audit`."""
    from abstain.decision_log import is_log
    from abstain.outputs.columns import SUFFIXES, names_of
    from abstain.selector.audited_decisions import COLUMNS

    is_table = file.is_file() or is_log(file)
    return is_table and file.suffix.lower() in SUFFIXES and set(COLUMNS) <= set(names_of(file))


def _check_audited(loaded: "Selector", file: Path) -> None:
    """Refuse decisions without an audit of a selector of classes, whose outputs they do not have."""
    from abstain.outputs.columns import SUFFIXES, names_of

    if not loaded.n_classes or not file.is_file() or file.suffix.lower() not in SUFFIXES or _are_decisions(file):
        return
    if {"confidence", "accepted"} <= set(names_of(file)):
        raise InvalidInputError(
            f"`{file}` must be labelled outputs, or decisions with an audit, got decisions without one. Give the "
            "outputs that were decided, with their labels, or run `select` or `serve` with --audit."
        )


def _fresh_rows(file: Path, group: str | None) -> "Outputs | AuditedDecisions":
    """Labelled outputs, or decisions with an audit."""
    import abstain
    from abstain.decision_log import is_log, read_log
    from abstain.outputs.table import read_decisions
    from abstain.selector.audited_decisions import AuditedDecisions

    if _are_decisions(file):
        return AuditedDecisions.of(*read_decisions(file).values())
    if is_log(file) and None in read_log(file).get("error", [None]):
        raise InvalidInputError(
            f"`{file}` must have an audit or a label for every decision, got decisions without a label. Run `serve` or "
            "`select` with --audit: labels that come for other reasons, such as complaints, would mislead."
        )
    column = None if _names_groups(file, group) else group
    rows = abstain.Outputs.load(file, nonfinite="reject", group=column)
    warn_unused(file, group=column)
    return rows


def _names_groups(file: Path, column: str | None) -> bool:
    """Whether a table has a column `group`, as `abstain select` calls it, and not the column of the selector."""
    from abstain.outputs.columns import SUFFIXES, names_of

    names = names_of(file) if file.is_file() and file.suffix.lower() in SUFFIXES else ()
    return column not in names and "group" in names


def _check_sources(sources: dict[str, str]) -> None:
    """The files that a certificate names exist."""
    for name, file in sources.items():
        if not Path(file).exists():
            raise MissingFileError(
                f"`{file}`, named in the certificate, must exist, got no such file in {Path.cwd()}. "
                f"Run this where the certificate was made, or give {'SELECTOR' if name == 'selector' else '--on'}."
            )


def _writer(output: Path) -> Callable[["Certificate"], str]:
    """What writes a file of this suffix."""
    from abstain._io.files import check_suffix
    from abstain.selector.certificate_page import certificate_markdown, certificate_page

    writers = {".json": lambda new: new.to_json(), ".md": certificate_markdown, ".html": certificate_page}
    check_suffix("--output", output, writers)
    return writers[output.suffix.lower()]


def _print(new: "Certificate", output: Path | None, json: bool) -> None:
    from abstain.selector.certificate_words import summary_lines

    if json:
        print_json(new.to_dict())
        return
    for line in summary_lines(new):
        say(line)
    if output is not None:
        say(f"Certificate: {output}")


def _print_changes(old: "Certificate", new: "Certificate", json: bool) -> bool:
    """Whether the certificate still holds, printed with what has changed."""
    from abstain.selector.certificate_changes import changes
    from abstain.selector.certificate_words import verdict_words

    changed = changes(old, new)
    if json:
        print_json({"stands": changed.stands, "breaks": list(changed.breaks), "notices": list(changed.notices)})
        return changed.stands
    say(f"The certificate {'holds' if changed.stands else 'is BROKEN'}.")
    say(f"- verdict: {verdict_words(new)}")
    for text in changed.breaks:
        say(f"- broken: {text}")
    for text in changed.notices:
        say(f"- notice: {text}")
    return changed.stands
