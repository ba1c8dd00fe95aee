"""The methods: ways from a corpus to a classifier, by the names that `--method` takes.

A file is a method, such as `consensus.py`, or a family of several, such as `baselines.py`; its table `METHODS` holds them.
`find("pg-as")` is a `Method`, which knows how it trains, whether and how it mines, and which settings it uses. Nothing
else in the package compares the names of methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from pssa.errors import InputError
from pssa.registry import Registry

if TYPE_CHECKING:
    from torch import nn

    from pssa.data.evidence import Evidence
    from pssa.mining import Mined
    from pssa.runs.run_context import RunContext
    from pssa.runs.settings import Config

__all__ = ["Gate", "Method", "Trained", "find", "mining_names", "names", "record_evidence", "train_final"]

# The files of several methods: names are listed without importing them, since they import torch.
_FAMILIES = {
    "baselines": ("base", "kt", "boosting", "adaboost"),
    "progressive": ("aw-as", "pg-as", "rm-as"),
}
_FILES = Registry(__name__, "method", separator="-")


@dataclass(frozen=True)
class Gate:
    """Macro-F1 of models with and without evidence, each on the instances that it has not seen."""

    with_evidence: float
    without: float

    @property
    def is_open(self) -> bool:
        """Whether the evidence does no harm."""
        return self.with_evidence >= self.without

    def as_dict(self) -> dict[str, float | bool]:
        """Return plain values, for JSON."""
        return {"with_evidence": self.with_evidence, "without": self.without, "supervised": self.is_open}


@dataclass(frozen=True)
class Trained:
    """The outcome of a method: one model, or several that vote."""

    members: tuple[nn.Module, ...]
    vote_weights: tuple[float, ...] = (1.0,)  # of each member
    evidence: Evidence | None = None  # that supervised the final training, or would have but for the gate
    gate: Gate | None = None  # how the choice to use the evidence was made


class Method:
    """A way from a corpus to a classifier. This class answers for methods that do not mine."""

    mines = False
    continues_baseline = False  # whether mining changes the model of a plain training, instead of training its own
    default_saliency = "gradient"

    def __init__(self, name: str, train: Callable[[RunContext], Trained], resembles_search: bool = True) -> None:
        """Name a method.

        :param resembles_search: whether the final model is like that of the search: a single one, trained as long. The confidence
            of a plain model says nothing about that of another.
        """
        self.name = name
        self.train = train
        self.resembles_search = resembles_search

    @property
    def family(self) -> str:
        """The name of the family, such as "progressive"."""
        return _family_of(self.name)

    def uses(self, config: Config, section: str, key: str) -> bool:
        """Return whether a training with `config` uses the setting `key` of `section`."""
        if section == "supervision":
            return key != "gate" and (self.mines or bool(config.supervision.evidence))
        return section != "mining"

    def saliency(self, config: Config) -> str:
        """Return the saliency it mines by: the configured one or its own.

        Where self-attention is refined, the gradient of the top layer's states is zero; that of its attention takes its place.
        """
        own = self.default_saliency
        return config.mining.saliency or ("self_attention" if own == "gradient" and config.refines else own)

    def mining_defaults(self, config: Config) -> dict[str, Any]:
        """Return the settings of mining that this method fills in, by name."""
        return {}

    def check(self, config: Config) -> None:
        """Refuse settings of mining that do not fit this method."""

    def n_folds(self, config: Config) -> int:
        """Return how many parts the training data must be divisible into."""
        return 0

    def mine(self, context: RunContext, epochs: int, initial: nn.Module | None = None) -> Evidence:
        """Mine evidence.

        :param initial: the trained model to begin with, which mining changes; None: the method trains what it needs.
        """
        raise InputError(f"method {self.name} does not mine; use one of: {', '.join(mining_names())}")

    def describe_empty(self, config: Config) -> str:
        """Return why mining found no word, and what to change."""
        return f"method {self.name} does not mine; use another method"


def names() -> tuple[str, ...]:
    """Return every method: those of the families, and the other files of this folder."""
    alone = (name for name in _FILES.names() if name not in _FAMILIES)
    return (*chain.from_iterable(_FAMILIES.values()), *alone)


def mining_names() -> tuple[str, ...]:
    """Return the methods that mine."""
    return tuple(name for name in names() if find(name).mines)


def _family_of(name: str) -> str:
    return next((family for family, members in _FAMILIES.items() if name in members), name)


def find(name: str) -> Method:
    """Return the method called `name`.

    :raises InputError: if there is none; the message lists those that exist.
    """
    if name not in names():
        raise InputError(f"unknown method {name!r}; known: {', '.join(names())}")
    module = _FILES.module(_family_of(name))
    try:
        return cast(Method, module.METHODS[name])
    except (AttributeError, KeyError) as error:
        raise TypeError(f"{module.__file__} does not provide the method {name!r}; name it in METHODS") from error


def train_final(context: RunContext, epochs: int, evidence: Evidence, start: nn.Module | None = None) -> Trained:
    """Train the final model under supervision.

    :param epochs: of the initial model.
    :param start: the initial model, which the final training changes where it starts from there; None: it is trained for that.
    """
    supervision = context.supervise(evidence)
    if context.config.supervision.final_start == "new":
        start = context.new_model()
    elif start is None:
        start = context.train_miner("initial", context.new_model(), epochs)
    model = context.train("final", start, context.find_final_epochs(epochs, supervision), supervision=supervision)
    return Trained((model,), evidence=evidence)


def record_evidence(
    context: RunContext, mined: Mined, saliency: str, epsilon: float | None, iterations: int
) -> Evidence:
    """Return what was mined as evidence, with a header that records how."""
    from pssa.data.evidence import Evidence, Header

    config, corpus = context.config, context.prepared_data.corpus
    header = Header(
        model=config.model,
        saliency=saliency,
        epsilon=epsilon,
        iterations=iterations,
        corpus_hash=corpus.hash(),
        seed=config.seed,
        method=config.method,
        rounds=mined.rounds,
    )
    return Evidence.from_findings(header, corpus, mined.findings)
