"""What a training of the joint model starts from: an encoder, a run, or an exported run, whose rounded weights are read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn

from pssa.data.reviews import NO_OPINION
from pssa.errors import InputError, import_extra
from pssa.joint.model import JointModel
from pssa.joint.runtime import Decoding
from pssa.models._pretrained import Pretrained
from pssa.runs.directory import RunDirectory
from pssa.runs.input_profile import InputProfile
from pssa.runs.loading import runtime_kind
from pssa.runs.onnx_runtime import ENCODER, HEADS, read_description
from pssa.runs.run_names import resolve_run
from pssa.runs.saved_model import load_weights
from pssa.runs.warm_start import warn_of_other_labels

_UNLIKELY = 3.0  # below the bias of any label that is known


@dataclass(frozen=True)
class Start:
    """An encoder, the model with the weights to start from, how it finds, and what it has read."""

    pretrained: Pretrained
    model: JointModel
    decoding: Decoding
    profile: InputProfile | None = None


def new_start(encoder: str, labels: Sequence[str], seed: int) -> Start:
    """Return a pretrained encoder with new layers on top."""
    pretrained = Pretrained.open(encoder)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = JointModel(pretrained.body(None, 0.0), pretrained.dimension, len(labels))
    return Start(pretrained, model, Decoding())


def open_start(run: Path, labels: Sequence[str]) -> Start:
    """Return a run to start from. Labels that it knows keep what it knows about them, others are new.

    :raises InputError: if it is no joint run.
    """
    folder = RunDirectory.open(resolve_run(run)).root
    kind = runtime_kind(folder)
    if kind not in ("joint", "onnx"):
        raise InputError(f"{run} is not a joint model; name one, or an encoder")
    values = read_description(folder)
    if kind == "onnx" and not (folder / "config.json").is_file():
        raise InputError(f"{run} has no config.json, so no training can start from it; export the run again")
    pretrained = Pretrained.load(folder if kind == "onnx" else folder / "encoder")
    model = JointModel(pretrained.body(None, 0.0), pretrained.dimension, len(values["labels"]))
    if kind == "joint":
        load_weights(folder / "model.safetensors", model)
    else:
        found = model.load_state_dict({**load_file(folder / HEADS), **encoder_weights(folder / ENCODER)}, strict=False)
        if missing := [name for name in found.missing_keys if not name.endswith("position_ids")]:
            raise InputError(f"{folder / ENCODER} has no {missing[0]}; export the run again")
    if tuple(values["labels"]) != tuple(labels):
        warn_of_other_labels(labels, values["labels"], str(run))
        model.label = _with_labels(model.label, values["labels"], labels)
        model.overall = _with_labels(model.overall, (*values["labels"], NO_OPINION), (*labels, NO_OPINION))
    return Start(pretrained, model, Decoding(**values["decoding"]), InputProfile.load(folder))


def _with_labels(layer: nn.Linear, old: Sequence[str], new: Sequence[str]) -> nn.Linear:
    """Return an output layer for other labels; one that is not known is unlikely until a training says more."""
    found = nn.Linear(layer.in_features, len(new))
    with torch.no_grad():
        found.weight.zero_()
        found.bias.fill_(float(layer.bias.min()) - (_UNLIKELY if set(old) & set(new) else 0))
        for place, label in enumerate(new):
            if label in old:
                found.weight[place], found.bias[place] = layer.weight[old.index(label)], layer.bias[old.index(label)]
    return found


def encoder_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the weights of an exported encoder by their names in torch; what was rounded to eight bits stays so."""
    onnx = import_extra("onnx", "train")
    graph = onnx.load(str(path)).graph
    arrays: dict[str, Any] = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    makers = {output: node for node in graph.node for output in node.output}
    found: dict[str, Any] = {}
    for name, value in arrays.items():
        if name.startswith("body.") and name.endswith("_quantized"):
            found[name.removesuffix("_quantized")] = _restored(name, arrays)
        elif name.startswith("body.") and value.dtype == np.float32 and not name.endswith("_scale"):
            found[name] = value
    # A matrix has lost its name; the bias that is added to its product has not.
    for node in graph.node:
        if node.op_type != "Add":
            continue
        for bias, product in (node.input, reversed(node.input)):
            if bias in found and bias.endswith(".bias") and (matrix := _matrix(product, makers, arrays)) is not None:
                found[bias.removesuffix("bias") + "weight"] = matrix.T
    return {name: torch.from_numpy(np.array(value, np.float32)) for name, value in found.items()}


def _matrix(product: str, makers: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
    """Return the constant matrix of a product, if there is one behind this value."""
    node = makers.get(product)
    while node is not None and node.op_type in ("Mul", "Cast"):
        node = makers.get(node.input[0])
    if node is None or node.op_type not in ("MatMul", "MatMulInteger") or node.input[1] not in arrays:
        return None
    return _restored(node.input[1], arrays)


def _restored(name: str, arrays: Mapping[str, Any]) -> Any:
    """Return the numbers of an array; those in eight bits are of a scale and a zero each, or one for each column."""
    if not name.endswith("_quantized"):
        return arrays[name]
    base = name.removesuffix("_quantized")
    zero, scale = (arrays[f"{base}_{what}"] for what in ("zero_point", "scale"))
    return (arrays[name].astype(np.float32) - zero.astype(np.float32)) * scale
