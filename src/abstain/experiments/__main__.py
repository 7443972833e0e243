"""`python -m abstain.experiments …`: the commands that bring the packages which an experiment lacks.

The arguments are those of `abstain reproduce`, in any order.
"""

import sys
from collections.abc import Sequence

from abstain.experiments.packages import commands
from abstain.experiments.registry import EXPERIMENTS

FLAGS = ("--paper-code", "--long", "--json", "--help", "-h")
"""Options that no value follows."""


def name_among(arguments: Sequence[str], /) -> str | None:
    """The first argument that is neither an option nor the value of one."""
    before = ""
    for argument in arguments:
        is_value = before.startswith("-") and before not in FLAGS and "=" not in before
        if not argument.startswith("-") and not is_value:
            return argument
        before = argument
    return None


if __name__ == "__main__" and (name := name_among(sys.argv[1:])) in EXPERIMENTS:
    print(" &&\n".join(commands(EXPERIMENTS[name].needs)))
