"""A selector or a cascade, whichever a file holds."""

from os import PathLike

from abstain._arguments import as_path
from abstain._io.files import reading
from abstain._io.sealed import kind_of
from abstain.selector.cascades.cascade import Cascade
from abstain.selector.cascades.file import CASCADE_FILE
from abstain.selector.selector import Selector


def load_selector(file: str | PathLike[str], /) -> Selector | Cascade:
    """What `Selector.save` or `Cascade.save` wrote.

    Parameters
    ----------
    file : path
        The path.

    Returns
    -------
    Selector or Cascade
        Whichever the file holds.
    """
    path = as_path("file", file)
    with reading(path, "a selector or a cascade"):
        contents = path.read_bytes()
    return Cascade.load(path) if kind_of(contents) == CASCADE_FILE.kind else Selector.load(path)


def certifying_selector(decider: Selector | Cascade, /) -> Selector:
    """A selector itself; of a cascade the one that decides on its combined outputs."""
    return decider.selector if isinstance(decider, Cascade) else decider
