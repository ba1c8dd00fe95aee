"""Export of a run as one ONNX file, which runs without this package's models and without torch.

Inputs are the fields of `Batch` that the models read, by name and in any size; outputs are `logits`, `probabilities` and,
where there is attention, `attention`. `TorchRuntime.index` makes the inputs. An ensemble is exported with its vote.
"""

from __future__ import annotations

import importlib
import json
import logging
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from pssa import __version__
from pssa.data import embedded
from pssa.data.files import write_atomically
from pssa.errors import InputError, RunError, import_extra, setting
from pssa.models import Batch, IndexedCorpus
from pssa.runs.directory import RunDirectory
from pssa.runs.loading import load, runtime_kind
from pssa.runs.run_names import resolve_run
from pssa.runs.torch_runtime import TorchRuntime, combine

# Names of the dimensions, by input and by output; a number is fixed.
_INPUTS: dict[str, tuple[str | int, ...]] = {
    "positions": ("batch", "positions"),
    "word_of": ("batch", "positions"),
    "aspect": ("batch", "aspect_words"),
    "aspect_span": ("batch", 2),
    "candidates": ("batch", "words"),
}
_OUTPUTS: dict[str, tuple[str | int, ...]] = {
    "logits": ("batch", "labels"),
    "probabilities": ("batch", "labels"),
    "attention": ("batch", "positions"),
}
_TOLERANCE = 1e-5


def export_onnx(run: str | Path, path: str | Path, *, force: bool = False) -> Path:
    """Write the model of a run as an ONNX file, after checking that it gives the same predictions.

    A joint model becomes a folder, which `load` reads without torch.

    :param force: replace the file if it exists.
    :raises InputError: if `run` is not a finished run, `path` exists or cannot be written, or the model cannot be exported.
    :raises RunError: if the exported model predicts differently; no file is written then.
    """
    for name in ("onnx", "onnxscript", "onnxruntime"):
        import_extra(name, "onnx")
    path = Path(path)
    directory = RunDirectory.open(resolve_run(run))
    is_folder = runtime_kind(directory.root) == "joint"
    if not is_folder and (path.is_dir() or not path.parent.is_dir()):
        raise InputError.at(path, None, "cannot be written; expected the name of a file in a directory that exists")
    if path.exists() and (is_folder or not force):
        replace_it = "" if is_folder else f", or replace it with {setting('force=True', option='--force')}"
        raise InputError(f"{path} exists already; choose another {setting('path', option='--onnx')}{replace_it}")
    if is_folder:
        from pssa.joint.run import export_joint

        return export_joint(directory.root, path)
    if (directory.root / "config.toml").is_file():  # else a stage or a member, which is whole in itself
        directory.require_finished()
    classifier = load(directory.root).torch
    model = _Answering(classifier).eval()
    with quiet_export(), torch.no_grad():
        traced, *others = _samples(classifier)
        exported = _exported(model, _inputs(traced.table), classifier.name)
        content = _finished(exported, classifier, traced.mask_id)
        if difference := _difference(content, model, others):
            raise RunError(f"{run} predicts differently in ONNX than in torch: {difference}; nothing was written")
    write_atomically(path, content)
    return path


class _Answering(nn.Module):
    """A classifier as a function of tensors, which can be exported."""

    def __init__(self, classifier: TorchRuntime) -> None:
        super().__init__()
        self.members = nn.ModuleList(classifier.members)
        self.register_buffer("vote_weights", torch.tensor(classifier.vote_weights))
        self.temperature = classifier.temperature

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Logits (B, C), probabilities (B, C) and the first member's attention (B, P), if it has any."""
        nowhere = inputs[0][:, 0]  # no model reads labels or places in a corpus
        batch = Batch(**dict(zip(_INPUTS, inputs, strict=True)), labels=nowhere, index=nowhere)
        each = [member.classify(member.encode(batch), batch) for member in self.members]  # type: ignore[operator]
        logits, probabilities = each[0].logits, each[0].logits.softmax(dim=1)
        if len(each) > 1:
            votes = torch.stack([prediction.logits.softmax(dim=1) for prediction in each])
            probabilities = combine(votes, self.get_buffer("vote_weights"))
            logits = probabilities.log()
        if self.temperature != 1:
            probabilities = (probabilities.log() / self.temperature).softmax(dim=1)
        attention = each[0].attention
        return (logits, probabilities) if attention is None else (logits, probabilities, attention)


