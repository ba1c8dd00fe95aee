"""The rows of the paper's tables as values: what stands behind a name such as `+PG-AS_a`, for any model, data set and seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pssa.experiments.cells import Mining, Place, Setting, Training, settings
from pssa.studies.paper import GAMMA

__all__ = ["ATTENDING", "METHODS", "NAMES", "PAPER_PENALTY", "Method", "paper_rows", "refined"]

# The models by the names of the paper.
NAMES = {
    "memnet": "MN",
    "tnet": "TNet",
    "tnet_att": "TNet-ATT",
    "bertabsa": "BERTABSA",
    "bertabsa_att": "BERTABSA-ATT",
    "bertabsa_cls": "BERTABSA-CLS",
}
ATTENDING = ("memnet", "tnet_att", "bertabsa_att")
_FEW_SEEDS = 3  # of what takes five trainings a seed
# Rows behind a name with this end are trained with the paper's penalty and gamma, not with those that held-out data chose.
PAPER_PENALTY = ", paper's penalty"
_PAPER_PENALTY = tuple((data, settings(penalty="letter", gamma=gamma)) for data, gamma in GAMMA.items())


@dataclass(frozen=True)
class Method:
    """A row of a table, but for the model."""

    name: str  # as the paper writes it behind the model's
    method: str = "base"
    mined_by: tuple[str, ...] = ()  # ways of mining whose common words supervise
    words: str = "both"
    seeds: int = 0  # at most; 0: all
    mining: tuple[Setting, ...] = ()
    training: tuple[Setting, ...] = ()
    rounds: int = 0
    on: tuple[tuple[str, tuple[Setting, ...]], ...] = ()  # further settings of the training, by data set

    def is_tried(self, model: str, data: str) -> bool:
        """Whether the row is for this model and data set; the paper's penalty is tried on encoders with LAPTOP alone."""
        return not self.on or not model.startswith("bertabsa") or data == "laptop"

    def minings(self, place: Place) -> tuple[Mining, ...]:
        """The evidence in one place."""
        return tuple(Mining(place, way, () if way == "human" else self.mining) for way in self.mined_by)

    def training_in(self, place: Place) -> Training:
        """The row in one place."""
        words = () if self.words == "both" else settings(words=self.words)
        chosen = (*words, *self.training, *dict(self.on).get(place.data, ()))
        return Training(place, self.method, self.minings(place), self.rounds, settings=chosen)


METHODS = {
    method.name: method
    for method in (
        Method(""),
        Method("+KT", "kt", seeds=_FEW_SEEDS),
        Method("+Boosting", "boosting", seeds=_FEW_SEEDS),
        Method("+Adaboost", "adaboost", seeds=_FEW_SEEDS),
        *(
            Method(f"+{name}-AS{suffix}", mined_by=(way,), words=words)
            for name, way in (("AW", "aw-as"), ("PG", "pg-as"))
            for suffix, words in (("_m", "misleading"), ("_a", "active"), ("", "both"))
        ),
        *(
            Method(f"+{name}-AS{PAPER_PENALTY}", mined_by=(way,), on=_PAPER_PENALTY)
            for name, way in (("AW", "aw-as"), ("PG", "pg-as"))
        ),
        Method("+RM-AS", mined_by=("rm-as",)),
        Method("+Consensus", mined_by=("consensus",)),
        Method("+Human", mined_by=("human",)),
        # A final training whose penalty has no weight differs from the baseline in its random numbers alone.
        Method("again", mined_by=("aw-as",), training=settings(gamma=0.0)),
    )
}


def refined(heads: str) -> Method:
    """Self-attention within the encoder, of these heads, mined and supervised."""
    chosen = settings(refine=heads)
    return Method("PG-AS", mined_by=("pg-as",), mining=chosen, training=chosen)


_ALWAYS = ("", "+KT")
_OF_ATTENTION = (
    *("+Boosting", "+Adaboost", "+AW-AS_m", "+AW-AS_a", "+AW-AS", "+PG-AS_m", "+PG-AS_a", "+PG-AS"),
    *(f"+AW-AS{PAPER_PENALTY}", f"+PG-AS{PAPER_PENALTY}", "+Consensus", "+Human", "again"),
)


def paper_rows(model: str) -> Iterator[Method]:
    """The rows that a model has in the table of overall results, ours at the end."""
    names = (*_ALWAYS, *(_OF_ATTENTION if model in ATTENDING else ()))
    yield from (METHODS[name] for name in names)
