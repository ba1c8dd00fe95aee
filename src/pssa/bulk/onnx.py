"""Scoring by ONNX Runtime on a CPU, in float32 or with linear layers in eight bits."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pssa.data.example import Example
from pssa.data.validation import format_error
from pssa.errors import InputError, MissingExtra
from pssa.runs import Answer, Classifier
from pssa.runs.onnx_export import export_onnx

__all__ = ["OnnxScore", "export", "session"]

# Word vectors stay as they are, a scale for each column halves the loss twice over, and seven of the eight bits are used, since
# processors without instructions for them would overflow.
_IN_EIGHT_BITS: dict[str, Any] = {
    "op_types_to_quantize": ["MatMul", "Gemm"],
    "per_channel": True,
    "reduce_range": True,
}


def export(run: Path, in_eight_bits: bool) -> bytes:
    """The run as an ONNX file.

    :raises InputError: if the model cannot be exported, or has nothing that eight bits can hold.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = export_onnx(run, Path(folder) / "model.onnx")
        return (_quantized(path) if in_eight_bits else path).read_bytes()


def session(exported: bytes) -> Any:
    """ONNX Runtime with the model loaded; a call of it is computed by the thread that calls."""
    runtime = _runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    return runtime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])


@dataclass(frozen=True)
class OnnxScore:
    """Answers in the order of the examples."""

    classifier: Classifier  # for what its models read, and their labels
    session: Any
    batch_size: int

    def __call__(self, examples: Sequence[Example]) -> list[Answer]:
        """Score in batches of like length."""
        corpus = self.classifier.index(examples)
        names = [value.name for value in self.session.get_inputs()]
        order = corpus.length_order()
        parts = []
        for rows in torch.split(order, self.batch_size):
            batch = corpus.batch(rows)
            given = {name: getattr(batch, name).numpy() for name in names}
            parts.append(torch.from_numpy(self.session.run(["probabilities"], given)[0]))
        return self.classifier.answers(examples, torch.cat(parts)[order.argsort()])


def _quantized(path: Path) -> Path:
    _runtime()
    from onnxruntime import quantization

    target = path.with_name("quantized.onnx")
    # It recommends a step before this one through the root logger; there is nothing to gain from it here.
    logger, level = logging.getLogger(), logging.getLogger().level
    logger.setLevel(logging.ERROR)
    try:
        quantization.quantize_dynamic(path, target, **_IN_EIGHT_BITS, weight_type=quantization.QuantType.QInt8)
    except Exception as error:  # as many kinds as there are operations
        raise InputError(
            f"the model cannot be put into eight bits ({format_error(error)}); leave out `quantize` (--quantize)"
        ) from error
    finally:
        logger.setLevel(level)
    return target


def _runtime() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("onnxruntime", "onnx") from error
    return onnxruntime
