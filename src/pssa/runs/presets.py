"""Presets: settings to start from under one name, such as `--preset release`. Settings that are given win over them.

- `paper` is the paper to the letter. Where it is silent (batches, clipping, noise), the value is that of its released code;
  where it names no number of epochs, held-out data find one, and encoders are trained for six.
- `release` is the released code: each round trains a new model in full, both directions share one LSTM, the aspect is attended,
  active words expect all of the attention. It keeps no weights that scored best on test, and no mistakes
  (docs/explanation/differences.md).
- `paper-rest` and `release-rest` have the values that the authors used on REST alone.

The command line reads this module through `config`, so importing it must not load torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pssa.errors import InputError, setting

if TYPE_CHECKING:
    from pssa.runs.config import Config

_Values = dict[str, Any]  # by dotted name
_NO_CLIPPING = 1e9  # a norm that no gradient has

# Of the gradient saliency: the paper gives no numbers, so both have those of the code.
_NOISE: _Values = {"mining.samples": 10, "mining.sigma": 0.15}

_PAPER_METHOD: _Values = {
    "mining.start": "continue",
    "mining.iterations": 5,
    "mining.round_epochs": 0,  # Algorithm 1 trains in every round; its timings are of whole trainings
    "mining.folds": 0,
    "mining.target": "predicted",
    "mining.signed_shift": False,
    "mining.average": "scores",
    **_NOISE,
    "supervision.words": "both",
    "supervision.penalty": "letter",
    "supervision.weighting": "equal",
    "supervision.gamma": 0.1,
    "data.dev_fraction": 0.2,
}
_PAPER_WORDS: _Values = {
    **_PAPER_METHOD,
    "training.learning_rate": 0.001,
    "training.schedule": "constant",
    "training.usual_epochs": 0,
    "options.dropout": 0.3,
    "options.initial_bound": 0.01,
}
# Word vectors are fixed, as they are by default; without a file of them they are learned.
_TNET: _Values = {
    "training.batch_size": 64,
    "training.clip_norm": _NO_CLIPPING,
    "training.max_epochs": 50,
    "options.hidden": 50,
    "options.gating": "adaptive",
}
_PAPER_TNET: _Values = {**_PAPER_WORDS, **_TNET, "options.tied": False, "mining.epsilon": 4.0}
_PAPER_MEMNET: _Values = {
    **_PAPER_WORDS,
    "training.batch_size": 128,
    "training.clip_norm": 50.0,
    "options.hops": 1,
    "options.aspect_matrix": False,
    "options.scale_scores": False,
    "options.embedding_dropout": 0.0,  # the paper's is on the input of LSTMs, and MN has none
    "options.train_embeddings": True,
    "mining.epsilon": 3.0,
}
_ENCODER: _Values = {
    "epochs": 6,
    "data.unit": "piece",
    "training.learning_rate": 2e-5,
    "training.batch_size": 16,
    "training.clip_norm": 1.0,
    "training.schedule": "linear",
    "training.warmup": 0.1,
    "options.dropout": 0.1,
}
# Epsilon stays at its default, which is the paper's: 5 bits for attention, 4 for gradients.
_PAPER_ENCODER: _Values = {**_PAPER_METHOD, **_ENCODER}

_RELEASE_METHOD: _Values = {
    "mining.start": "restart",
    "mining.iterations": 5,
    "mining.folds": 0,
    "mining.target": "gold",
    "mining.signed_shift": True,
    "mining.average": "raw",
    **_NOISE,
    "supervision.words": "both",
    "supervision.penalty": "release",
    "supervision.weighting": "equal",
}
_RELEASE_TNET: _Values = {
    **_RELEASE_METHOD,
    **_TNET,
    "epochs": 50,
    "training.learning_rate": 0.001,
    "training.schedule": "constant",
    "options.tied": True,
    "options.attend_aspect": True,
    "options.dropout": 0.3,
    "options.initial_bound": 0.01,
    "mining.epsilon": 4.0,
    "supervision.gamma": 0.1,
}
# The release trains MN by SGD for 20,000 steps; here it is Adam, and held-out data find the number of epochs.
_RELEASE_MEMNET: _Values = {
    **_RELEASE_METHOD,
    "training.batch_size": 128,
    "training.clip_norm": 50.0,
    "options.hops": 1,
    "options.aspect_matrix": True,
    "options.scale_scores": False,
    "options.dropout": 0.0,
    "options.embedding_dropout": 0.0,
    "options.train_embeddings": True,
    "options.initial_bound": 0.05,
    "supervision.gamma": 1.0,
}
_RELEASE_ENCODER: _Values = {
    **_RELEASE_METHOD,
    **_ENCODER,
    "data.max_pieces": 96,
    "mining.epsilon": 4.0,
    "supervision.gamma": 0.1,
}

_PAPER: dict[str, _Values] = {
    "memnet": _PAPER_MEMNET,
    "tnet": {**_PAPER_TNET, "options.filters": 50},
    "tnet_att": {**_PAPER_TNET, "options.attend_aspect": False},
    "bertabsa": {**_PAPER_ENCODER, "options.head": "linear"},
    "bertabsa_att": _PAPER_ENCODER,
    "bertabsa_cls": _PAPER_ENCODER,
}
# The release has no other model that its code could train.
_RELEASE: dict[str, _Values] = {
    "memnet": _RELEASE_MEMNET,
    "tnet_att": _RELEASE_TNET,
    "bertabsa_att": _RELEASE_ENCODER,
}
_SMALL_BATCHES: _Values = {"training.batch_size": 25}
_PAPER_REST = {model: {**values, "supervision.gamma": 0.5} for model, values in _PAPER.items()}
_TNET_REST = {model: {**_PAPER_REST[model], **_SMALL_BATCHES} for model in ("tnet", "tnet_att")}

PRESETS: dict[str, dict[str, _Values]] = {
    "paper": _PAPER,
    "paper-rest": {**_PAPER_REST, **_TNET_REST},
    "release": _RELEASE,
    "release-rest": {**_RELEASE, "tnet_att": {**_RELEASE_TNET, **_SMALL_BATCHES, "supervision.gamma": 0.5}},
}


def preset_values(preset: str | None, model: str) -> Mapping[str, Any]:
    """Return the settings of a preset for a model, by dotted name; none without a preset.

    :raises InputError: if there is no such preset, or it says nothing about the model.
    """
    if preset is None:
        return {}
    if not isinstance(preset, str) or preset not in PRESETS:
        raise InputError(f"{setting('preset')} is {preset!r}; it can be {', '.join(PRESETS)}")
    if model not in PRESETS[preset]:
        known = ", ".join(PRESETS[preset])
        raise InputError(f"{setting('preset', preset)} has no settings of model {model}; choose one of {known}")
    return PRESETS[preset][model]


def start_from_preset(config: Config, changes: Mapping[str, Any]) -> tuple[Config, dict[str, Any]]:
    """Return a configuration with the values of the preset, and those that win over them, by name.

    :param config: has values of its own, which win, and may have another preset or model.
    :param changes: new values by bare or dotted name, which win over both.
    """
    from pssa.runs.config import Config
    from pssa.runs.defaults import non_default_settings

    preset, model = changes.get("preset", config.preset), changes.get("model", config.model)
    start = Config(method=config.method).updated({"model": model})
    values = preset_values(preset, start.model)
    start = replace(start.updated(values), preset=preset)
    given = {name: value for name, value in changes.items() if name not in ("preset", "model")}
    # A file has no unset values: what a preset sets stays set, so that the file is read as it was written.
    places = [f"{section}.{key}" if section else key for section, key in start.places(given)]
    kept = {
        name: given[name]
        for name, place in zip(given, places, strict=True)
        if given[name] is not None or place not in values
    }
    own = {name: value for name, value in non_default_settings(config).items() if name != "preset"}
    return start, own | kept
