"""Estimates of the time that cells take: the mean of the last like cells in a ledger, by what models start from and by device.

The seconds of a record are those of one worker, slowed down by the others of its run. So an estimate is the time of one worker,
and as many workers as those runs had divide it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from paper.experiments.cells import Cell, describe
from paper.experiments.ledger import Record
from paper.experiments.resources import Resources
from pssa.models import uses_encoder

# What the model starts from, the kind of cell, its method, and the model; like cells have the beginning in common.
_Kind = tuple[str, ...]
_LEAST = 2  # parts that like cells have in common
_LAST = 20  # like cells whose mean counts: earlier ones may be of slower code


@dataclass(frozen=True)
class TimeEstimate:
    """Seconds of one worker for cells that start from the same, on a device that has executed like ones."""

    start: str  # word vectors, the encoder or the small encoder
    device: str  # empty: none has executed a like cell
    cells: int
    seconds: float
    unknown: int  # cells of which the device has executed no like one


def estimate(cells: Iterable[Cell], records: Iterable[Record], resources: Resources) -> list[TimeEstimate]:
    """Return an estimate for each start and each device with records of like cells."""
    means = _means(records)
    groups: dict[str, list[_Kind]] = {}
    for cell in cells:
        groups.setdefault(_start(cell), []).append(_kind(describe(cell), resources.files_of(cell)))
    found = []
    for start, kinds in sorted(groups.items()):
        by_device = {
            device: [mean for kind in kinds if (mean := _mean_of(kind, known))] for device, known in means.items()
        }
        timed = [
            TimeEstimate(start, device, len(kinds), sum(seconds), len(kinds) - len(seconds))
            for device, seconds in sorted(by_device.items())
            if seconds
        ]
        found += timed or [TimeEstimate(start, "", len(kinds), 0.0, len(kinds))]
    return found


def _mean_of(kind: _Kind, known: Mapping[_Kind, float]) -> float | None:
    return next((known[each] for each in _beginnings(kind) if each in known), None)


def _start(cell: Cell) -> str:
    if not uses_encoder(cell.place.model):
        return "word vectors"
    return "small encoder" if cell.place.small_encoder else "encoder"


def _kind(described: Record, files: Record) -> _Kind:
    """Return the kind of a cell; vectors of any file take the same time, encoders do not."""
    start = str(files.get("encoder", "vectors"))
    inner = described.get("training", described)
    method = "+".join(each["method"] for each in inner.get("evidence", ())) or str(inner.get("method", "base"))
    return (start, str(described["kind"]), str(described.get("what", method)), str(inner["place"]["model"]))


def _means(records: Iterable[Record]) -> dict[str, dict[_Kind, float]]:
    """Return mean seconds by device and kind, and by every beginning of a kind."""
    seconds: dict[str, dict[_Kind, deque[float]]] = {}
    for record in records:
        device = record.get("made", {}).get("device")
        if not device or "seconds" not in record:
            continue
        for kind in _beginnings(_kind(record["cell"], record.get("files", {}))):
            seconds.setdefault(device, {}).setdefault(kind, deque(maxlen=_LAST)).append(float(record["seconds"]))
    return {device: {kind: fmean(last) for kind, last in kinds.items()} for device, kinds in seconds.items()}


def _beginnings(kind: _Kind) -> Iterator[_Kind]:
    return (kind[:length] for length in range(len(kind), _LEAST - 1, -1))
