"""The schedule: cells with what they need, in an order that works, side by side on an engine, each carried out once.

Outcomes that the ledger has are not made again, but for parameters and evidence that a missing cell needs and that are gone.
A cell that fails is told; those that need it are skipped; all others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from pssa.experiments.cells import Cell, Mining, Timing, Training, name_of
from pssa.experiments.engines import Engine
from pssa.experiments.ledger import Ledger, Record
from pssa.experiments.work import Job
from pssa.experiments.workspace import Workroom

__all__ = ["CarriedOut", "Failure", "Progress", "carry_out_all", "plan"]

_ENDED = (
    "its process was ended from outside, perhaps for lack of memory, and again when it ran alone; go on with the same command "
    "and fewer --workers, or where there is more memory"
)


@dataclass(frozen=True)
class Failure:
    """A cell without an outcome, and why."""

    cell: Cell
    reason: str


@dataclass
class CarriedOut:
    """What became of the cells."""

    done: int = 0
    reused: int = 0
    failures: list[Failure] = field(default_factory=list)


Progress = Callable[[int, int, str], None]  # cells done, cells to do, what was done last


def plan(cells: Iterable[Cell], room: Workroom, ledger: Ledger) -> list[Cell]:
    """What is left to do, everything after what it needs; cells of one place together, so that its data is prepared once."""
    wanted: dict[Cell, None] = {}
    for cell in cells:
        _want(cell, wanted, room, ledger)
    order = TopologicalSorter({cell: [need for need in cell.needs if need in wanted] for cell in wanted})
    places = {place: number for number, place in enumerate(dict.fromkeys(cell.place for cell in wanted))}
    # Needs are of the same place, and sorting keeps the order within one.
    return sorted(order.static_order(), key=lambda cell: places[cell.place])


def _want(cell: Cell, wanted: dict[Cell, None], room: Workroom, ledger: Ledger) -> None:
    if cell in wanted or ledger.find(room.key(cell)) is not None:
        return
    wanted[cell] = None
    for need in cell.needs:
        _want_for(cell, need, wanted, room, ledger)


def _want_for(cell: Cell, need: Cell, wanted: dict[Cell, None], room: Workroom, ledger: Ledger) -> None:
    """Want what a cell needs, if its outcome is missing or the file that the cell reads is gone."""
    if isinstance(need, Mining):
        # A ledger that was copied without its evidence can be shown, but cannot supervise anything.
        is_lost = not room.evidence(need).is_file()
    else:
        is_lost = cell.needs_weights and not room.has_weights(need)
    if not is_lost:
        _want(need, wanted, room, ledger)
    elif need not in wanted:
        wanted[need] = None
        for earlier in need.needs:
            _want_for(need, earlier, wanted, room, ledger)


def carry_out_all(
    cells: Iterable[Cell], room: Workroom, ledger: Ledger, engine: Engine, progress: Progress | None = None
) -> CarriedOut:
    """Carry out what is left to do; returns once everything is done or has failed."""
    asked = list(dict.fromkeys(cells))
    todo = plan(asked, room, ledger)
    missing = set(todo)
    outcome = CarriedOut(reused=sum(cell not in missing for cell in asked))
    hall = _Hall(todo, room, ledger, engine)
    for number, (cell, result) in enumerate(hall.run(), start=1):
        if isinstance(result, Failure):
            outcome.failures.append(result)
        else:
            _note(cell, result, ledger)
            outcome.done += 1
        hall.release(cell)
        if progress:
            progress(number, len(todo), name_of(cell))
    return outcome


def _note(cell: Cell, record: Record, ledger: Ledger) -> None:
    # A model that was trained again for its parameters keeps the outcome that others were compared with.
    if not isinstance(cell, Training) or ledger.find(record["key"]) is None:
        ledger.append(record)


class _Hall:
    """Cells at work: who waits for whom, and which parameters somebody still needs."""

    def __init__(self, todo: list[Cell], room: Workroom, ledger: Ledger, engine: Engine) -> None:
        self._room, self._ledger, self._engine = room, ledger, engine
        self._waiting = list(todo)
        self._open = set(todo)  # neither done nor failed
        self._failed: dict[Cell, str] = {}
        self._lost: set[Cell] = set()  # with a process that was ended from outside; they are tried once more, alone
        self._at_work: dict[Future[Record], Cell] = {}

    def run(self) -> Iterator[tuple[Cell, Record | Failure]]:
        """Every cell with what came of it, as it comes; the caller releases each before the next."""
        while self._waiting or self._at_work:
            yield from self._begin()
            if not self._at_work:
                continue
            done, _ = wait(self._at_work, return_when=FIRST_COMPLETED)
            for future in done:
                cell = self._at_work.pop(future)
                error = future.exception()
                if error is None:
                    yield cell, future.result()
                elif isinstance(error, BrokenExecutor) and cell not in self._lost:
                    self._lost.add(cell)
                    self._waiting.insert(0, cell)
                else:
                    self._failed[cell] = _ENDED if cell in self._lost else f"{type(error).__name__}: {error}"
                    yield cell, Failure(cell, self._failed[cell])

    def release(self, cell: Cell) -> None:
        """Note that a cell is over, and forget parameters that nobody needs any more."""
        self._open.discard(cell)
        for need in (cell, *cell.needs):
            if isinstance(need, Training) and not self._is_needed(need):
                self._room.drop_weights(need)

    def _begin(self) -> Iterator[tuple[Cell, Failure]]:
        """Begin what can begin, as long as there is room."""
        for cell in list(self._waiting):
            lost = [need for need in cell.needs if need in self._failed]
            if lost:
                self._waiting.remove(cell)
                self._failed[cell] = f"needs {name_of(lost[0])}, which failed"
                yield cell, Failure(cell, self._failed[cell])
            elif self._may_begin(cell):
                self._waiting.remove(cell)
                self._at_work[self._engine.submit(self._job(cell))] = cell

    def _may_begin(self, cell: Cell) -> bool:
        if any(need in self._open for need in cell.needs):
            return False
        if any(self._is_alone(each) for each in (cell, *self._at_work.values())):
            return not self._at_work
        return len(self._at_work) < self._engine.workers

    def _is_alone(self, cell: Cell) -> bool:
        """Whether it shares the machine with nobody."""
        return isinstance(cell, Timing) or cell in self._lost

    def _job(self, cell: Cell) -> Job:
        baseline = self._ledger.find(self._room.key(Training(cell.place)))
        epochs = 0 if baseline is None or isinstance(cell, Timing) else int(baseline["epochs"])
        keep = isinstance(cell, Training) and self._is_needed(cell)
        return Job(cell, self._room, epochs, keep)

    def _is_needed(self, training: Training) -> bool:
        # What failed is tried again by the next run.
        return any(cell.needs_weights and training in cell.needs for cell in (*self._open, *self._failed))
