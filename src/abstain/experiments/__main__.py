"""`python -m abstain.experiments NAME`: the commands that bring the packages which an experiment lacks."""

import sys

from abstain.experiments.packages import commands
from abstain.experiments.registry import EXPERIMENTS

if (name := "".join(sys.argv[1:2])) in EXPERIMENTS:
    print(" &&\n".join(commands(EXPERIMENTS[name].needs)))
