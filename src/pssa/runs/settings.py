"""The settings of a run: frozen dataclasses, a TOML file, and updates by name.

Each setting is declared once, with its default and, where `pssa train` has an option for it, its help text. None means "not
set": preset, model, method and data then decide (`runs/resolve.py`), and the TOML file leaves the setting out. A key may be given
bare (`patience`) or with its section (`training.patience`); bare names are unique.

Reading a configuration must not load torch: the command line and everything that answers do it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pssa.data.example import DEFAULT_LABELS
from pssa.data.io import OCCURRENCES, ON_ERRORS, ReadOptions, check_encoding
from pssa.data.rows import Columns
from pssa.data.validation import brief_repr, nearest_name, read_toml, shorten
from pssa.errors import InputError, setting
from pssa.runs.setting_types import MAX_NAME, TABLES, Section, as_type, kind_of, setting_field

PRECISIONS = ("auto", "float32", "bfloat16")
UNITS = ("word", "piece")
GATES = ("none", "held-out")
AUGMENTS = ("none", "contrast")
# Settings that earlier versions wrote.
_GONE = {
    "training": ("compile", "contrast_epochs", "contrast_partner"),
    "mining": ("stop_drop", "consensus_saliencies", "consensus_words"),
}


@dataclass(frozen=True)
class DataConfig(Section):
    """Files, how they are read and how they are divided."""

    train: str | None = setting_field(None, unset="")
    # Never joins the refit.
    dev: str | None = setting_field(
        None, "labelled development instances", default_text="held out from the training data", unset=""
    )
    dev_fraction: float = setting_field(0.2, above=0, below=1)  # of the training data, to hold out by sentence
    format: str | None = setting_field(None, unset="")  # None: recognised
    columns: dict[str, str] = field(default_factory=dict)  # names of the columns, by field
    labels: tuple[str, ...] = DEFAULT_LABELS
    conflict: str = "drop"
    label_map: dict[str, str] = field(default_factory=dict)  # labels of the file, and what they mean
    encoding: str = "utf-8"
    errors: str = setting_field("fail", choices=ON_ERRORS)
    occurrence: str = setting_field("first", choices=OCCURRENCES)
    # Sentences that show the labels, from which the output layer of an encoder starts; None: ours where labels are few.
    label_texts: dict[str, str] | None = None
    vectors: str | None = setting_field(
        None,
        "GloVe or word2vec text file, also .gz or .zip",
        group="model",
        default_text="embeddings are learned",
        unset="",
    )
    vector_rows: int = setting_field(50_000, least=0)  # of the vector file, that are kept for words not trained on
    dimension: int = setting_field(300, least=1)  # of the embeddings where there is no `vectors`
    encoder: str | None = setting_field(None, "folder or hub name of a pretrained encoder", group="model", unset="")
    from_pretrained: str | None = setting_field(
        None,
        "trained run to start from, starter, or none",
        option="from",
        group="model",
        default_text="starter; none with another model than joint",
    )
    from_digest: str | None = None  # of that run, written by pssa; another run of the same name is refused
    unit: str = setting_field("word", choices=UNITS)  # of the evidence: words, or word pieces
    # Maximum pieces of a sentence, with special tokens; None: the encoder's limit.
    max_pieces: int | None = setting_field(None, unset=0, least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        Columns.of(self.columns)
        check_encoding(self.encoding)


@dataclass(frozen=True)
class TrainingConfig(Section):
    """How models are trained; the defaults of what is None depend on whether the model uses an encoder."""

    patience: int = setting_field(8, above=0)  # epochs without improvement before the search stops
    learning_rate: float | None = setting_field(
        None, "learning rate", above=0, option="lr", default_text="0.001; 0.0001 with --from; 2e-5 with an encoder"
    )
    head_learning_rate: float | None = setting_field(None, above=0)  # layers on top of an encoder; None: the same
    batch_size: int | None = setting_field(
        None, "instances in a training step", above=0, default_text="64; 16 with an encoder"
    )
    clip_norm: float | None = setting_field(None, above=0)
    schedule: str | None = setting_field(None, choices=("constant", "linear"))
    warmup: float | None = setting_field(None, least=0)  # share of the steps
    accumulation: int = setting_field(1, above=0)  # parts of a batch whose gradients are added up before a step
    # Batches whose rows are sorted by length together; 1: rows are shuffled alone.
    bucket_batches: int = setting_field(16, above=0)
    # float32, or bfloat16 autocast over float32 weights; auto: bfloat16 for encoders where the processor computes it.
    precision: str = setting_field("auto", choices=PRECISIONS)
    # On a CPU, let encoders read a sentence once for all its aspects, and train only the pieces that occur.
    share_sentences: bool | None = None  # None: yes; runs of earlier versions do not
    graphs: bool = True  # on a GPU, record steps of encoders that allow it
    # Epochs of a training where `epochs` is None; 0: a search on development data.
    usual_epochs: int | None = setting_field(None, least=0)
    max_epochs: int | None = setting_field(None, above=0)  # of a search
    # Little data is trained for more epochs, until there are so many steps; 0: never.
    min_steps: int = setting_field(400, least=0)
    smoothing: int = setting_field(5, above=0)  # epochs over which development scores are averaged
    class_weights: str = setting_field("none", choices=("none", "balanced"))
    # Dotted names of settings that follow from the size of the training data and that nobody set; they are no choice of the
    # user's, so another training does not inherit them.
    derived: tuple[str, ...] = ()
    # auto: on predictions that the training makes anyway; held_out: on a part that is kept out of the training.
    calibrate: str = setting_field(
        "auto", "calibration of probabilities: auto, held_out or none", choices=("auto", "held_out", "none")
    )
    # Share of the training data that `held_out` keeps out, by sentence.
    calibration_fraction: float = setting_field(0.1, above=0, below=1)
    # contrast: beside a share of the instances, a copy joined with a sentence of another label, drawn anew in each epoch.
    augment: str = setting_field("none", "further training data: none or contrast", choices=AUGMENTS)
    contrast_share: float = 1.0  # of the instances that have a copy
    contrast_weight: float = 1.0  # of a copy in the objective
    contrast_words: int = 64  # of a copy at most


@dataclass(frozen=True)
class MiningConfig(Section):
    """How words are mined; methods that do not mine ignore it."""

    saliency: str | None = setting_field(None, unset="")  # None: the method's own
    iterations: int = setting_field(5, "rounds of mining", least=1)
    # 0: as many as the initial model took.
    round_epochs: int = setting_field(1, least=0)
    # Bits of entropy below which a word is mined; None: by model.
    epsilon: float | None = setting_field(None, unset=-1.0)
    # Each round from the previous parameters, or from the initial ones, in full.
    start: str = setting_field("continue", choices=("continue", "restart"))
    folds: int = 0  # of cross-fitting; 0: none
    random_mask: bool = False  # with saliency "random": take the top word and hide a random one
    samples: int = 10  # of the gradient saliency: noisy copies of h(x); 0: none
    sigma: float = 0.15  # standard deviation of the noise
    target: str = "predicted"  # whose logit the gradient is of; the released code takes "gold"
    signed_shift: bool = False  # the released code's way with negative scores
    average: str = "scores"  # of normalised scores; the released code averages "raw" ones
    # The states h(x), or the word vectors that they are computed from.
    noise_on: str = setting_field("states", choices=("states", "input"))
    consensus_models: int = setting_field(3, least=1)  # seeds of the consensus; each has a model per fold
    consensus_folds: int | None = setting_field(None, least=2)  # None: by model
    # Epochs of each judge; 0: as many as the final model has.
    consensus_epochs: int | None = setting_field(None, unset=-1, least=0)
    consensus_right: int = 2  # models that must have been right about an instance
    consensus_threshold: float | None = setting_field(None, unset=-1.0)  # least mean share of a word
    consensus_soft: bool = False  # expect the mean distribution itself


@dataclass(frozen=True)
class SupervisionConfig(Section):
    """How evidence is used in the final training."""

    evidence: str | None = setting_field(
        None, "evidence, triplets or TOWE file to train with, instead of mining", unset=""
    )
    words: str = "both"  # evidence to train with: both, active or misleading
    penalty: str = "tuned"  # form of the attention penalty: tuned, letter or release
    # Weight of the attention penalty; None: by penalty and model.
    gamma: float | None = setting_field(None, unset=-1.0, least=0)
    # Share of the final training's steps over which gamma rises from zero.
    ramp: float = setting_field(0.0, least=0, most=1)
    # What the penalty constrains: attention, or the share of each word by its gradient, as Definition 2 of the paper has it.
    penalty_on: str = setting_field("attention", choices=("attention", "gradient"))
    weighting: str = "equal"  # how active words share the attention: "equal", "round", "score" or "confidence"
    # The final training starts from new parameters, or goes on from those of the initial model.
    final_start: str = setting_field("new", choices=("new", "initial"))
    # It takes as many epochs as the initial model, or as many as a search under supervision finds.
    final_epochs: str = setting_field("initial", choices=("initial", "search"))
    # held-out: with consensus, train without evidence where that does better on instances that a model has not seen.
    gate: str = setting_field("none", choices=GATES)


@dataclass(frozen=True)
class Config(Section):
    """Everything that determines a run, with one section for each table of `config.toml`.

    config = pssa.Config().updated({"model": "memnet", "mining.folds": 5, "gamma": 2})
    """

    model: str = "tnet_att"
    method: str = "base"
    preset: str | None = setting_field(
        None,
        "settings of the paper or of its release: paper[-rest], release[-rest]",
        group="model",
        default_text="none",
    )
    seed: int = setting_field(0, "random seed", group="training", least=0, below=2**32)
    device: str = setting_field("auto", "auto, cpu or cuda", group="training")
    epochs: int | None = setting_field(
        None,
        "number of epochs",
        group="training",
        default_text="chosen on development data; 6 with an encoder",
        unset=0,
        least=1,
    )
    data: DataConfig = field(default_factory=DataConfig)
    options: dict[str, Any] = field(default_factory=dict)  # of the model
    training: TrainingConfig = field(default_factory=TrainingConfig)
    mining: MiningConfig = field(default_factory=MiningConfig)
    supervision: SupervisionConfig = field(default_factory=SupervisionConfig)

    def __repr__(self) -> str:
        usual = Config().flat()
        changed = {name: value for name, value in self.flat().items() if value != usual.get(name)}
        return brief_repr(self, **{"model": self.model, "method": self.method} | changed)

    @property
    def read_options(self) -> ReadOptions:
        """How the files of instances are read."""
        data = self.data
        return ReadOptions(
            format=data.format or "",
            columns=Columns.of(data.columns),
            labels=data.labels,
            conflict=data.conflict,
            label_map=tuple(data.label_map.items()),
            encoding=data.encoding,
            errors=data.errors,
            occurrence=data.occurrence,
        )

    @property
    def refines(self) -> bool:
        """Whether the attention that is supervised is the encoder's own."""
        return bool(self.options.get("refine", "none") != "none")

    @property
    def known_epochs(self) -> int:
        """The number of epochs if it is known; 0: it is chosen on development data."""
        return self.epochs or self.training.usual_epochs or 0

    def updated(self, changes: Mapping[str, Any]) -> Config:
        """Return a copy with these values, by bare or dotted name, or by section as a mapping.

        Values win over those of a preset, whether they are given here or set already.

        :raises InputError: for an unknown name or a value of the wrong type.
        """
        values, start = flatten(changes), self
        model, preset = values.get("model", self.model), values.get("preset", self.preset)
        if preset != self.preset or (preset and model != self.model):
            start, values = _start_from_preset(self, values)
        if model != start.model:  # it comes first: the names of options depend on it
            start = replace(start, model=as_type("model", model, str))
        parts: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            section, key = start.place_of(name)
            parts.setdefault(section, {})[key] = start._checked(section, key, value)
        whole = parts.pop("", {})
        options = start.options | parts.pop("options", {})
        sections: dict[str, Any] = {name: replace(getattr(start, name), **given) for name, given in parts.items()}
        return replace(start, options=options, **sections, **whole)

    def place_of(self, name: str) -> tuple[str, str]:
        """Return section and key of a setting by its bare or dotted name; top-level settings have an empty section.

        :raises InputError: if there is none of that name; the message proposes the nearest.
        """
        if name in _places():
            return _places()[name]
        known, key = _option_defaults(self.model), name.removeprefix("options.")
        if key in known:
            return "options", key
        if key == name:
            raise self._unknown(name)
        near = nearest_name(key[:MAX_NAME], known)
        advice = f"did you mean {near}?" if near else f"known: {', '.join(sorted(known))}"
        raise InputError(f"unknown option {shorten(key)} of model {self.model}; {advice}")

    def _checked(self, section: str, key: str, value: Any) -> Any:
        """Return a value for a setting, of its type, or None if it means "not set"."""
        if section == "options":
            return as_type(key, value, type(_option_defaults(self.model)[key]))
        part = _SECTIONS[section]
        kind, optional = kind_of(part, key)
        unset = next(f for f in fields(part) if f.name == key).metadata.get("unset")
        # Old files have 0 for an unset 0.0, but never a truth value.
        if optional and (value is None or (type(value) in (type(unset), int) and unset is not None and value == unset)):
            return None
        return as_type(key, value, kind)

    def _unknown(self, name: str) -> InputError:
        """Return the error for an unknown name, with the nearest one that is known."""
        if takers := _models_with(name):
            others = f"unknown setting {shorten(name)} of model {self.model}; it is one of {' and '.join(takers)}"
            return InputError(f"{others}, so add {setting('model', takers[0])}, or leave it out")
        known = [full for full in self.flat() if not full.startswith("options.")]
        known += [f"options.{key}" for key in _option_defaults(self.model)]
        keys = {full.rpartition(".")[2]: full for full in known}
        last = name.rpartition(".")[2][:MAX_NAME]
        by_option = {each.metadata["option"]: each.name for _, each, _ in option_fields() if each.metadata["option"]}
        # Python needs another name for an option such as --from, which is often written from_.
        meant = by_option.get(last.strip("_")) or nearest_name(last, keys)
        if not meant:
            listed = setting("print(pssa.Config().to_toml())", option="docs/reference/configuration.md")
            return InputError(f"unknown setting {shorten(name)}; {listed} lists those that exist")
        return InputError(f"unknown setting {shorten(name)}; did you mean {keys[meant] if '.' in name else meant}?")

    def flat(self) -> dict[str, Any]:
        """Return every setting by its dotted name."""
        values = asdict(self)
        sections = {name: values.pop(name) for name in tuple(values) if isinstance(values[name], dict)}
        return values | {f"{name}.{key}": value for name, inner in sections.items() for key, value in inner.items()}

    def to_toml(self) -> str:
        """Return every value that is set, as `from_toml` reads it."""
        import tomli_w

        table = _without_unset(asdict(self))
        for name in ("columns", "label_map"):
            if not table["data"][name]:
                del table["data"][name]
        return tomli_w.dumps(table)

    @classmethod
    def from_toml(cls, path: str | Path) -> Config:
        """Read a configuration; settings that the file does not name keep their default."""
        table = read_toml(path)
        for section, names in _GONE.items():
            if isinstance(known := table.get(section), dict):
                table[section] = {name: value for name, value in known.items() if name not in names}
        try:
            return cls().updated(table)
        except InputError as error:
            raise InputError.at(path, None, error.message) from error


