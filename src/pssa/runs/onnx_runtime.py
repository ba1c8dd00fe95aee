"""`OnnxRuntime`: answers of an exported folder by ONNX Runtime and numpy, without torch.

The folder has `model.json`, the encoder as `encoder.onnx`, what stands on it in `heads.safetensors`, and `tokenizer.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from pssa.data.files import require_regular
from pssa.data.validation import integer, list_of, number, parse_fields, parsers_of, text
from pssa.errors import InputError
from pssa.joint.pieces import WordPieces
from pssa.joint.runtime import Decoding, Encode, Floats, JointRuntime
from pssa.runs.directory import naming_damage, read_json

ENCODER, HEADS, TOKENIZER = "encoder.onnx", "heads.safetensors", "tokenizer.json"
_SCHEMA, _MAX_POSITIONS = 1, 1 << 16
_ADVICE = "copy or export the model again"
_HEADS = {  # shape of each weight, by the width D of the encoder and the number C of labels
    "tags": ("5", "D"),
    "gate": ("1", "D"),
    "aspect_query": ("D", "D"),
    "overall_query": ("D", "D"),
    "label": ("C", "2D"),
    "overall": ("C+1", "2D"),
}


class OnnxRuntime(JointRuntime):
    """The joint model in an exported folder."""

    @classmethod
    def load(cls, folder: Path, threads: int = 1) -> OnnxRuntime:
        """Load an exported folder.

        :param threads: that compute one batch; callers may compute several at a time instead.
        :raises InputError: if a file is missing or damaged.
        """
        values = read_description(folder)
        heads = _heads(folder / HEADS, len(values["labels"]))
        return cls(
            encode=_open(folder / ENCODER, threads),
            heads=heads,
            pieces=WordPieces.load(folder / TOKENIZER, values["max_positions"]),
            labels=tuple(values["labels"]),
            decoding=Decoding(**values["decoding"]),
            sentences_at_once=1,  # eight bits are scaled to all that is read together
        )


def read_description(folder: Path) -> dict[str, Any]:
    """Return the values of `model.json`.

    :raises InputError: if it is damaged or of another kind.
    """
    path = folder / "model.json"
    found = read_json(path)
    with naming_damage(path, advice=_ADVICE):
        if not isinstance(found, dict) or found.pop("schema", None) != _SCHEMA:
            raise InputError(f"expected an object of schema {_SCHEMA}")
        parsers = {"runtime": text, "model": text, "labels": list_of(text), "max_positions": integer}
        values = parse_fields({key: found.get(key) for key in parsers}, "", parsers)
        decoding = found.get("decoding")
        if isinstance(decoding, dict):
            decoding = {"mention_margin": None, **decoding}  # earlier versions had none
        known = parsers_of(Decoding, label_biases=list_of(number))
        values["decoding"] = parse_fields(decoding, "decoding", known)
        if len(values["decoding"]["label_biases"]) not in (0, len(values["labels"])):
            raise InputError("`decoding.label_biases` has not one number for each label")
        if len(set(values["labels"])) != len(values["labels"]) or len(values["labels"]) < 2:
            raise InputError("`labels` has fewer than two labels, or one twice")
        if not 8 <= values["max_positions"] <= _MAX_POSITIONS:
            raise InputError(f"`max_positions` is {values['max_positions']}; expected 8 to {_MAX_POSITIONS}")
        if values["decoding"]["temperature"] <= 0:
            raise InputError("`decoding.temperature` must be positive")
        return values


def _heads(path: Path, n_labels: int) -> dict[str, Floats]:
    with naming_damage(path, SafetensorError, OSError, KeyError, ValueError, advice=_ADVICE):
        require_regular(path)
        found = {name: np.asarray(value, np.float32) for name, value in load_file(path).items()}
        width = found["gate.weight"].shape[1]
        sizes = {"1": 1, "5": 5, "D": width, "2D": 2 * width, "C": n_labels, "C+1": n_labels + 1}
        for name, shape in _HEADS.items():
            expected = tuple(sizes[size] for size in shape)
            bias = found[f"{name}.bias"].shape if name != "gate" else expected[:1]
            if found[f"{name}.weight"].shape != expected or bias != expected[:1]:
                raise ValueError(f"{name} does not have the shape {expected}")
        if name := next((name for name, value in found.items() if not np.isfinite(value).all()), ""):
            raise ValueError(f"{name} holds a number that is not finite")
        return found


def _open(path: Path, threads: int) -> Encode:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4
    with naming_damage(path, Exception, advice=_ADVICE):  # the library has a class for each kind of damage
        require_regular(path)
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def encode(ids: Any, present: Any) -> Floats:
        states: Floats = session.run(None, {"input_ids": ids, "attention_mask": present})[0]
        return states

    return encode
