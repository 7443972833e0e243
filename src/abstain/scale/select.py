"""`select`: the decisions of a selector on Parquet files, a file of decisions for each, on any engine."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, final

from abstain._errors import FileConflictError
from abstain._extras import require
from abstain._io.fingerprint import digest
from abstain.outputs import Outputs
from abstain.scale.data import ParquetData, Portion
from abstain.scale.engines import LOCAL, Execution
from abstain.scale.locations import Location, listed
from abstain.scale.output_path import OutputFolder
from abstain.scale.reader import ParquetReader, warned_once

if TYPE_CHECKING:  # it needs SciPy, which takes long to import, which counting alone does not need
    from abstain.selector import Selector

RECORD = b"abstain"
Progress = Callable[[int, int], None]


@final
@dataclass
class SelectionCounts:
    """How many rows there were and what became of them.

    Attributes
    ----------
    n : int
        The number of rows.
    accepted : int
        Accepted rows.
    wrong : int or float or None
        Accepted rows whose prediction is wrong, or their total loss, where labels are known.
    unseen : Counter
        Rows of groups that calibration did not have, by name.
    """

    n: int = 0
    accepted: int = 0
    wrong: int | float | None = None
    unseen: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "SelectionCounts") -> "SelectionCounts":
        wrong = [counts.wrong for counts in (self, other) if counts.wrong is not None]
        both = self.n + other.n, self.accepted + other.accepted
        return SelectionCounts(*both, sum(wrong) if wrong else None, self.unseen + other.unseen)


@final
@dataclass(frozen=True)
class SelectTask:
    """Decide on the rows of a file and write the decisions; a file that has them already is left as it is."""

    reader: ParquetReader
    selector: "Selector"
    output: OutputFolder
    schema: Any
    """Of the decisions."""

    def __reduce__(self) -> Any:
        return _deciding, (self.reader, _bytes(self.selector), self.output, self.schema)

    def __call__(self, portion: Portion, /) -> SelectionCounts:
        """The counts of one file."""
        belongs = digest(_bytes(self.selector), portion.shard.fingerprint, version("abstain"))
        before = self._before(portion, belongs)
        if before is not None:
            return before
        counts = SelectionCounts()

        def write(stream: Any) -> None:
            nonlocal counts
            counts = self._written(portion, belongs, stream)

        self.output.write(portion.shard.path, write)
        return counts

    def _written(self, portion: Portion, belongs: str, stream: Any) -> SelectionCounts:
        parquet = require("pyarrow.parquet", extra="scale", feature="Writing Parquet files")
        counts = SelectionCounts()
        with parquet.ParquetWriter(stream, self.schema) as writer:
            for batch in self.reader.batches(portion):
                table = _decided(self.selector, batch.outputs)
                writer.write_table(table)
                counts = counts + _counted(self.selector, batch.outputs, table)
            writer.add_key_value_metadata({RECORD: json.dumps([belongs, vars(counts)])})
        return counts

    def _before(self, portion: Portion, belongs: str) -> SelectionCounts | None:
        """What was decided before, None where nothing was; an error where the path holds something else."""
        metadata = self.output.metadata(portion.shard.path)
        if metadata is None:
            return None
        owner, counts = json.loads(metadata.get(RECORD, b'["", {}]'))
        if owner != belongs:
            raise FileConflictError(
                f"`{self.output.name(portion.shard.path)}` must be new or hold decisions of this selector and version "
                f"of abstain on {portion.shard.name} as it is now, got other decisions. Choose another folder."
            )
        return SelectionCounts(**counts | {"unseen": Counter(counts["unseen"])})


def select(
    selector: "Selector",
    locations: Location | Iterable[Location],
    folder: Location,
    /,
    *,
    execution: Execution = LOCAL,
    progress: Progress | None = None,
) -> SelectionCounts:
    """Write the decisions of a selector on Parquet files, a file of decisions for each of them.

    Called again, it continues with the files that are missing. A file is written whole or not at all.

    Parameters
    ----------
    selector : Selector
        What decides.
    locations : path or sequence of paths
        Files, folders, patterns or addresses.
    folder : path
        Where to write; the columns are those of `Selector.decide`. Rows without ids are named after their file and
        their number in it.
    execution : Execution
        The engine and the file system.
    progress : callable, optional
        Called with the number of rows done and the total.

    Returns
    -------
    SelectionCounts
        How many rows there were and how many were accepted.

    Raises
    ------
    FileConflictError
        If the folder holds decisions of another selector, or on files that have changed since.
    """
    data = ParquetData.open(locations, filesystem=execution.filesystem, group=selector.group_column)
    output = OutputFolder.of(folder, [shard.path for shard in data.shards], listed(locations), execution.filesystem)
    reader = ParquetReader.of(data, nonfinite="reject", names_rows=True)
    work = SelectTask(reader, selector, output, _decided(selector, reader.first(data)).schema)
    portions, counts = data.portions(whole_files=True), SelectionCounts()
    with execution.start() as engine, warned_once():
        for file_counts in engine.map(work, portions):
            counts = counts + file_counts
            if progress is not None:
                progress(counts.n, data.rows)
    return counts


def _deciding(reader: ParquetReader, selector: bytes, output: OutputFolder, schema: Any) -> SelectTask:
    from abstain.selector import Selector
    from abstain.selector.file import SELECTOR_FILE

    return SelectTask(reader, SELECTOR_FILE.read(Selector, selector, "selector"), output, schema)


def _bytes(selector: "Selector") -> bytes:
    from abstain.selector.file import SELECTOR_FILE

    return SELECTOR_FILE.dumped(selector)


def _decided(selector: "Selector", outputs: Outputs) -> Any:
    return require("pyarrow", extra="scale", feature="Writing Parquet files").table(selector.decide(outputs))


def _counted(selector: "Selector", outputs: Outputs, table: Any) -> SelectionCounts:
    accepted = table["accepted"].to_numpy()
    wrong: int | float | None = None
    if "error" in table.column_names:
        wrong = int((table["error"].to_numpy() & accepted).sum())
    elif "loss" in table.column_names:
        wrong = float(table["loss"].to_numpy()[accepted].sum())
    return SelectionCounts(len(outputs), int(accepted.sum()), wrong, Counter(selector.unseen(outputs)))
