"""Write the table of commands in docs/commands.md, from the commands themselves."""

import re
from pathlib import Path

from abstain.cli.app import command_functions
from abstain.cli.help import commands_table

PAGE = Path(__file__).with_name("commands.md")
TABLE = re.compile(r"^\| for example \|.*?(?=^[^|])", re.DOTALL | re.MULTILINE)


def main() -> None:
    """Replace the table; the text around it stays."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda _: f"{commands_table(command_functions())}\n", text, count=1), encoding="utf-8")


if __name__ == "__main__":
    main()
