"""What is left to do, worked out from what the journal has."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.calibration.cells import Cell
from benchmarks.calibration.chunk import SLOW, Chunk

CHUNK = 50  # repetitions
PATIENCE = 3  # tests over the time limit after which a cell is given up

Key = tuple[str, str, int, int]


class Todo:
    """Chunks go out; what a line does not hold of its chunk comes back.

    They go out in rounds over all cells, so that a run which is stopped early has every cell to
    about the same depth. A cell with too many tests over the time limit is given up.
    """

    def __init__(self, wanted: Sequence[Cell], rows: Sequence[dict]) -> None:
        self._slow: Counter[Key] = Counter()
        for row in rows:
            self._count_slow(row)
        self._chunks = deque(missing(wanted, rows))

    def __len__(self) -> int:
        """Return the number of tests left."""
        return sum(chunk.count for chunk in self._chunks if not self._given_up(chunk))

    def take(self) -> Chunk | None:
        """Return the next chunk, or None where nothing is left."""
        while self._chunks:
            chunk = self._chunks.popleft()
            if not self._given_up(chunk):
                return chunk
        return None

    def settle(self, chunk: Chunk, row: dict) -> None:
        """Note the line of a chunk."""
        self._count_slow(row)
        done = len(row["pvalues"])
        if done < chunk.count:
            self._chunks.appendleft(part(chunk, done, chunk.count))

    def _count_slow(self, row: dict) -> None:
        self._slow[key(row)] += list(row.get("errors", {}).values()).count(SLOW)

    def _given_up(self, chunk: Chunk) -> bool:
        return self._slow[chunk.method, chunk.scenario, chunk.d, chunk.n] >= PATIENCE


def missing(wanted: Sequence[Cell], rows: Iterable[dict]) -> list[Chunk]:
    """Return the repetitions of cells that no line has, in rounds over the cells."""
    done: dict[Key, set[int]] = {}
    for row in rows:
        done.setdefault(key(row), set()).update(repetitions(row))
    chunks = [
        chunk
        for cell in wanted
        for chunk in _pieces(cell, done.get((cell.method, cell.scenario, cell.d, cell.n), set()))
    ]
    return sorted(chunks, key=lambda chunk: chunk.first // CHUNK)


def part(chunk: Chunk, start: int, stop: int) -> Chunk:
    """Return the repetitions number start, ..., stop - 1 of a chunk."""
    cell = (chunk.method, chunk.scenario, chunk.d, chunk.n)
    return Chunk(*cell, first=chunk.first + start, count=stop - start)


def key(row: dict) -> Key:
    """Return what names the cell of a line."""
    return row["method"], row["scenario"], row["d"], row["n"]


def repetitions(row: dict) -> range:
    """Return the repetitions that a line holds."""
    return range(row["first"], row["first"] + len(row["pvalues"]))


def _pieces(cell: Cell, done: set[int]) -> Iterator[Chunk]:
    """Cut at multiples of CHUNK and wherever a repetition is done already."""
    first = None
    for repetition in range(cell.repetitions + 1):
        over = repetition == cell.repetitions or repetition in done
        if first is not None and (over or repetition % CHUNK == 0):
            yield Chunk(cell.method, cell.scenario, cell.d, cell.n, first, repetition - first)
            first = None
        if first is None and not over:
            first = repetition
