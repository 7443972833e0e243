"""The rows that a selector was calibrated on, as few hashes, which recognise them in any order and any part of them."""

from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.outputs.hashes import Hashes, hashed, hashed_rows
from abstain.selector.hash_sample import LEVEL, HashSample

HALF = np.uint64(32)
SALT = 0x7365656E20726F77
NAMED = 0x6E616D6520616C6F  # of ids whose rows are known by them alone


@final
@dataclass(frozen=True)
class SeenRows:
    """Rows that chose a score, fitted it or set its threshold."""

    ids: HashSample | None
    """None where there are none, or numbers, which other rows may have too; under a salt of their own where contents
    are not known."""
    contents: HashSample | None
    """Of logits, or of given confidences where there are no logits; None where they are not known."""
    named: HashSample | None = None
    """Of ids, in the upper half, and contents, in the lower, where both are known."""

    @classmethod
    def of(cls, outputs: Outputs, /) -> Self:
        """Of all rows of these outputs."""
        contents, pairs = row_hashes(outputs)
        ids, named = (None if hashes is None else HashSample.of(hashes) for hashes in (id_hashes(outputs.ids), pairs))
        return cls(ids, HashSample.of(contents), named)

    def compared(self, outputs: Outputs, /) -> tuple[str, ...]:
        """By what seen rows among these would be recognised: their ids, if none is in common, and their contents."""
        by_ids = self.ids is not None and id_hashes(outputs.ids) is not None and not self.namesakes(outputs)
        return (*(["ids"] if by_ids else []), *([] if self.contents is None else ["contents"]))

    def namesakes(self, outputs: Outputs, /) -> float:
        """About the share of these rows whose ids were seen, whatever their contents."""
        names = id_hashes(outputs.ids)
        return 0.0 if self.ids is None or names is None else self.ids.share(names)

    def check_unseen(self, outputs: Outputs, /, *, name: str, advice: str) -> None:
        """Refuse rows some of which were seen."""
        if share := self.share(outputs):
            raise InvalidInputError(
                f"`{name}` must be rows that the selector has not seen, got about "
                f"{max(1, round(share * len(outputs))):,} of {len(outputs):,} that calibrated it. {advice}"
            )

    def share(self, outputs: Outputs, /) -> float:
        """About the share of these rows that were seen; 0 unless it is certain that some were.

        An id is a name, which other samples of another folder may have: where contents are known, the id must come with
        its own, more often than ties explain.
        """
        named, alone = self.namesakes(outputs), id_hashes(outputs.ids, salt=NAMED)
        if self.ids is not None and alone is not None and (share := self.ids.share(alone)):
            return share
        if self.contents is None:
            return named
        contents, pairs = row_hashes(outputs)
        by_contents = self.contents.share(contents) if self.contents.is_beyond_ties(contents) else 0.0
        if self.named is None or pairs is None or not self._keep_their_names(pairs, contents):
            return by_contents
        return max(by_contents, self.named.share(pairs))

    def _keep_their_names(self, pairs: Hashes, contents: Hashes) -> bool:
        """Whether other rows would, with probability at most 10⁻⁶, so often have an id and its contents in common.

        A row has the contents of its namesakes no more often than those of any other row of its file, even where names
        tell the class. Where all namesakes agree, one a name, two rows of a file measure chance.
        """
        assert self.named is not None
        assert self.contents is not None
        fresh, known = np.unique(self.named.comparable(pairs)), self.named.values
        namesakes = fresh[np.isin(fresh >> HALF, known >> HALF)]
        same = int(np.isin(namesakes, known).sum())
        files = (self.contents, HashSample.of(contents))
        if same and bdtrc(same - 1, len(namesakes), max(file.tied for file in files)) <= LEVEL:
            return True
        agree = 0 < same == len(namesakes) and _is_one_per_id(self.named) and _is_one_per_id(HashSample.of(pairs))
        return agree and max(file.collision for file in files) ** same <= LEVEL


def _is_one_per_id(named: HashSample) -> bool:
    return len(np.unique(named.values >> HALF)) == sum(named.counts)


def seen_with(before: SeenRows | None, ids: tuple[str, ...], /) -> SeenRows | None:
    """The rows seen before, which chose the score, and labelled rows by their ids."""
    names = id_hashes(np.array(ids), salt=NAMED)
    if names is None:
        return before
    old = SeenRows(None, None) if before is None else before
    return replace(old, ids=HashSample.of(names).joined(old.ids))


def id_hashes(ids: NDArray[Any] | None, /, *, salt: int = SALT) -> Hashes | None:
    """(n,) a hash of each id; None where all are numbers, since those of rows in a file name others in another."""
    if ids is None:
        return None
    names = np.asarray(ids).astype(str)
    return None if np.char.isdecimal(names).all() else hashed(names, salt=salt)


def row_hashes(outputs: Outputs, /) -> tuple[Hashes, Hashes | None]:
    """Hashes of the contents of usable rows, those of one id and the same contents once, and of both together.

    The second has a row's id in its upper half and its contents in its lower; None where ids are none or numbers.
    """
    contents = _content_hashes(outputs)
    if outputs.ids is None:
        return contents, None
    names = hashed(np.asarray(outputs.ids).astype(str)[outputs.usable], salt=SALT)
    both = names >> HALF << HALF | contents >> HALF
    return contents[np.unique(both, return_index=True)[1]], None if id_hashes(outputs.ids) is None else both


def _content_hashes(outputs: Outputs) -> Hashes:
    """A hash of the logits of each usable row, or of its given confidences, to single precision."""
    rows: Any = outputs.source("logits")
    if not outputs.n_classes:
        assert outputs.confidences is not None
        rows = outputs.confidences[:, np.argsort(outputs.confidence_names)]
    return hashed_rows(rows, salt=SALT)[outputs.usable]
