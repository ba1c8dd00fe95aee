"""Ways of mining whose words are compared with those that people marked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pssa.experiments.cells import Mining, Place, Setting, settings
from pssa.experiments.scope import Scope
from pssa.studies.exhibits._supervised import SEEDS

__all__ = ["PROGRESSIVE", "UNTRAINED", "WAYS", "Way", "minings"]

# A rate that moves no parameter leaves the initial model.
UNTRAINED = settings(epochs=1, learning_rate=1e-9)
_CROSS_FITTED = settings(folds=5, iterations=1)
_FIRST_WORD = settings(epsilon=99.0, iterations=1)  # of every sentence, however even its scores are


@dataclass(frozen=True)
class Way:
    """How words are mined."""

    method: str
    settings: tuple[Setting, ...] = ()
    of_place: tuple[Setting, ...] = ()
    encoder_seeds: int = SEEDS  # at most, of models for which it takes long

    def mining_in(self, place: Place) -> Mining:
        """The mining in one place."""
        return Mining(replace(place, settings=self.of_place), self.method, self.settings)


PROGRESSIVE = {"AW": Way("aw-as"), "PG": Way("pg-as"), "random masking": Way("rm-as")}
WAYS = {
    **PROGRESSIVE,
    "AW, cross-fitted": Way("aw-as", _CROSS_FITTED, encoder_seeds=1),
    "PG, cross-fitted": Way("pg-as", _CROSS_FITTED, encoder_seeds=1),
    # Words above any threshold are among those above none.
    "consensus": Way("consensus", settings(consensus_threshold=0.0), encoder_seeds=1),
    "consensus, as it supervises": Way("consensus"),
    "untrained": Way("aw-as", _FIRST_WORD, UNTRAINED),
}


def minings(scope: Scope, way: str, model: str, data: str) -> dict[int, Mining]:
    """By seed."""
    seeds = WAYS[way].encoder_seeds if model.startswith("bertabsa") else SEEDS
    return {place.seed: WAYS[way].mining_in(place) for place in scope.places(model, data, seeds)}
