"""`abstain reproduce`: the experiments of the paper, which are a package of their own."""

import typer

from abstain._errors import MissingExtraError

GROUP = "abstain.commands"


def reproduce(context: typer.Context) -> None:
    """Run an experiment of the paper, or list them. In a checkout of the repository: scripts/reproduce.

    Example: abstain reproduce digits
    """
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP, name="reproduce"):
        command = typer.main.get_command(entry.load())
        command.main(context.args, prog_name=context.command_path, standalone_mode=False)
        return
    raise MissingExtraError(
        "`abstain reproduce` needs the package abstain-reproduction, which is not part of the library. "
        "In a checkout of the repository run: pip install ./reproduction"
    )
