"""Several processes that train as one (`torchrun`, `accelerate launch`): same batches, own rows, summed gradients.

Every process shuffles with the same seed and takes its rows of each batch, whose loss is divided by the size of the whole
batch; the gradients are added up before every step. Without dropout the weights are those of one process but for rounding.
(Adam makes a full step of a gradient that is nothing but rounding, as that of an encoder's key biases is: such parameters, which
no prediction depends on, may differ.) Dropout draws other numbers in each process. A team of one does nothing and loads nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn

from pssa.data.batch import Batch
from pssa.errors import InputError
from pssa.training.checkpoint import Checkpoint, EpochRecord

__all__ = ["Team", "team"]

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR")
# Values of gradients that travel together: enough to keep the line busy, few beside the memory of a large encoder.
_BUCKET = 2**25
# Of the groups that this process has opened, one after the other.
_NUMBERS = count()


@dataclass(frozen=True)
class Team:
    """The processes of a training, and which of them this one is."""

    rank: int = 0
    size: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.size:
            raise InputError(
                f"rank {self.rank} of {self.size} processes cannot be; ranks go from 0 to the size less one"
            )

    @classmethod
    def from_environment(cls) -> Team:
        """As `torchrun` or `accelerate launch` says; a team of one where neither started the process."""
        if any(name not in os.environ for name in _VARIABLES):
            return cls()
        try:
            return cls(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
        except ValueError as error:
            raise InputError(f"RANK and WORLD_SIZE must be whole numbers: {error}; start with torchrun") from error

    @property
    def is_main(self) -> bool:
        """Whether this process is the one that keeps checkpoints and speaks."""
        return self.rank == 0

    def take(self, batch: Batch) -> Batch:
        """The rows of a batch that are this process's; there may be none."""
        return batch if self.size == 1 else batch.take(slice(self.rank, None, self.size))

    def add_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Let every process have the sum of all gradients; a process without rows adds zeros."""
        if self.size == 1:
            return
        for bucket in _buckets(parameters):
            flat = self.add(torch.cat([_gradient(parameter).reshape(-1) for parameter in bucket]))
            parts = torch.split(flat, [parameter.numel() for parameter in bucket])
            for parameter, part in zip(bucket, parts, strict=True):
                parameter.grad = part.view_as(parameter)

    def add(self, values: Tensor) -> Tensor:
        """The sum over all processes, the same on each."""
        if self.size == 1:
            return values
        import torch.distributed as group

        group.all_reduce(values)
        return values

    def share(self, values: Tensor) -> Tensor:
        """The leader's values, on the CPU, to all; every process gives some of the same shape."""
        return values if self.size == 1 else self._receive(values)

    def tell(self, text: str) -> str:
        """What the leader says, to all."""
        if self.size == 1:
            return text
        said = torch.tensor(bytearray(text.encode()), dtype=torch.uint8)
        length = int(self._receive(torch.tensor(len(said))))
        if length == 0:
            return ""
        heard = self._receive(said if self.is_main else torch.empty(length, dtype=torch.uint8))
        return heard.numpy().tobytes().decode()

    def agree(self, record: EpochRecord) -> EpochRecord:
        """The leader's record, so that all stop in the same epoch."""
        return record if self.size == 1 else EpochRecord(**json.loads(self.tell(json.dumps(record.as_dict()))))

    def broadcast(self, checkpoint: Checkpoint | None) -> Checkpoint | None:
        """The leader's checkpoint, if it has one; what others give is not looked at."""
        if self.size == 1:
            return checkpoint
        said = self.tell(_describe(checkpoint) if self.is_main and checkpoint else "")
        if not said:
            return None
        plan = json.loads(said)
        tensors = {}
        for name, kind, shape in plan["tensors"]:
            place = (
                checkpoint.tensors[name]
                if self.is_main and checkpoint
                else torch.empty(shape, dtype=getattr(torch, kind))
            )
            tensors[name] = self._receive(place)
        return Checkpoint(tensors, tuple(EpochRecord(**record) for record in plan["history"]))

    def _receive(self, tensor: Tensor) -> Tensor:
        import torch.distributed as group

        device = torch.device("cuda" if group.get_backend() == "nccl" else "cpu")
        sent = tensor.detach().to(device).contiguous()
        group.broadcast(sent, src=0)
        return sent.cpu()


@contextmanager
def team(device: torch.device) -> Iterator[Team]:
    """The processes that were started together, ready to train on `device`; each has its own GPU where that is CUDA.

    A process group that the caller has opened is used and left open.
    """
    found = Team.from_environment()
    if found.size == 1:
        yield found
        return
    import torch.distributed as group

    if group.is_initialized():
        yield Team(group.get_rank(), group.get_world_size())
        return
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.set_device(_own_gpu(found))
    # Its functions have the open group as a default; imported later, they would keep it alive, and its threads, beyond the end.
    import_module("torch.distributed.nn")
    # A name of its own: a second group would find the addresses of the first under the usual one, and wait for ever.
    store = group.PrefixStore(f"team-{next(_NUMBERS)}", _meeting_place())  # type: ignore[attr-defined]
    group.init_process_group("nccl" if on_gpu else "gloo", store=store, rank=found.rank, world_size=found.size)
    try:
        yield found
    finally:
        group.destroy_process_group()


@cache
def _meeting_place() -> Any:
    from torch.distributed.rendezvous import rendezvous

    store, _, _ = next(rendezvous("env://"))
    return store


def _own_gpu(found: Team) -> int:
    place = int(os.environ.get("LOCAL_RANK", found.rank))
    if place >= torch.cuda.device_count():
        raise InputError(
            f"process {place} of this machine has no GPU of its own; there are {torch.cuda.device_count()}, "
            "start that many processes at most or set device to cpu"
        )
    return place


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _buckets(parameters: Sequence[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    bucket: list[nn.Parameter] = []
    size = 0
    for parameter in parameters:
        if bucket and size + parameter.numel() > _BUCKET:
            yield bucket
            bucket, size = [], 0
        bucket.append(parameter)
        size += parameter.numel()
    if bucket:
        yield bucket


def _describe(checkpoint: Checkpoint) -> str:
    tensors = [
        [name, str(tensor.dtype).removeprefix("torch."), list(tensor.shape)]
        for name, tensor in checkpoint.tensors.items()
    ]
    return json.dumps({"tensors": tensors, "history": [record.as_dict() for record in checkpoint.history]})
