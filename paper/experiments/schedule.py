"""The schedule: cells and what they need, in an order that works, several at a time, each executed once.

Cells whose record is in the ledger are not executed again, unless a missing cell needs parameters or evidence that are gone. A
cell that fails is reported, cells that need it are skipped, and all others continue.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from graphlib import TopologicalSorter

from paper.experiments.cells import Cell, Mining, Training, cell_name
from paper.experiments.ledger import Ledger, Record
from paper.experiments.provenance import Environment, now
from paper.experiments.work import CellJob, execute_cell
from paper.experiments.workspace import Workspace
from pssa.errors import InputError
from pssa.execution import ProcessPool, RayPool, WorkerLost, WorkerPool, WorkerSetup, connect_ray
from pssa.runs.devices import choose_device

ENGINES = ("local", "ray")
_PROCESSES_PER_GPU = 4
_KILLED = (
    "its process was killed, perhaps because memory ran out, and again when it ran alone; repeat the call with fewer workers, "
    "or on a machine with more memory"
)

Progress = Callable[[int, int, str], None]  # cells done, cells to do, the cell that finished last


@dataclass
class ScheduleResult:
    """Counts of executed and reused cells, and the failures."""

    done: int = 0
    reused: int = 0
    failures: dict[Cell, str] = field(default_factory=dict)  # cells without a record, with the reason


def check_engine(name: str, workers: int, address: str) -> None:
    """Refuse options with which no worker pool can be opened."""
    if name not in ENGINES:
        raise InputError(f"--engine is {name!r}; choose {' or '.join(ENGINES)}")
    if address and name != "ray":
        raise InputError(f"--address {address} needs --engine ray; leave it out")
    if workers < 0:
        raise InputError(f"--workers is {workers}; it must not be negative")


@contextmanager
def open_pool(engine: str, workers: int = 0, address: str = "", device: str = "auto") -> Iterator[WorkerPool]:
    """Open a pool of workers: this process, processes of this machine, or a Ray cluster.

    Every node of a cluster must see the output folder and the resources under the same names.

    :param workers: cells at a time; 0: as many as fit this machine or the cluster.
    :param address: of a Ray cluster; empty: the one that is found, else one started on this machine.
    :param device: the device that cells compute on.
    """
    check_engine(engine, workers, address)
    if engine == "ray":
        was_connected = "ray" in sys.modules and sys.modules["ray"].is_initialized()
        ray = connect_ray(address or None)
        try:
            found = ray.cluster_resources()
            workers = workers or int(found.get("GPU", 0) or found.get("CPU", 1)) or 1
            with RayPool(workers, WorkerSetup(uses_gpu=True)) as pool:
                yield pool
        finally:
            if not was_connected:
                ray.shutdown()
        return
    workers = workers or _default_workers(device)
    n_threads = max(1, (os.cpu_count() or 1) // workers)
    on_gpu = choose_device(device).type == "cuda"
    setup = WorkerSetup(_load_torch, n_threads=n_threads, uses_gpu=on_gpu)
    with WorkerPool() if workers == 1 else ProcessPool(workers, setup, restarts=True) as pool:
        yield pool


def _load_torch() -> None:
    """Load torch before a worker sets its number of threads."""
    importlib.import_module("torch")


def _default_workers(device: str) -> int:
    """Return one process per core; on a GPU a few, since a step of one leaves gaps that others fill."""
    import torch

    cores = os.cpu_count() or 1
    on_gpu = choose_device(device).type == "cuda"
    return min(_PROCESSES_PER_GPU * torch.cuda.device_count(), cores) if on_gpu else cores


def plan(cells: Iterable[Cell], workspace: Workspace, ledger: Ledger) -> list[Cell]:
    """Return the cells to execute, each after its needs; cells of one place together, so that its data is prepared once."""
    planned: dict[Cell, None] = {}
    for cell in cells:
        _add_missing(cell, planned, workspace, ledger)
    order = TopologicalSorter({cell: [need for need in cell.needs if need in planned] for cell in planned})
    places = {place: number for number, place in enumerate(dict.fromkeys(cell.place for cell in planned))}
    # Needs are of the same place, and sorting keeps the order within one.
    return sorted(order.static_order(), key=lambda cell: places[cell.place])


def _add_missing(cell: Cell, planned: dict[Cell, None], workspace: Workspace, ledger: Ledger) -> None:
    if cell in planned or ledger.find(workspace.key(cell)) is not None:
        return
    planned[cell] = None
    for need in cell.needs:
        _add_need(cell, need, planned, workspace, ledger)


def _add_need(cell: Cell, need: Cell, planned: dict[Cell, None], workspace: Workspace, ledger: Ledger) -> None:
    """Plan what a cell needs, if its record is missing or the file that the cell reads is gone."""
    if isinstance(need, Mining):
        # A ledger that was copied without its evidence can be shown, but cannot supervise a training.
        is_lost = not workspace.evidence(need).is_file()
    else:
        is_lost = cell.needs_weights and not workspace.has_weights(need)
    if not is_lost:
        _add_missing(need, planned, workspace, ledger)
    elif need not in planned:
        planned[need] = None
        for earlier in need.needs:
            _add_need(need, earlier, planned, workspace, ledger)


class CellSchedule:
    """Executes cells and appends their records to a ledger.

    :param environment: is recorded with each cell, with the device of the worker in place of its own.
    """

    def __init__(
        self,
        workspace: Workspace,
        ledger: Ledger,
        environment: Environment | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.workspace, self.ledger, self.progress = workspace, ledger, progress
        self._environment = environment
        self.n_done = self.n_cells = 0
        self._waiting: list[Cell] = []
        self._open: set[Cell] = set()  # neither done nor failed
        self._failed: dict[Cell, str] = {}
        self._lost: set[Cell] = set()  # with a killed process; each is tried once more, alone
        self._running: dict[Future[Record], Cell] = {}

    def execute(self, cells: Iterable[Cell], pool: WorkerPool) -> ScheduleResult:
        """Execute the cells without a record, and what they need; return once all are done or have failed."""
        requested = dict.fromkeys(cells)
        self._waiting = plan(requested, self.workspace, self.ledger)
        self._open, self.n_cells = set(self._waiting), len(self._waiting)
        self._report("")
        result = ScheduleResult(reused=len(requested.keys() - self._open), failures=self._failed)
        for cell, record in self._outcomes(pool):
            if record is not None:
                self._append(cell, record)
                result.done += 1
            self._release(cell)
            self.n_done += 1
            self._report(cell_name(cell))
        return result

    def _report(self, name: str) -> None:
        if self.progress:
            self.progress(self.n_done, self.n_cells, name)

    def _append(self, cell: Cell, record: Record) -> None:
        # A model that was trained again for its parameters keeps the record that others were compared with.
        if not isinstance(cell, Training) or self.ledger.find(record["key"]) is None:
            self.ledger.append(self._with_origin(record))

    def _with_origin(self, record: Record) -> Record:
        """Return the record with who made it, where and when."""
        device, by = record.pop("device", None), self._environment
        made = {} if by is None else {"made": asdict(replace(by, device=device or by.device))}
        return {**record, **made, "finished": now()}

    def _outcomes(self, pool: WorkerPool) -> Iterator[tuple[Cell, Record | None]]:
        """Yield every cell with its record as it finishes, or None if it fails; the caller releases each before the next."""
        while self._waiting or self._running:
            yield from ((cell, None) for cell in self._start(pool))
            if not self._running:
                continue
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                cell = self._running.pop(future)
                error = future.exception()
                if error is None:
                    yield cell, future.result()
                elif isinstance(error, WorkerLost) and cell not in self._lost:
                    self._lost.add(cell)
                    self._waiting.insert(0, cell)
                else:
                    self._failed[cell] = _KILLED if cell in self._lost else f"{type(error).__name__}: {error}"
                    yield cell, None

    def _release(self, cell: Cell) -> None:
        """Close a cell, and remove parameters that no other cell needs."""
        self._open.discard(cell)
        for need in (cell, *cell.needs):
            if isinstance(need, Training) and not self._is_needed(need):
                self.workspace.drop_weights(need)

    def _start(self, pool: WorkerPool) -> Iterator[Cell]:
        """Start the cells that can start, as long as workers are free; yield those that need a failed one."""
        for cell in list(self._waiting):
            failed = [need for need in cell.needs if need in self._failed]
            if failed:
                self._waiting.remove(cell)
                self._failed[cell] = f"needs {cell_name(failed[0])}, which failed"
                yield cell
            elif self._can_start(cell, pool.n_workers):
                self._waiting.remove(cell)
                self._running[pool.submit(execute_cell, self._job(cell))] = cell

    def _can_start(self, cell: Cell, n_workers: int) -> bool:
        if any(need in self._open for need in cell.needs):
            return False
        if any(each in self._lost for each in (cell, *self._running.values())):
            return not self._running  # it runs alone
        return len(self._running) < n_workers

    def _job(self, cell: Cell) -> CellJob:
        baseline = self.ledger.find(self.workspace.key(Training(cell.place)))
        # With more instances an epoch is another one than that of the baseline.
        searches = isinstance(cell, Training) and "augment" in dict(cell.settings)
        epochs = 0 if baseline is None or searches else int(baseline["epochs"])
        keep = isinstance(cell, Training) and self._is_needed(cell)
        return CellJob(cell, self.workspace, epochs, keep)

    def _is_needed(self, training: Training) -> bool:
        # The next run tries failed cells again.
        return any(cell.needs_weights and training in cell.needs for cell in (*self._open, *self._failed))
