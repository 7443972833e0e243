"""One of several processes that share a run, such as one for each graphics card."""

from typing import NamedTuple, Self


class Part(NamedTuple):
    """The part ``number`` (from 1) of a run in ``of`` parts: every ``of``-th shard."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str, /) -> Self:
        """From 2/4."""
        number, slash, of = text.partition("/")
        if slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of):
            return cls(int(number), int(of))
        raise ValueError(f"`part` must be NUMBER/OF with a number from 1 to OF, such as 2/4, got {text!r}.")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
