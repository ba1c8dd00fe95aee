"""The sections of a run's configuration: data, training, mining, supervision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pssa.data.example import DEFAULT_LABELS
from pssa.data.read import Columns
from pssa.errors import InputError
from pssa.runs.featurizer import UNITS
from pssa.training.settings import Settings

__all__ = ["UNSET", "UNSET_TRAINING", "DataConfig", "MiningConfig", "SupervisionConfig", "TrainingConfig"]

# Stands for "choose by model and method" where 0 is a value that people ask for; TOML has no null.
UNSET = -1.0
# What stands for it in each setting of training that depends on the model.
UNSET_TRAINING: dict[str, Any] = {
    "learning_rate": UNSET,
    "batch_size": 0,
    "clip_norm": UNSET,
    "schedule": "",
    "warmup": UNSET,
    "usual_epochs": -1,
    "max_epochs": 0,
}
PRECISIONS = ("auto", "float32", "bfloat16")


@dataclass(frozen=True)
class DataConfig:
    """What is read and how it is divided."""

    train: str = ""
    dev: str = ""  # development data of its own; it only selects and never joins the refit
    dev_fraction: float = 0.2  # of train, held out by sentence where there is no `dev`
    format: str = ""  # empty: recognised
    columns: dict[str, str] = field(default_factory=dict)  # by field, where they have names of their own
    labels: tuple[str, ...] = DEFAULT_LABELS
    conflict: str = "drop"
    vectors: str = ""  # empty: random, trained embeddings
    vector_rows: int = 50_000  # rows of the file kept beside the training words, for words unseen in training
    dimension: int = 300  # of the embeddings where there is no `vectors`
    encoder: str = ""  # folder or hub name of a pretrained encoder, for models that read pieces of words
    unit: str = "word"  # of mining and evidence for such models, or "piece", as in the paper
    max_pieces: int = 0  # of a sentence, with special tokens; 0: as many as the encoder can read

    def __post_init__(self) -> None:
        Columns.of(self.columns)
        if not 0 < self.dev_fraction < 1:
            raise InputError(f"dev_fraction is {self.dev_fraction}; it must be greater than 0 and less than 1")
        if self.vector_rows < 0:
            raise InputError(f"vector_rows is {self.vector_rows}; it must not be negative")
        if self.dimension < 1:
            raise InputError(f"dimension is {self.dimension}; it must be greater than 0")
        if self.unit not in UNITS:
            raise InputError(f"unit is {self.unit!r}; it can be {' or '.join(UNITS)}")
        if self.max_pieces < 0:
            raise InputError(f"max_pieces is {self.max_pieces}; it must not be negative")


@dataclass(frozen=True)
class TrainingConfig:
    """How models are trained; what is left unset follows from what the model reads (`runs/defaults.py`)."""

    learning_rate: float = UNSET
    batch_size: int = 0
    clip_norm: float = UNSET
    schedule: str = ""
    warmup: float = UNSET
    accumulation: int = 1  # parts of a batch whose gradients are added up before a step
    precision: str = (
        "auto"  # float32, or bfloat16 autocast over float32 weights; auto: the latter for encoders on a GPU
    )
    compile: bool = False
    graphs: bool = True  # on a GPU, record steps of encoders that allow it
    usual_epochs: int = -1  # of a training where `epochs` is 0; 0: as many as development data asks for
    max_epochs: int = 0  # of a search
    patience: int = 8
    smoothing: int = 5
    class_weights: str = "none"

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise InputError(f"precision is {self.precision!r}; it can be {', '.join(PRECISIONS)}")
        if self.usual_epochs < -1:
            raise InputError(f"usual_epochs is {self.usual_epochs}; it must not be negative")
        self.settings({})

    def settings(self, usual: Mapping[str, Any]) -> Settings:
        """The settings of a training, with the `usual` values where nothing is asked for.

        :raises InputError: for a value that is out of range.
        """
        unset = {name for name, value in UNSET_TRAINING.items() if getattr(self, name) == value}
        given = {f.name: getattr(self, f.name) for f in fields(Settings) if hasattr(self, f.name)}
        asked = {name: value for name, value in given.items() if name not in unset and value != "auto"}
        return Settings(**dict(usual) | asked)


@dataclass(frozen=True)
class MiningConfig:
    """How words are mined; methods that do not mine ignore it."""

    saliency: str = ""  # empty: the method's own
    epsilon: float = UNSET  # bits; unset: the model's default
    iterations: int = 5
    round_epochs: int = 1  # of the training between two rounds
    start: str = "continue"  # each round from the previous parameters, or "restart" from the initial ones, in full
    folds: int = 0  # 0: one miner, trained on what it judges; N: each instance judged by a model that has not seen it
    random_mask: bool = False  # with saliency "random": take the top word and hide a random one
    samples: int = 10  # of the gradient saliency: noisy copies of h(x); 0: none
    sigma: float = 0.15  # standard deviation of the noise
    target: str = "predicted"  # whose logit the gradient is of; the released code takes "gold"
    signed_shift: bool = False  # the released code's way with negative scores
    average: str = "scores"  # of normalised scores; the released code averages "raw" ones
    stop_drop: float = 0.0  # leave a sentence alone once hiding its last word cost less confidence; 0: never
    consensus_models: int = 3  # seeds of the consensus; each has a model per fold
    consensus_folds: int = 5
    consensus_epochs: int = -1  # of each of its models; 0: as many as the final one has; unset: by what the model reads
    consensus_saliencies: tuple[str, ...] = ()  # whose mean every model scores by; none: `saliency` alone
    consensus_right: int = 2  # models that must have been right about an instance
    consensus_threshold: float = UNSET  # least mean share of a word; unset: as is usual
    consensus_words: int = 1  # of an instance, at most; the second counts as one of round 2, and so on
    consensus_soft: bool = False  # expect the mean distribution itself


@dataclass(frozen=True)
class SupervisionConfig:
    """How evidence is used in the final training."""

    evidence: str = ""  # a file to train with instead of mining
    words: str = "both"  # or "active", "misleading"
    penalty: str = "tuned"  # or "letter", "release"
    gamma: float = UNSET  # unset: the penalty's own
    ramp: float = 0.0  # share of the final training's steps over which gamma rises from zero
    weighting: str = "equal"  # how active words share the attention: "equal", "round", "score" or "confidence"
