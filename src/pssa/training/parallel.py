"""Data-parallel training by several processes (`torchrun`, `accelerate launch`): same batches, own rows, summed gradients.

Every process shuffles with the same seed and takes its rows of each batch, whose loss is divided by the size of the whole
batch; the gradients are added up before every step. Without dropout the weights are those of one process, except for rounding.
(Adam makes a full step of a gradient that is nothing but rounding, as that of an encoder's key biases is: such parameters, which
no prediction depends on, may differ.) Dropout draws other numbers in each process. A team of one does nothing and loads nothing
of `torch.distributed`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from pssa.errors import InputError
from pssa.models import Batch
from pssa.training.checkpoint import Checkpoint

T = TypeVar("T")

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR")
# Values of gradients that travel together: enough to keep the line busy, few beside the memory of a large encoder.
_BUCKET = 2**25
# Numbers the groups that this process opens.
_NUMBERS = count()


@dataclass(frozen=True)
class Team:
    """The processes of a training, and which of them this one is."""

    rank: int = 0
    size: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.size:
            raise InputError(
                f"rank is {self.rank} of {self.size} processes; it must be at least 0 and below their number"
            )

    @classmethod
    def from_environment(cls) -> Team:
        """Return the team that `torchrun` or `accelerate launch` started; one process where neither did."""
        if any(name not in os.environ for name in _VARIABLES):
            return cls()
        try:
            return cls(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
        except ValueError as error:
            raise InputError(f"RANK and WORLD_SIZE must be whole numbers: {error}; start with torchrun") from error

    @property
    def is_main(self) -> bool:
        """Whether this process writes checkpoints and prints."""
        return self.rank == 0

    def take(self, batch: Batch) -> Batch:
        """Return this process's rows of a batch; there may be none."""
        return batch if self.size == 1 else batch.take(slice(self.rank, None, self.size))

    def add_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Give every process the sum of all gradients; a process without rows adds zeros."""
        if self.size == 1:
            return
        for bucket in _buckets(parameters):
            gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in bucket]
            flat = self.add(torch.cat([gradient.reshape(-1) for gradient in gradients]))
            parts = torch.split(flat, [parameter.numel() for parameter in bucket])
            for parameter, part in zip(bucket, parts, strict=True):
                parameter.grad = part.view_as(parameter)

    def add(self, values: Tensor) -> Tensor:
        """Return the sum over all processes, the same on each."""
        if self.size == 1:
            return values
        import torch.distributed as group

        group.all_reduce(values)
        return values

    def share(self, value: T) -> T:
        """Return the main process's value in every process, such as a record, so that all stop in the same epoch."""
        if self.size == 1:
            return value
        import torch.distributed as group

        box = [value]
        group.broadcast_object_list(box)
        return box[0]

    def broadcast(self, checkpoint: Checkpoint | None) -> Checkpoint | None:
        """Return the main process's checkpoint in every process, if it has one."""
        if self.size == 1:
            return checkpoint
        own = checkpoint.tensors if self.is_main and checkpoint else {}
        kinds = {name: (tensor.shape, tensor.dtype) for name, tensor in own.items()}
        kinds, history = self.share((kinds, checkpoint.history if checkpoint else None))
        if history is None:
            return None
        import torch.distributed as group

        device = torch.device("cuda" if group.get_backend() == "nccl" else "cpu")
        received = {}
        # Tensors follow one by one, so that no device holds a large checkpoint twice.
        for name, (shape, dtype) in kinds.items():
            tensor = own[name].detach() if name in own else torch.empty(shape, dtype=dtype)
            sent = tensor.to(device).contiguous()
            group.broadcast(sent, src=0)
            received[name] = sent.cpu()
        return Checkpoint(received, history)


@contextmanager
def team(device: torch.device) -> Iterator[Team]:
    """Open the process group of a team that trains on `device`; with CUDA each process has its own GPU.

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
        place, n_gpus = int(os.environ.get("LOCAL_RANK", found.rank)), torch.cuda.device_count()
        if place >= n_gpus:
            remedy = f"there are {n_gpus}, start that many processes at most or set device to cpu"
            raise InputError(f"process {place} of this machine has no GPU of its own; {remedy}")
        torch.cuda.set_device(place)
    # Its functions have the open group as a default; imported later, they would keep it alive, and its threads, beyond the end.
    import_module("torch.distributed.nn")
    # A separate name: a second group would find the addresses of the first under the default one, and wait for ever.
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
