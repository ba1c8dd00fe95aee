"""`Scorer`: a loaded run that answers rows, with word scores on request, in torch or in ONNX Runtime.

One thread computes a window, and several windows are computed at a time. That is faster than several threads for one operation,
which wait for each other, and the numbers do not depend on how many there are.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.bulk.finding import FindingOptions
from pssa.bulk.rows import AskedRow, RejectedRow, Start, parse_row
from pssa.data.rows import Problem, Row
from pssa.data.validation import format_error
from pssa.errors import InputError, import_extra, setting
from pssa.runs.answers import Runtime
from pssa.runs.input_profile import InputProfile
from pssa.runs.loading import load

if TYPE_CHECKING:
    from torch import Tensor

    from pssa.models import IndexedCorpus
    from pssa.runs.torch_runtime import TorchRuntime

_RUNTIMES, _QUANTIZATIONS = ("torch", "onnx"), ("", "int8")
# Word vectors stay as they are; a scale for each column cuts the loss to a quarter; seven of the eight bits are used, since
# processors without eight-bit instructions would overflow.
_QUANTIZATION: dict[str, Any] = {
    "op_types_to_quantize": ["MatMul", "Gemm"],
    "per_channel": True,
    "reduce_range": True,
}


@dataclass(frozen=True)
class Scoring:
    """How rows are scored.

    :raises InputError: for values that contradict each other.
    """

    saliency: str | None = None  # of the word scores; "": the model's default; None: no word scores
    batch_size: int | None = None  # sentences in one step; None: the default for the model and the device
    device: str = "auto"
    precision: str = "auto"
    runtime: str = "torch"  # or "onnx"
    quantize: str = ""  # or "int8", if the runtime is onnx
    abstain: float | None = None  # lowest confidence to answer; None: always
    abstain_risk: float | None = None  # share of rows that may get a wrong answer, from which a threshold follows

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(f"{setting('batch_size')} is {self.batch_size}; it must be at least 1")
        if self.runtime not in _RUNTIMES:
            raise InputError(f"{setting('runtime')} is {self.runtime!r}; it can be {' or '.join(_RUNTIMES)}")
        if self.quantize not in _QUANTIZATIONS:
            raise InputError(f"{setting('quantize')} is {self.quantize!r}; it can be int8")
        if self.quantize and self.runtime != "onnx":
            raise InputError(f"{setting('quantize', 'int8')} needs ONNX Runtime; add {setting('runtime', 'onnx')}")
        if self.runtime == "onnx":
            self._check_onnx()

    def _check_onnx(self) -> None:
        torch_runtime = setting("runtime", "torch")
        if self.saliency is not None:
            raise InputError(f"the runtime onnx gives labels without word scores; for these use {torch_runtime}")
        if self.device == "cuda" or self.precision == "bfloat16":
            raise InputError(
                f"the runtime onnx computes on the CPU in float32; for a GPU or bfloat16 use {torch_runtime}"
            )

    @property
    def abstains(self) -> bool:
        """Whether some rows may get no answer."""
        return self.abstain is not None or self.abstain_risk is not None

    @property
    def chosen_device(self) -> str:
        """The device: cpu or cuda; `auto` is what this machine has."""
        if self.runtime == "onnx":
            return "cpu"
        if self.device != "auto":
            return self.device
        from pssa.runs.devices import choose_device

        return choose_device("auto").type


def default_window_rows(model: str, device: str) -> int:
    """Return how many rows a window has; on a CPU few enough for all cores to have one."""
    from pssa import models

    if device != "cpu":
        return 4096
    return 512 if models.uses_encoder(model) else 2048


def export(run: Path, scoring: Scoring) -> bytes:
    """Return the run as an ONNX file if the runtime needs one; it is made once and handed to every scorer.

    :raises InputError: if the model cannot be exported or quantized.
    """
    if scoring.runtime != "onnx":
        return b""
    from pssa.runs.onnx_export import export_onnx

    with tempfile.TemporaryDirectory() as folder:
        path = export_onnx(run, Path(folder) / "model.onnx")
        return (_quantize(path) if scoring.quantize == "int8" else path).read_bytes()


@dataclass(frozen=True)
class Scorer:
    """What answers rows, and what is asked about them and written."""

    start: Start
    finding: FindingOptions | None = None  # of the aspects of rows that have none; None: each row must have one
    saliency: str | None = None  # of the word scores that are written; None: none
    profile: InputProfile | None = None  # of the training texts, for notes about texts in which nothing is found
    finds_only: bool = False  # look for aspects in every row, whatever it has, and write no labels
    n_threads: int = 1  # that may use it at once
    overlaps: bool = False  # whether a GPU computes after it has started

    def parse(self, event: Row | Problem) -> AskedRow | RejectedRow:
        """Return what is asked about a row, or why nothing can be."""
        return parse_row(event, self.finding is not None, self.finds_only)


def open_scorer(run: Path, scoring: Scoring, finding: FindingOptions | None = None, exported: bytes = b"") -> Scorer:
    """Load the run, and what finds aspects.

    :param finding: how aspects of rows that have none are found; None: each row must have one.
    :param exported: what `export` returned.
    :raises InputError: if the run cannot be loaded, or not scored in this way.
    """
    places = finding.of_run(run) if finding else {}
    classifier = load(run, device=scoring.chosen_device, precision=scoring.precision, **places)
    if scoring.abstains:
        classifier = classifier.abstaining(threshold=scoring.abstain, risk=scoring.abstain_risk)
    if exported:
        classifier = replace(classifier, runtime=_in_onnx_runtime(classifier.torch, exported))
    if scoring.saliency and scoring.saliency != classifier.saliency:
        classifier = classifier.explaining(scoring.saliency)
    has_reasons = scoring.saliency is not None
    runtime: Any = classifier.runtime
    return Scorer(
        partial(classifier.start, batch_size=scoring.batch_size, reasons=has_reasons),
        finding,
        classifier.saliency if has_reasons else None,
        classifier.profile,
        n_threads=getattr(runtime, "n_threads", None) or os.cpu_count() or 1,
        overlaps=getattr(runtime, "is_on_gpu", False) and not has_reasons,
    )


def _in_onnx_runtime(runtime: TorchRuntime, exported: bytes) -> Runtime:
    """Return the runtime with its models in ONNX Runtime; only its featurizer, labels and tagger are used."""
    import torch

    from pssa.runs.torch_runtime import TorchRuntime

    session = open_session(exported)
    names = [value.name for value in session.get_inputs()]

    class Exported(TorchRuntime):
        def begin(self, corpus: IndexedCorpus, batch_size: int, encoders: Any = ()) -> Callable[[], Tensor]:
            """Score in batches of similar length."""
            order, parts = corpus.length_order(), []
            for rows in torch.split(order, batch_size):
                batch = corpus.batch(rows)
                given = {name: getattr(batch, name).numpy() for name in names}
                parts.append(torch.from_numpy(session.run(["probabilities"], given)[0]))
            probabilities = torch.cat(parts)[order.argsort()]
            return lambda: probabilities

    return Exported(**{each.name: getattr(runtime, each.name) for each in fields(runtime)})


def open_session(exported: bytes) -> Any:
    """Load the model into ONNX Runtime; the calling thread computes."""
    runtime = import_extra("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    return runtime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])


def _quantize(path: Path) -> Path:
    quantization = import_extra("onnxruntime.quantization", "onnx")
    target = path.with_name("quantized.onnx")
    # It recommends a preparatory step through the root logger, from which nothing is gained here.
    logger, level = logging.getLogger(), logging.getLogger().level
    logger.setLevel(logging.ERROR)
    try:
        quantization.quantize_dynamic(path, target, **_QUANTIZATION, weight_type=quantization.QuantType.QInt8)
    except Exception as error:  # as many kinds as there are operations
        advice = f"leave out {setting('quantize')}"
        raise InputError(f"the model cannot be quantized to eight bits ({format_error(error)}); {advice}") from error
    finally:
        logger.setLevel(level)
    return target
