"""How rows are scored: by a run's models in torch, with word scores where they are asked for, or by its ONNX file.

A window is computed by one thread, whatever there is of them, and several windows at a time. That is quicker than several threads
for one operation, which wait for each other, and the numbers do not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import torch

from pssa import models
from pssa.bulk import onnx
from pssa.bulk.rows import Score, Value
from pssa.data.example import Example
from pssa.errors import InputError
from pssa.runs import Classifier, load
from pssa.runs.defaults import choose_device
from pssa.runs.explain import Explanation, explain, require_usable, usual_saliency

__all__ = ["Scorer", "Scoring", "Sizes", "by_length", "export", "open_scorer", "sizes", "threads_of"]

_RUNTIMES, _QUANTIZED = ("torch", "onnx"), ("", "int8")
_MOST_WORDS = 1 << 19  # of a table, padding included: more than the sentences of a window have
_COPIES = 32  # of a table that saliencies hold, about; tables with word scores are so many times smaller
_MOST_EXPLAINED = 64  # sentences in one step where nothing else is asked for; some saliencies hold many copies of them
_OFTEN, _MOST_OFTEN = "leave_one_out", 512  # reads a text once for each of its words, of which there may be so many
_GPU_THREADS = 2  # one cuts sentences into pieces while the other keeps the GPU busy


@dataclass(frozen=True)
class Scoring:
    """How rows are scored.

    :raises InputError: for values that do not go together.
    """

    saliency: str | None = None  # of the word scores; "": the model's usual one; None: no word scores
    batch_size: int | None = None  # sentences in one step; None: as many as suit the model and the device
    device: str = "auto"
    precision: str = "auto"
    runtime: str = "torch"  # or "onnx"
    quantize: str = ""  # or "int8", where the runtime is onnx

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(f"batch_size is {self.batch_size}; it must be at least 1")
        if self.runtime not in _RUNTIMES:
            raise InputError(f"runtime is {self.runtime!r}; it can be {' or '.join(_RUNTIMES)}")
        if self.quantize not in _QUANTIZED:
            raise InputError(f"quantize is {self.quantize!r}; it can be int8")
        if self.quantize and self.runtime != "onnx":
            raise InputError('quantize is int8, which needs the runtime onnx; add `runtime="onnx"` (--runtime onnx)')
        if self.runtime == "onnx":
            self._check_onnx()

    def _check_onnx(self) -> None:
        if self.saliency is not None:
            raise InputError("the runtime onnx gives labels alone; for word scores take the runtime torch")
        if self.device == "cuda" or self.precision == "bfloat16":
            raise InputError(
                "the runtime onnx computes on the CPU in float32; for a GPU or bfloat16 take the runtime torch"
            )

    @property
    def chosen_device(self) -> str:
        """Where it is computed: cpu or cuda; `auto` is what this machine has."""
        if self.runtime == "onnx":
            return "cpu"
        return choose_device("auto").type if self.device == "auto" else self.device


@dataclass(frozen=True)
class Sizes:
    """What suits a model and a device."""

    window: int  # rows
    batch: int  # sentences


def sizes(model: str, device: str) -> Sizes:
    """On a CPU small batches stay in its caches, and windows are small enough for all cores to have one."""
    if device != "cpu":
        return Sizes(4096, 256)
    return Sizes(512, 16) if models.uses_encoder(model) else Sizes(2048, 64)


@dataclass(frozen=True)
class Scorer:
    """Scores examples; `threads` may do so at once."""

    score: Score
    threads: int


def export(run: Path, scoring: Scoring) -> bytes:
    """The run as an ONNX file, where the runtime needs one; made once and handed to every scorer."""
    return onnx.export(run, scoring.quantize == "int8") if scoring.runtime == "onnx" else b""


def open_scorer(run: Path, scoring: Scoring, exported: bytes = b"") -> Scorer:
    """Load the run.

    :param exported: what `export` gave.
    :raises InputError: if the run cannot be loaded, or not be scored in this way.
    """
    classifier = load(run, device=scoring.chosen_device, precision=scoring.precision)
    batch = scoring.batch_size or sizes(classifier.name, scoring.chosen_device).batch
    threads = threads_of(classifier)
    if scoring.runtime == "onnx":
        # The weights are in the file: what is needed of the run is how it reads.
        onnx_score = onnx.OnnxScore(replace(classifier, members=()), onnx.session(exported), batch)
        return Scorer(partial(by_length, onnx_score), threads)
    if scoring.saliency is not None:
        name = require_usable(classifier, scoring.saliency or usual_saliency(classifier))
        batch = scoring.batch_size or min(batch, _MOST_EXPLAINED)
        return Scorer(partial(by_length, partial(_explained, classifier, name, batch), copies=_COPIES), threads)
    return Scorer(partial(by_length, partial(classifier.answer, batch_size=batch)), threads)


def by_length(score: Score, examples: Sequence[Example], copies: int = 1) -> Sequence[Value]:
    """The same as all at once, in tables of bounded size: one long text does not make all rows of a window as wide.

    :param copies: of a table that `score` holds at once.
    """
    slices = list(_slices(examples, _MOST_WORDS // copies))
    if len(slices) == 1:
        return score(examples)
    said = {
        row: value for rows in slices for row, value in zip(rows, score([examples[row] for row in rows]), strict=True)
    }
    return [said[row] for row in range(len(examples))]


def _slices(examples: Sequence[Example], most: int) -> Iterator[list[int]]:
    """Rows that are scored together, from the shortest text to the longest; aspects of one text are neighbours."""
    part: list[int] = []
    for row in sorted(range(len(examples)), key=lambda row: (len(examples[row].spans), examples[row].text)):
        if part and (len(part) + 1) * len(examples[row].spans) > most:
            yield part
            part = []
        part.append(row)
    yield part


def threads_of(classifier: Classifier) -> int:
    """How many threads may ask the classifier at once, and are worth it."""
    # An encoder that is cut below its top layer notes what passes there, for one batch at a time.
    if any(getattr(getattr(member, "encoder", None), "refinement", None) is not None for member in classifier.members):
        return 1
    parameters = chain.from_iterable(member.parameters() for member in classifier.members)
    on_gpu = any(parameter.device.type != "cpu" for parameter in parameters)
    return _GPU_THREADS if on_gpu else torch.get_num_threads()


def _explained(classifier: Classifier, saliency: str, batch: int, examples: Sequence[Example]) -> list[Explanation]:
    """Answers and word scores.

    :raises InputError: if a text is too long to be read once for each of its words.
    """
    if saliency == _OFTEN:
        longest = max(len(example.spans) for example in classifier.featurizer.cut(examples))
        if longest > _MOST_OFTEN:
            most = f"{_OFTEN} scores the words of texts of at most {_MOST_OFTEN}"
            raise InputError(
                f"the text has {longest} words, and {most}; shorten it, or take another `saliency` (--explain)"
            )
    return explain(classifier, examples, saliency=saliency, batch_size=batch)
