"""`abstain certify`: what a selector promises, whether fresh rows agree, and whether that still stands."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from abstain.cli.options import Json
from abstain.cli.show import print_json, say
from abstain.cli.unused_columns import tell_unused

if TYPE_CHECKING:
    from abstain.selector.certificate import Certificate

BROKEN = 3


def certify(
    selector: Annotated[
        Path | None, typer.Argument(help="A selector file; with --check that of the certificate.")
    ] = None,
    on: Annotated[Path | None, typer.Option(help="Fresh labelled outputs to test the promise on.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the certificate here (.json, .md or .html).")
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="A certificate as .json: make it again, and exit 3 if it does not stand.")
    ] = None,
    level: Annotated[
        float | None, typer.Option(help="Probability with which a kept promise may be called refuted, 0.05 by default.")
    ] = None,
    require: Annotated[
        Literal["consistent", "confirmed"] | None,
        typer.Option(help="The weakest verdict that passes: exit 3 on one that says less, such as too little data."),
    ] = None,
    json: Json = False,
) -> None:
    """Write down what a selector promises and on what data, and test it on fresh labelled outputs.

    Exit code 0: nothing speaks against the promise; 3: it is refuted, the verdict is weaker than --require, or with
    --check the certificate does not stand.

    Example: abstain certify s.abstain --on fresh/ -o certificate.json
    """
    from abstain.files import check_goal

    if output is not None:
        _writer(output)
        check_goal(output)
    old = None if check is None else _read(check)
    new = _certificate(selector, on, level, old)
    if output is not None:
        from abstain.files import write_text

        write_text(output, _writer(output)(new))
    if old is None:
        _tell(new, output, json)
    missing = None if require is None or new.is_at_least(require) else require
    stands = new.verdict != "refuted" if old is None else _tell_changes(old, new, missing, json)
    if missing is not None and (old is None or json):
        typer.echo(f"Required is a verdict of {missing!r}, got {new.verdict!r}.", err=True)
    raise typer.Exit(0 if stands and missing is None else BROKEN)


def _read(file: Path) -> "Certificate":
    from abstain.files import read_text
    from abstain.selector.certificate import Certificate

    return Certificate.from_json(read_text(file, "a certificate"), place=str(file))


def _certificate(
    selector: Path | None, on: Path | None, level: float | None, old: "Certificate | None"
) -> "Certificate":
    """Made of the files named, or else of those of the old certificate."""
    import abstain
    from abstain.selector.certify import certify as certified

    sources = {} if old is None else dict(old.sources)
    sources |= {name: str(path) for name, path in (("selector", selector), ("on", on)) if path is not None}
    if "selector" not in sources:
        raise ValueError("`SELECTOR` must be named, got none. With --check that of the certificate is taken.")
    if level is None:
        level = 0.05 if old is None or old.fresh is None else old.fresh.level
    _check_named({} if old is None else old.sources, {"selector": selector, "on": on})
    chosen, fresh = abstain.Selector.load(sources["selector"]), None
    if "on" in sources:
        fresh = abstain.Outputs.load(sources["on"], nonfinite="reject", group=chosen.group_column)
        tell_unused(Path(sources["on"]), group=chosen.group_column)
    return certified(chosen, fresh, level=level, sources=sources)


def _check_named(sources: dict[str, str], others: dict[str, Path | None]) -> None:
    """The files that a certificate names are there, where no others are named."""
    for name, file in sources.items():
        if others.get(name) is None and not Path(file).exists():
            raise FileNotFoundError(
                f"`{file}`, named in the certificate, must be there, got no such file from the folder {Path.cwd()}. "
                f"Run it where the certificate was made, or name {'SELECTOR' if name == 'selector' else '--on'} anew."
            )


def _writer(output: Path) -> Callable[["Certificate"], str]:
    """What writes a file of this ending."""
    from abstain.report.certificate_markdown import certificate_markdown
    from abstain.report.certificate_page import certificate_page

    writers = {".json": lambda found: found.to_json(), ".md": certificate_markdown, ".html": certificate_page}
    if output.suffix.lower() not in writers:
        raise ValueError(f"`--output` must end in .json, .md or .html, got {output.name}.")
    return writers[output.suffix.lower()]


def _tell(new: "Certificate", output: Path | None, json: bool) -> None:
    from abstain.selector.certificate_words import summary_lines

    if json:
        print_json(new.to_dict())
        return
    for line in summary_lines(new):
        say(line)
    if output is not None:
        say(f"Certificate in {output}")


def _tell_changes(old: "Certificate", new: "Certificate", missing: str | None, json: bool) -> bool:
    """Whether the certificate stands, told beside the verdict that is required and ``missing``."""
    from abstain.selector.certificate_check import changes
    from abstain.selector.certificate_words import verdict_words

    found = changes(old, new)
    if json:
        print_json({"stands": found.stands, "breaks": list(found.breaks), "notices": list(found.notices)})
    else:
        words, link = ("stands", "but") if found.stands else ("is BROKEN", "and")
        words += f", {link} is only {new.verdict!r} where {missing!r} is required" if missing else ""
        say(f"The certificate {words}. {verdict_words(new)}")
        for words in found.breaks:
            say(f"  broken: {words}")
        for words in found.notices:
            say(f"  notice: {words}")
    return found.stands
