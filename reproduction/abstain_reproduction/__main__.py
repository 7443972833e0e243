"""`python -m abstain_reproduction …`: print the commands that fetch the packages of an experiment.

The arguments are those of `abstain reproduce`, in any order.
"""

import sys
from collections.abc import Sequence

from abstain_reproduction.claim_runs import claim_experiments
from abstain_reproduction.packages import Package, commands
from abstain_reproduction.registry import EXPERIMENTS

FLAGS = ("--amp", "--paper-code", "--long", "--run", "--json", "--help", "-h")
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


def needed(name: str | None, /) -> Sequence[Package]:
    """The packages that an experiment reads, or with `claims` all that test claims."""
    if name == "claims":
        return list(dict.fromkeys(package for each in claim_experiments() for package in each.needs))
    return EXPERIMENTS[name].needs if name in EXPERIMENTS else ()


if __name__ == "__main__" and (lines := commands(needed(name_among(sys.argv[1:])))):
    print(" &&\n".join(lines))