class _Unseen(TorchFunctionMode):
    """Makes every number read from a tensor very large, since a graph has no numbers to read.

    `lookup` checks whether all words are known from training; this leads it to the branch that works for any words.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return the number in place of the tensor's, or call the function."""
        return sys.maxsize if func is Tensor.__int__ else func(*args, **kwargs or {})


def _samples(classifier: TorchRuntime) -> list[IndexedCorpus]:
    """Return sentences to export with, and others of other sizes to check with."""
    sentences = [replace(example, label=None) for example in embedded.load("test")]
    # A size of one would be exported as a constant.
    wide = [sentence for sentence in sentences if sentence.aspect[1] - sentence.aspect[0] > 1]
    return [classifier.index(some) for some in (wide[:3], sentences[:1], sentences[1:6], sentences[6:20])]


def _inputs(batch: Batch) -> dict[str, Tensor]:
    return {name: getattr(batch, name) for name in _INPUTS}


def _exported(model: nn.Module, inputs: Mapping[str, Tensor], name: str) -> Any:
    """Return the model as a protocol buffer of ONNX."""
    dynamic = torch.export.Dim.DYNAMIC
    free = tuple(
        {axis: dynamic for axis, size in enumerate(sizes) if isinstance(size, str)} for sizes in _INPUTS.values()
    )
    n_outputs = len(model(*inputs.values()))
    # A bug of torch: a cached trace of an LSTM is not valid for rows of other lengths.
    torch.ops.aten.lstm.input._dispatch_cache.clear()
    try:
        with _Unseen():
            program = torch.onnx.export(
                model,
                tuple(inputs.values()),
                dynamo=True,
                verbose=False,
                dynamic_shapes=(free,),
                input_names=list(_INPUTS),
                output_names=list(_OUTPUTS)[:n_outputs],
            )
            assert program is not None
            return program.model_proto
    except Exception as error:  # of any kind, for operations that ONNX does not have
        raise InputError(f"{name} cannot be exported to ONNX: {_first_cause(error)}") from error


def _finished(exported: Any, classifier: TorchRuntime, mask_id: int) -> bytes:
    """Return the file: without unused inputs and traces of this machine, with labels and the mask id as metadata."""
    graph = exported.graph
    read = {name for node in graph.node for name in node.input}
    for value in [value for value in graph.input if value.name not in read]:
        graph.input.remove(value)
    for value in [*graph.input, *graph.output]:
        for found, size in zip(value.type.tensor_type.shape.dim, (_INPUTS | _OUTPUTS)[value.name], strict=True):
            if isinstance(size, str) and size != "labels":
                found.dim_param = size
    del graph.value_info[:]  # sizes of the batch that was traced
    for part in (exported, graph, *graph.node, *graph.initializer, *graph.input, *graph.output):
        del part.metadata_props[:]
        part.doc_string = ""
    exported.producer_name, exported.producer_version = "pssa", __version__
    known = {"model": classifier.name, "labels": json.dumps(classifier.labels), "mask_id": str(mask_id)}
    importlib.import_module("onnx").helper.set_model_props(exported, known)
    try:
        return bytes(exported.SerializeToString())
    except ValueError as error:
        raise InputError(f"{classifier.name} is too large for one ONNX file: {error}") from error


def _difference(content: bytes, model: nn.Module, samples: Iterable[IndexedCorpus]) -> str:
    """Return which outputs of the file differ from the model's, and by how much; empty if they agree."""
    session = importlib.import_module("onnxruntime").InferenceSession(content, providers=["CPUExecutionProvider"])
    for sample in samples:
        inputs = _inputs(sample.table)
        found = session.run(None, {value.name: inputs[value.name].numpy() for value in session.get_inputs()})
        for name, answer, expected in zip(_OUTPUTS, found, model(*inputs.values()), strict=False):
            away = float((torch.from_numpy(answer) - expected).abs().max())
            # Logits may be of any size, and their differences as well.
            if name != "logits" and not away <= _TOLERANCE:
                return f"{name} differ by {away:.2g}"
    return ""


@contextmanager
def quiet_export() -> Iterator[None]:
    """Silence the exporter's log and warnings; errors are still raised."""
    loggers = [logging.getLogger(name) for name in ("", "torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _first_cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
