"""`select`: the decisions of a selector on Parquet files, a file of decisions for each, on any engine."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self, final

from abstain.engines.data import ParquetData, Portion
from abstain.engines.goal import Goal
from abstain.engines.places import Place, listed
from abstain.engines.reading import Reader, told_once
from abstain.engines.registry import started
from abstain.extras import require
from abstain.fingerprint import digest
from abstain.outputs import Outputs

if TYPE_CHECKING:  # it needs SciPy, which takes long to import, and whoever only counts does without
    from abstain.selector import Selector

RECORD = b"abstain"
Progress = Callable[[int, int], None]


@final
@dataclass
class Selected:
    """How many rows there were and what became of them."""

    n: int = 0
    accepted: int = 0
    wrong: int | None = None
    """Accepted rows whose prediction is wrong, where labels are known."""
    unseen: Counter[str] = field(default_factory=Counter)
    """Rows of groups that calibration did not have, by name."""

    def __add__(self, other: "Selected") -> "Selected":
        wrong = [one.wrong for one in (self, other) if one.wrong is not None]
        both = self.n + other.n, self.accepted + other.accepted
        return Selected(*both, sum(wrong) if wrong else None, self.unseen + other.unseen)

    def to_json(self) -> str:
        """Plain numbers."""
        return json.dumps([self.n, self.accepted, self.wrong, self.unseen])

    @classmethod
    def from_json(cls, text: str | bytes, /) -> Self:
        """What `to_json` wrote."""
        n, accepted, wrong, unseen = json.loads(text)
        return cls(n, accepted, wrong, Counter(unseen))


@final
@dataclass(frozen=True)
class Deciding:
    """Decide on the rows of a file and write the decisions; a file that has them already is left as it is."""

    reader: Reader
    selector: "Selector"
    goal: Goal
    schema: Any
    """Of the decisions."""

    def __reduce__(self) -> Any:
        return _deciding, (self.reader, _bytes(self.selector), self.goal, self.schema)

    def __call__(self, portion: Portion, /) -> Selected:
        """The counts of one file."""
        belongs = digest(_bytes(self.selector), portion.shard.fingerprint, version("abstain"))
        before = self._before(portion, belongs)
        if before is not None:
            return before
        found = Selected()

        def write(stream: Any) -> None:
            nonlocal found
            found = self._written(portion, belongs, stream)

        self.goal.write(portion.shard.path, write)
        return found

    def _written(self, portion: Portion, belongs: str, stream: Any) -> Selected:
        parquet = require("pyarrow.parquet", extra="scale", feature="Writing Parquet files")
        found = Selected()
        with parquet.ParquetWriter(stream, self.schema) as writer:
            for batch in self.reader.batches(portion):
                table = _decided(self.selector, batch.outputs)
                writer.write_table(table)
                found = found + _counted(self.selector, batch.outputs, table)
            writer.add_key_value_metadata({RECORD: json.dumps([belongs, found.to_json()])})
        return found

    def _before(self, portion: Portion, belongs: str) -> Selected | None:
        """What was decided before, None where nothing was; an error where something else is in the place."""
        metadata = self.goal.metadata(portion.shard.path)
        if metadata is None:
            return None
        owner, counts = json.loads(metadata.get(RECORD, b'["", ""]'))
        if owner != belongs:
            raise FileExistsError(
                f"`{self.goal.name(portion.shard.path)}` must be new or the decisions of this selector and version of "
                f"abstain on {portion.shard.name} as it is, got others. Choose another folder."
            )
        return Selected.from_json(counts)


def select(
    selector: "Selector",
    places: Place | Iterable[Place],
    folder: Place,
    /,
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    filesystem: Any = None,
    progress: Progress | None = None,
) -> Selected:
    """Write decisions on every row of Parquet files to ``folder``, a file for each, whole or not at all.

    Their columns are those of `Selector.decide`. Called again, it goes on with the files that are not there yet; the
    decisions of another selector, or on files that have changed, are refused. Rows without ids are named after their
    file and their number in it.
    """
    data = ParquetData.open(places, filesystem=filesystem, group=selector.group_column)
    goal = Goal.of(folder, [shard.path for shard in data.shards], listed(places), filesystem)
    reader = Reader.of(data, nonfinite="reject", names_rows=True)
    work = Deciding(reader, selector, goal, _decided(selector, reader.first(data)).schema)
    portions, found = data.portions(whole_files=True), Selected()
    with started(engine, workers=workers, address=address) as chosen, told_once():
        for one in chosen.map(work, portions):
            found = found + one
            if progress is not None:
                progress(found.n, data.rows)
    return found


def _deciding(reader: Reader, selector: bytes, goal: Goal, schema: Any) -> Deciding:
    from abstain.selector import Selector
    from abstain.selector.file import read

    return Deciding(reader, Selector(**read(selector, "selector")), goal, schema)


def _bytes(selector: "Selector") -> bytes:
    from abstain.selector.file import dumped

    return dumped(selector)


def _decided(selector: "Selector", outputs: Outputs) -> Any:
    return require("pyarrow", extra="scale", feature="Writing Parquet files").table(selector.decide(outputs))


def _counted(selector: "Selector", outputs: Outputs, table: Any) -> Selected:
    accepted = table["accepted"].to_numpy()
    wrong = int((table["error"].to_numpy() & accepted).sum()) if "error" in table.column_names else None
    return Selected(len(outputs), int(accepted.sum()), wrong, Counter(selector.unseen(outputs)))
