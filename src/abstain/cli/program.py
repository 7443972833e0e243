"""The name under which this program can be called again, for commands that are printed to be copied."""

import os
import shutil
import sys
from pathlib import Path
from shlex import quote

NAME = "abstain"


def program() -> str:
    """``abstain`` where a shell finds this installation under that name, else its path."""
    here = Path(sys.executable).with_name(NAME)
    found = shutil.which(NAME)
    if not here.exists():
        return NAME if found else f"{quote(sys.executable)} -m {NAME}"
    if found and Path(found).samefile(here):
        return NAME
    near = os.path.relpath(here)
    return quote(str(here) if near.startswith("..") else near)
