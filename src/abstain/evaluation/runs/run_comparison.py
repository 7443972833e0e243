"""`RunComparison`: what sets two models apart after rejection, as plain data and in words."""

from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any, final

from abstain._arguments import as_path
from abstain._io.files import write_text
from abstain.evaluation.runs.mix_comparison import MixComparison
from abstain.evaluation.runs.run_words import RunWords
from abstain.metrics.two_models import TwoModels


@final
@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Two models on the same samples, mix by mix, the widest last.

    Attributes
    ----------
    names : tuple
        The names of the models.
    scores : tuple
        The score of each.
    mixes : tuple of MixComparison
        The two models on each mix.
    notes : tuple of str
        What a reader should know.
    level : float
        The level of the intervals.
    models : dict of TwoModels
        By mix, the rankings that the curves are drawn from.
    """

    names: tuple[str, str]
    scores: tuple[str, str]
    mixes: tuple[MixComparison, ...]
    notes: tuple[str, ...]
    level: float
    models: dict[str, TwoModels] = field(repr=False)

    def mix(self, name: str | None = None, /) -> MixComparison:
        """The comparison on a mix, by default the widest."""
        return self.mixes[-1] if name is None else next(each for each in self.mixes if each.mix == name)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `abstain compare --json` prints it."""
        return {
            "names": list(self.names),
            "scores": list(self.scores),
            "words": self.words(),
            "mixes": [asdict(mix) for mix in self.mixes],
            "notes": list(self.notes),
            "level": self.level,
        }

    def to_html(self, file: str | PathLike[str], /) -> None:
        """Write one self-contained page to an .html file."""
        from abstain.evaluation.runs.page import comparison_page

        write_text(as_path("file", file), comparison_page(self))

    def words(self, mix: str | None = None, /) -> str:
        """Which is better after rejection, at the same coverage and at the same risk."""
        return " ".join(self.sentences(mix))

    def sentences(self, mix: str | None = None, /) -> list[str]:
        """The sentences, the verdict first; for the widest mix also which mixes have another verdict."""
        words, comparison = RunWords(self.names, self.level, tuple(each.mix for each in self.mixes)), self.mix(mix)
        others = [each for each in self.mixes if each is not comparison] if comparison is self.mix() else []
        return [*words.sentences(comparison), *words.otherwise(comparison, others)]
