"""What a training of the joint model starts from: an encoder, a run, or an exported run, whose rounded weights are read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from pssa.errors import InputError, import_extra, setting
from pssa.joint.model import JointModel
from pssa.joint.runtime import Decoding
from pssa.models._pretrained import Pretrained
from pssa.runs.directory import RunDirectory
from pssa.runs.loading import runtime_kind
from pssa.runs.onnx_runtime import ENCODER, HEADS, read_description
from pssa.runs.run_names import resolve_run
from pssa.runs.saved_model import load_weights


def open_start(run: Path, labels: Sequence[str]) -> tuple[Pretrained, JointModel, Decoding]:
    """Return the encoder of a run, its model with the weights to start from, and how it finds.

    :raises InputError: if it is no joint run, or one of other labels.
    """
    folder = RunDirectory.open(resolve_run(run)).root
    kind = runtime_kind(folder)
    if kind not in ("joint", "onnx"):
        raise InputError(f"{run} is not a joint model; name one, or an encoder")
    values = read_description(folder)
    if tuple(values["labels"]) != tuple(labels):
        known = ", ".join(values["labels"])
        raise InputError(f"{run} has the labels {known}; give the same with {setting('labels')}, in this order")
    if kind == "onnx" and not (folder / "config.json").is_file():
        raise InputError(f"{run} has no config.json, so no training can start from it; export the run again")
    pretrained = Pretrained.load(folder if kind == "onnx" else folder / "encoder")
    model = JointModel(pretrained.body(None, 0.0), pretrained.dimension, len(labels))
    if kind == "joint":
        load_weights(folder / "model.safetensors", model)
        return pretrained, model, Decoding(**values["decoding"])
    weights = {**load_file(folder / HEADS), **encoder_weights(folder / ENCODER)}
    found = model.load_state_dict(weights, strict=False)
    if missing := [name for name in found.missing_keys if not name.endswith("position_ids")]:
        raise InputError(f"{folder / ENCODER} has no {missing[0]}; export the run again")
    return pretrained, model, Decoding(**values["decoding"])


def encoder_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the weights of an exported encoder by their names in torch; what was rounded to eight bits stays so."""
    onnx = import_extra("onnx", "onnx")
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
