"""Scorers: a run's models in torch, with word scores on request, or its ONNX file in ONNX Runtime.

One thread computes a window, and several windows are computed at a time. That is faster than several threads for one operation,
which wait for each other, and the numbers do not depend on how many there are.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from pssa import models
from pssa import saliency as saliencies
from pssa.bulk.rows import Fetch, Score, Start, Value
from pssa.data.example import Example
from pssa.data.validation import format_error
from pssa.errors import InputError, import_extra, setting
from pssa.runs import Answer, Classifier, load
from pssa.runs.answers import Explanation
from pssa.runs.devices import choose_device
from pssa.runs.explain import explain, require_usable, usual_saliency
from pssa.runs.onnx_export import export_onnx

_RUNTIMES, _QUANTIZATIONS = ("torch", "onnx"), ("", "int8")
_MAX_TABLE_WORDS = 1 << 19  # padding included: more than the sentences of a window have
_EXPLANATION_COPIES = 32  # of a table that a saliency holds, about; tables with word scores are so many times smaller
_MAX_EXPLAINED_BATCH = 64  # sentences, unless a batch size is set; some saliencies hold many copies of them
_MAX_QUADRATIC_WORDS = 512  # of a text that is read once for each of its words
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
        return choose_device("auto").type if self.device == "auto" else self.device


def default_window_rows(model: str, device: str) -> int:
    """Return how many rows a window has; on a CPU few enough for all cores to have one."""
    if device != "cpu":
        return 4096
    return 512 if models.uses_encoder(model) else 2048


def default_batch_size(model: str, device: str) -> int:
    """Return how many sentences are computed in one step; on a CPU few enough to stay in its caches."""
    if device != "cpu":
        return 1024
    return 16 if models.uses_encoder(model) else 64


def export(run: Path, scoring: Scoring) -> bytes:
    """Return the run as an ONNX file if the runtime needs one; it is made once and handed to every scorer.

    :raises InputError: if the model cannot be exported or quantized.
    """
    if scoring.runtime != "onnx":
        return b""
    with tempfile.TemporaryDirectory() as folder:
        path = export_onnx(run, Path(folder) / "model.onnx")
        return (_quantize(path) if scoring.quantize == "int8" else path).read_bytes()


@dataclass(frozen=True)
class Scorer:
    """A loaded run: a function that scores examples."""

    start: Start
    overlaps: bool = False  # whether other work can be done between its steps, by the one thread that takes them

    def __call__(self, examples: Sequence[Example]) -> Sequence[Value]:
        """Score the examples."""
        return self.start(examples)()()


def open_scorer(run: Path, scoring: Scoring, exported: bytes = b"") -> tuple[Scorer, int]:
    """Load the run; return what scores examples, and how many threads may call it at once.

    :param exported: what `export` returned.
    :raises InputError: if the run cannot be loaded, or not scored in this way.
    """
    classifier = load(run, device=scoring.chosen_device, precision=scoring.precision)
    if scoring.abstains:
        classifier = classifier.abstaining(threshold=scoring.abstain, risk=scoring.abstain_risk)
    batch_size = scoring.batch_size or default_batch_size(classifier.name, scoring.chosen_device)
    if scoring.runtime == "onnx":
        # The weights are in the ONNX file; only the featurizer and the labels of the run are used.
        score = partial(_score_onnx, classifier, open_session(exported), batch_size)
        return Scorer(partial(start_by_length, _at_once(score))), classifier.torch.n_threads
    if scoring.saliency is not None:
        name = require_usable(classifier, scoring.saliency or usual_saliency(classifier))
        batch_size = scoring.batch_size or min(batch_size, _MAX_EXPLAINED_BATCH)
        start = _at_once(partial(_explain, classifier, name, batch_size))
        return Scorer(partial(start_by_length, start, n_copies=_EXPLANATION_COPIES)), classifier.torch.n_threads
    if not classifier.torch.is_on_gpu:
        score = partial(classifier.answer, batch_size=batch_size)
        return Scorer(partial(start_by_length, _at_once(score))), classifier.torch.n_threads
    return Scorer(partial(start_by_length, _start_on_gpu(classifier, batch_size)), True), classifier.torch.n_threads


def _at_once(score: Score) -> Start:
    """Return a function whose second step does everything."""

    def start(examples: Sequence[Example]) -> Callable[[], Fetch]:
        def compute() -> Fetch:
            values = score(examples)
            return lambda: values

        return compute

    return start


def _start_on_gpu(classifier: Classifier, batch_size: int) -> Start:
    """Return a function that cuts texts in another thread, in which the tokenizer leaves Python to the others."""
    runtime = classifier.torch
    cutting, encoders = ThreadPoolExecutor(1, "tokenizer"), runtime.recorded_encoders()

    def start(examples: Sequence[Example]) -> Callable[[], Fetch]:
        read = cutting.submit(runtime.featurizer.read, examples)

        def compute() -> Fetch:
            probabilities = runtime.begin(runtime.index(examples, read.result()), batch_size, encoders)
            return lambda: classifier.answers(examples, probabilities())

        return compute

    return start


def start_by_length(start: Start, examples: Sequence[Example], n_copies: int = 1) -> Callable[[], Fetch]:
    """Take the first step of scoring in tables of bounded size, so that one long text does not widen all rows.

    :param n_copies: of a table that are held.
    """
    max_words = _MAX_TABLE_WORDS // n_copies
    longest = max((len(example.spans) for example in examples), default=0)
    if len(examples) * longest <= max_words:
        return start(examples)
    slices = list(_slices(examples, max_words))

    def compute() -> Fetch:
        # One after the other: together their tables are as large as one of all rows.
        fetched = [start([examples[row] for row in rows])()() for rows in slices]
        return lambda: _in_order(slices, fetched)

    return compute


def score_by_length(score: Score, examples: Sequence[Example]) -> Sequence[Value]:
    """Score in tables of bounded size."""
    return start_by_length(_at_once(score), examples)()()


def _in_order(slices: Sequence[Sequence[int]], values: Sequence[Sequence[Value]]) -> list[Value]:
    """Return the values of all slices in the order of their rows."""
    by_row = dict(zip(chain.from_iterable(slices), chain.from_iterable(values), strict=True))
    return [by_row[row] for row in range(len(by_row))]


def _slices(examples: Sequence[Example], max_words: int) -> Iterator[list[int]]:
    """Yield rows that are scored together, from the shortest text to the longest; aspects of one text are neighbours."""
    part: list[int] = []
    for row in sorted(range(len(examples)), key=lambda row: (len(examples[row].spans), examples[row].text)):
        if part and (len(part) + 1) * len(examples[row].spans) > max_words:
            yield part
            part = []
        part.append(row)
    yield part


def _explain(classifier: Classifier, saliency: str, batch_size: int, examples: Sequence[Example]) -> list[Explanation]:
    """Return answers with word scores.

    :raises InputError: if a text is too long to be read once for each of its words.
    """
    if saliencies.is_quadratic(saliency):
        longest = max(len(example.spans) for example in classifier.torch.featurizer.cut(examples))
        if longest > _MAX_QUADRATIC_WORDS:
            limit = f"{saliency} explains texts of at most {_MAX_QUADRATIC_WORDS}"
            advice = f"shorten it, or choose another {setting('saliency', option='--explain')}"
            raise InputError(f"the text has {longest} words, and {limit}; {advice}")
    return explain(classifier, examples, saliency=saliency, batch_size=batch_size)


def open_session(exported: bytes) -> Any:
    """Load the model into ONNX Runtime; the calling thread computes."""
    runtime = import_extra("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    return runtime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])


def _score_onnx(classifier: Classifier, session: Any, batch_size: int, examples: Sequence[Example]) -> list[Answer]:
    """Score in batches of similar length."""
    corpus = classifier.torch.index(examples)
    names = [value.name for value in session.get_inputs()]
    order = corpus.length_order()
    parts = []
    for rows in torch.split(order, batch_size):
        batch = corpus.batch(rows)
        given = {name: getattr(batch, name).numpy() for name in names}
        parts.append(torch.from_numpy(session.run(["probabilities"], given)[0]))
    return classifier.answers(examples, torch.cat(parts)[order.argsort()])


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
