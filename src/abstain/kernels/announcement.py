"""Whoever waits at a terminal or in a notebook is told, once, that kernels are being compiled."""

import sys
from typing import Any, final

from numba.core import event

WORDS = (
    "abstain: compiling its kernels, once for this installation: about half a minute. "
    "`python -m abstain.kernels` does it beforehand."
)


@final
class Announcement(event.Listener):
    """Prints to standard error when the first kernel of ours is compiled; one that is on disk is not."""

    is_made = False

    def on_start(self, event: Any) -> None:
        """A kernel is about to be compiled."""
        module = str(getattr(getattr(event.data.get("dispatcher"), "py_func", None), "__module__", ""))
        if not self.is_made and module.startswith("abstain.") and _is_watched():
            self.is_made = True
            print(WORDS, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())


def announce_compiling() -> None:
    """From now on."""
    event.register("numba:compile", Announcement())
