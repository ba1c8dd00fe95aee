"""`TorchRuntime`: a trained run in torch, one model or several that vote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, zip_longest
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn

from pssa import models
from pssa import saliency as saliencies
from pssa.data.example import Example
from pssa.data.validation import brief_repr
from pssa.errors import InputError, setting
from pssa.evaluation.calibration import scale
from pssa.evaluation.predict import Encoder, predict_logits, start_logits
from pssa.models import IndexedCorpus
from pssa.models._plain_tokenizer import ReadPieces
from pssa.runs.answers import Answer, Question, Word, examples_of, require_examples
from pssa.runs.devices import computes_bfloat16
from pssa.runs.featurizer import Featurizer, PieceFeaturizer
from pssa.training.graphs import RecordedEncoder

# Weight of the mean probability beside all votes: enough to break a tie, too little to overrule a vote.
_VOICE = 1e-3
_MAX_TABLE_WORDS = 1 << 19  # padding included: more than the sentences of a window have
_EXPLANATION_COPIES = 32  # of a table that a saliency holds, about; tables with word scores are so many times smaller
_MAX_EXPLAINED_BATCH = 64  # sentences, unless a batch size is set; some saliencies hold many copies of them
_MAX_QUADRATIC_WORDS = 512  # of a text that is read once for each of its words
_CPU_BATCH, _CPU_ENCODER_BATCH, _GPU_BATCH = 64, 16, 1024  # sentences; on a CPU few enough to stay in its caches
_GPU_THREADS = 2  # one cuts sentences into pieces while the other keeps the GPU busy


@dataclass(frozen=True)
class TorchRuntime:
    """A trained classifier in torch: one model, or several that vote."""

    name: str  # of the model
    labels: tuple[str, ...]
    featurizer: Featurizer
    members: tuple[nn.Module, ...]
    vote_weights: tuple[float, ...] = (1.0,)
    temperature: float = 1.0  # that calibrates the probabilities; 1: they are not changed
    chosen_saliency: str = ""  # of reasons; empty: the usual one of the model

    finds = False  # aspects

    def __repr__(self) -> str:
        return brief_repr(self, model=self.name, labels=list(self.labels), members=len(self.members))

    @property
    def in_torch(self) -> TorchRuntime:
        """Itself."""
        return self

    @property
    def has_encoder(self) -> bool:
        """Whether it reads texts with an encoder."""
        return models.uses_encoder(self.name)

    @property
    def model(self) -> nn.Module:
        """The first member, whose attention explains answers; the only one outside ensembles."""
        return self.members[0]

    @property
    def is_on_gpu(self) -> bool:
        """Whether a GPU computes."""
        parameters = chain.from_iterable(member.parameters() for member in self.members)
        return any(parameter.device.type != "cpu" for parameter in parameters)

    def narrow(self) -> None:
        """Let encoders compute in bfloat16 where the device does: faster, and close answers may change."""
        if computes_bfloat16(next(self.members[0].parameters()).device):
            for member in self.members:
                models.narrow(member)

    @property
    def saliencies(self) -> tuple[str, ...]:
        """The saliencies that apply to the model, the usual one first: attention where the model has it, else the cheapest."""
        refined = isinstance(getattr(getattr(self.model, "encoder", None), "refinement", None), nn.Module)
        attends = refined or models.attends(self.name)
        has = {"attention": attends, "refined": refined, "states": attends or not self.has_encoder}
        usual = "attention" if attends else "leave_one_out" if self.has_encoder else "gradient"
        usable = (name for name in saliencies.names() if has.get(saliencies.needs(name), True))
        return usual, *(name for name in usable if name != usual)

    @property
    def saliency(self) -> str:
        """The saliency of reasons."""
        return self.chosen_saliency or self.saliencies[0]

    @property
    def n_threads(self) -> int:
        """How many threads can use it at once with a gain."""
        # An encoder that is cut below its top layer stores what passes there, for one batch at a time.
        if any(getattr(getattr(member, "encoder", None), "refinement", None) is not None for member in self.members):
            return 1
        return _GPU_THREADS if self.is_on_gpu else torch.get_num_threads()

    def index(self, examples: Sequence[Example], read: ReadPieces | None = None) -> IndexedCorpus:
        """Return the examples as tensors for the members; their words are those of `featurizer.cut`.

        :param read: what `featurizer.read` returned for the examples, if it was called before.
        """
        require_examples(examples)
        return self.featurizer.index(self.featurizer.cut(examples), self.labels, read)

    def probabilities(self, examples: Sequence[Example], batch_size: int = 256) -> Tensor:
        """Return the (n, C) probability of each label."""
        return self.begin(self.index(examples), batch_size)()

    def predicted_labels(self, examples: Sequence[Example]) -> list[str]:
        """Return the label of each example."""
        return [self.labels[number] for number in self.probabilities(examples).argmax(dim=1).tolist()]

    def vote(self, each: Sequence[Tensor]) -> Tensor:
        """Combine the probabilities (n, C) of the members and calibrate them: (n, C)."""
        own = each[0] if len(self.members) == 1 else combine(torch.stack(list(each)), torch.tensor(self.vote_weights))
        return own if self.temperature == 1 else scale(own, self.temperature)

    def start(
        self, questions: Sequence[Question], *, batch_size: int | None = None, reasons: bool = False
    ) -> Callable[[], list[list[Answer]]]:
        """Begin to answer; return a function that waits for the answers to each question. A GPU computes meanwhile.

        On a GPU a thread cuts the texts into pieces; they are computed when the next questions arrive, or are waited for.

        :raises InputError: if an aspect is not in its text, or a text is too long to be explained.
        """
        inside = [examples_of(question) for question in questions]
        examples = [example for each in inside for example, _ in each]
        if reasons and saliencies.is_quadratic(self.saliency):
            self._refuse_long(examples)
        judged = self.judge(examples, batch_size, reasons)

        def wait() -> list[list[Answer]]:
            answers = iter(judged())
            return [[next(answers).moved(offset) for _, offset in each] for each in inside]

        return wait

    def judge(
        self, examples: Sequence[Example], batch_size: int | None = None, reasons: bool = False
    ) -> Callable[[], Sequence[Answer]]:
        """Begin to judge examples as they are; see `start`. Tables have a bounded size: one long text widens few rows."""
        if not examples:
            return list
        longest = max(len(example.spans) for example in examples)
        most = _MAX_TABLE_WORDS // (_EXPLANATION_COPIES if reasons else 1)
        if len(examples) > 1 and len(examples) * longest > most:
            # One after the other: together their tables are as large as one of all rows.
            return lambda: self._judge_slices(examples, most, batch_size, reasons)
        if reasons:
            return lambda: self._explain(examples, batch_size)
        size = batch_size or self.usual_batch
        if self.is_on_gpu:
            launch = self._queue.add(examples, size)
            return lambda: self._answers(examples, launch())
        return lambda: self._answers(examples, self.begin(self.index(examples), size)())

    def _judge_slices(
        self, examples: Sequence[Example], most: int, batch_size: int | None, reasons: bool
    ) -> Sequence[Answer]:
        answers: dict[int, Answer] = {}
        for rows in _slices(examples, most):
            answers |= zip(rows, self.judge([examples[row] for row in rows], batch_size, reasons)(), strict=True)
        return [answers[row] for row in range(len(examples))]

    def _explain(self, examples: Sequence[Example], batch_size: int | None) -> list[Answer]:
        """Return the answers with the word scores of the first member, which is run once for both."""
        size = batch_size or min(self.usual_batch, _MAX_EXPLAINED_BATCH)
        cut = self.featurizer.cut(examples)
        corpus = self.featurizer.index(cut, self.labels)
        observed = saliencies.observe(self.model, corpus, saliencies.build(self.saliency, {}), size)
        others = [predict_logits(member, corpus, size).softmax(dim=1) for member in self.members[1:]]
        answers = self._answers(examples, self.vote([observed.probabilities, *others]))
        explained = []
        for answer, example, scores in zip(answers, cut, observed.scores.tolist(), strict=True):
            words = (Word(*span, share) for span, share in zip(example.spans, scores, strict=False))
            explained.append(replace(answer, words=tuple(words)))
        return explained

    def _refuse_long(self, examples: Sequence[Example]) -> None:
        """Refuse texts that would be read once for each of very many words."""
        longest = max((len(example.spans) for example in self.featurizer.cut(examples)), default=0)
        if longest > _MAX_QUADRATIC_WORDS:
            limit = f"{self.saliency} explains texts of at most {_MAX_QUADRATIC_WORDS}"
            advice = f"shorten it, or choose another {setting('saliency', option='--explain')}"
            raise InputError(f"the text has {longest} words, and {limit}; {advice}")

    def _answers(self, examples: Sequence[Example], probabilities: Tensor) -> list[Answer]:
        answers = []
        for example, row in zip(examples, probabilities.tolist(), strict=True):
            by_label = dict(zip(self.labels, row, strict=True))
            label = self.labels[row.index(max(row))]
            answers.append(Answer(label, by_label, example.aspect_text, *example.aspect_chars))
        return answers

    def begin(self, corpus: IndexedCorpus, batch_size: int, encoders: Sequence[Encoder] = ()) -> Callable[[], Tensor]:
        """Begin to compute the probabilities; return a function that waits for them."""
        started = [
            start_logits(member, corpus, batch_size, encoder) for member, encoder in zip_longest(self.members, encoders)
        ]
        return lambda: self.vote([logits().softmax(dim=1) for logits in started])

    @property
    def usual_batch(self) -> int:
        """Sentences in one step that suit the model and the device."""
        if self.is_on_gpu:
            return _GPU_BATCH
        return _CPU_ENCODER_BATCH if isinstance(self.featurizer, PieceFeaturizer) else _CPU_BATCH

    @cached_property
    def _queue(self) -> _LaunchQueue:
        return _LaunchQueue(self)

    @cached_property
    def encoders(self) -> list[RecordedEncoder]:
        """An encoder for each member that replays CUDA graphs, one thread at a time; none where they cannot be recorded."""
        if not self.is_on_gpu or not all(getattr(member, "recordable", False) for member in self.members):
            return []
        encoders: list[Any] = [member.encoder for member in self.members]
        if any(encoder.refinement is not None for encoder in encoders):
            return []
        pad_id = self.featurizer.table.pad_id if isinstance(self.featurizer, PieceFeaturizer) else 0
        return [RecordedEncoder(encoder, pad_id) for encoder in encoders]


class _LaunchQueue:
    """Sentences on their way to a GPU: one thread cuts them into pieces, and the caller's launches the kernels.

    What is added launches what was added before, whose pieces are ready by then. More threads would gain nothing: Python runs
    one at a time, and one that launches kernels would wait for its turn each time.
    """

    def __init__(self, runtime: TorchRuntime) -> None:
        self._runtime = runtime
        self._cutting = ThreadPoolExecutor(1, "tokenizer")
        self._pending: list[Callable[[], None]] = []
        self._lock = Lock()

    def add(self, examples: Sequence[Example], batch_size: int) -> Callable[[], Tensor]:
        """Begin to cut the examples; return a function that waits for their probabilities."""
        runtime, read = self._runtime, self._cutting.submit(self._runtime.featurizer.read, examples)
        launched: list[Callable[[], Tensor]] = []

        def launch() -> None:
            if not launched:
                launched.append(runtime.begin(runtime.index(examples, read.result()), batch_size, runtime.encoders))

        with self._lock:
            before, self._pending = self._pending, [launch]
            for each in before:
                with suppress(Exception):  # which those see who wait for it
                    each()

        def wait() -> Tensor:
            with self._lock:
                launch()
            return launched[0]()

        return wait


def _slices(examples: Sequence[Example], max_words: int) -> Iterator[list[int]]:
    """Yield rows that are scored together, from the shortest text to the longest; aspects of one text are neighbours."""
    part: list[int] = []
    for row in sorted(range(len(examples)), key=lambda row: (len(examples[row].spans), examples[row].text)):
        if part and (len(part) + 1) * len(examples[row].spans) > max_words:
            yield part
            part = []
        part.append(row)
    yield part


def combine(probabilities: Tensor, vote_weights: Tensor) -> Tensor:
    """Return the (n, C) shares of the votes of M members with `probabilities` (M, n, C) and `vote_weights` (M,).

    Members vote with their predicted class; the mean of their probabilities is a small addition that breaks ties.
    """
    n_classes = probabilities.shape[2]
    votes = torch.nn.functional.one_hot(probabilities.argmax(dim=2), n_classes).to(probabilities.dtype)
    total = torch.einsum("m,mnc->nc", vote_weights, votes)
    answer = total + _VOICE * vote_weights.sum() * probabilities.mean(dim=0)
    return answer / answer.sum(dim=1, keepdim=True)