_SECTIONS: dict[str, type] = {
    "": Config,
    "data": DataConfig,
    "training": TrainingConfig,
    "mining": MiningConfig,
    "supervision": SupervisionConfig,
}


def option_fields() -> Iterator[tuple[str, Field[Any], type]]:
    """Yield the group, the field and the type of each setting that has a command-line option."""
    for section in ("data", "", "training", "mining", "supervision"):
        for each in fields(_SECTIONS[section]):
            if each.metadata.get("help"):
                yield each.metadata["group"] or section, each, kind_of(_SECTIONS[section], each.name)[0]


def non_default_settings(config: Config) -> dict[str, Any]:
    """Return the settings that differ from the preset and the defaults of the configuration's model and method, by dotted name.

    Those that were derived from the training data are left out: nobody chose them.
    """
    from pssa.runs.resolve import usual_settings

    usual = usual_settings(config) | preset_values(config.preset, config.model)
    derived = {"training.derived", *config.training.derived}
    changed = {name: value for name, value in config.flat().items() if value is not None and value != usual.get(name)}
    return {name: value for name, value in changed.items() if name not in derived}


@cache
def load_presets() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the settings of each preset for each model, by dotted name."""
    table = tomllib.loads(files("pssa.runs").joinpath("presets.toml").read_text("utf-8"))
    return {
        preset: {
            model: {k: v for part in parts for k, v in table["parts"][part].items()} for model, parts in of.items()
        }
        for preset, of in table["presets"].items()
    }


def preset_values(preset: str | None, model: str) -> dict[str, Any]:
    """Return the settings of a preset for a model, by dotted name; none without a preset.

    :raises InputError: if there is no such preset, or it says nothing about the model.
    """
    if preset is None:
        return {}
    presets = load_presets()
    if not isinstance(preset, str) or preset not in presets:
        raise InputError(f"{setting('preset')} is {preset!r}; it can be {', '.join(presets)}")
    if model not in presets[preset]:
        what = f"{setting('preset', preset)} has no settings of model {model}"
        raise InputError(f"{what}; choose one of {', '.join(presets[preset])}")
    return presets[preset][model]


def _start_from_preset(config: Config, changes: Mapping[str, Any]) -> tuple[Config, dict[str, Any]]:
    """Return a configuration to start from, and the values by name that a new preset or a new model leads to.

    :param config: has values of its own, which win over the preset, and may have another preset or model.
    :param changes: new values by bare or dotted name, which win over both.
    """
    preset, model = changes.get("preset", config.preset), changes.get("model", config.model)
    start = Config(as_type("model", model, str), config.method)
    values = preset_values(preset, start.model)
    own = non_default_settings(config) if config != Config() else {}
    # A file has no unset values: what a preset sets stays set, so that the file is read as it was written.
    given = {
        name: value
        for name, value in changes.items()
        if value is not None or ".".join(filter(None, start.place_of(name))) not in values
    }
    by_place = {".".join(filter(None, start.place_of(name))): value for name, value in (own | given).items()}
    return start, values | by_place | {"preset": preset, "model": start.model}


@cache
def _places() -> dict[str, tuple[str, str]]:
    """Return section and key of each setting, by its dotted and by its bare name."""
    places = [(section, each.name) for section, part in _SECTIONS.items() for each in fields(part)]
    return {name: place for place in places for name in (".".join(place), place[1])}


def _option_defaults(model: str) -> dict[str, Any]:
    from pssa import models

    return models.option_defaults(model)


def _models_with(option: str) -> list[str]:
    from pssa import models

    return [name for name in models.names() if option in models.option_defaults(name)]


def flatten(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values by name, `section.key` for those in a section, and those in sections last."""
    values: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for key in table:
        if isinstance(table[key], dict) and key.rpartition(".")[2] not in TABLES:
            inner |= {f"{key}.{name}": value for name, value in table[key].items()}
        else:
            values[key] = table[key]
    return values | inner


def _without_unset(value: Any) -> Any:
    """Return the value as TOML has it: lists for tuples, and no key whose value is None."""
    if isinstance(value, dict):
        return {key: _without_unset(inner) for key, inner in value.items() if inner is not None}
    return list(value) if isinstance(value, tuple) else value
