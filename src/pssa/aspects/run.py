"""The directory of a tagger, on disk.

    DIR/  tagger.json  vocabulary.json or encoder/  model.safetensors  history.jsonl  metrics.json  README.md
          stages/   what a resumed training needs: the sentences, the vectors, and a folder per stage

It is written like the directory of a classifier (`pssa.runs.directory`): each file under a temporary name, `metrics.json` last.
`tagger.json` takes the place of `model.json` and `config.toml`, so that nobody takes a tagger for a classifier.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pssa.aspects.find import FILE, open_tagger
from pssa.aspects.tagger import EncoderTagger, WordTagger, WordTaggerOptions
from pssa.data.files import write_atomically
from pssa.data.numbers import percent
from pssa.data.validation import parse_fields, parsers_of
from pssa.errors import InputError, setting
from pssa.models import Pretrained, WordTable
from pssa.runs.devices import choose_device, computes_bfloat16
from pssa.runs.directory import read_schema, write_json
from pssa.runs.featurizer import Featurizer, PieceFeaturizer, WordFeaturizer
from pssa.runs.saved_model import load_weights, require_enough_weights
from pssa.runs.setting_types import check_ranges, setting_field
from pssa.training import Settings

_SCHEMA = 1
_MAX_DIMENSION = 10**6
_N_SEEDS = 2**32
_MIN_STEPS = 400  # of a search
# Chosen on held-out sentences of LAPTOP and REST (results/aspects.md).
_WORD_DEFAULTS: dict[str, Any] = {"learning_rate": 0.002, "batch_size": 16, "max_epochs": 20}
_ENCODER_DEFAULTS: dict[str, Any] = {"learning_rate": 5e-5, "batch_size": 16, "max_epochs": 8}
_ENCODER_TRAINING: dict[str, Any] = {"clip_norm": 1.0, "warmup": 0.1, "smoothing": 3}
_PATIENCE = 8  # epochs without a better score before a search stops; of a long search a fifth of its epochs


@dataclass(frozen=True)
class TaggerConfig:
    """How a tagger is trained, and what it is built from."""

    encoder: str | None = None  # folder or hub name of a pretrained encoder; None: word vectors
    vectors: str | None = None  # file of word vectors; None: embeddings are drawn at random
    epochs: int = setting_field(0, least=0)  # 0: chosen on held-out sentences
    seed: int = setting_field(0, least=0)
    device: str = setting_field("auto", choices=("auto", "cpu", "cuda"))
    dev_fraction: float = setting_field(0.2, above=0)  # of the sentences, held out to choose the number of epochs
    dimension: int = setting_field(300, least=1)  # of the word vectors
    # Training; None is the default of words or encoders.
    learning_rate: float | None = setting_field(None, above=0)
    batch_size: int | None = setting_field(None, least=1)  # sentences
    max_epochs: int | None = setting_field(None, least=1)  # of the search
    options: WordTaggerOptions = field(default_factory=WordTaggerOptions)

    def __post_init__(self) -> None:
        if self.encoder is not None and self.vectors is not None:
            given = f"{setting('encoder')} or {setting('vectors')}"
            raise InputError(f"a tagger reads an encoder or word vectors; give {given}, not both")
        check_ranges(self)
        if self.seed >= _N_SEEDS:
            raise InputError(f"seed is {self.seed}; it must be at most {_N_SEEDS - 1}")
        if self.dev_fraction >= 1:
            raise InputError(f"dev_fraction is {self.dev_fraction}; it must be less than 1")
        layers = self.options.hidden, self.options.letter_width, self.options.letter_filters
        if max(self.dimension, *layers) > _MAX_DIMENSION:
            raise InputError(f"dimension or options describe layers of more than {_MAX_DIMENSION} units")

    def resolve(self, n_sentences: int) -> TaggerConfig:
        """Return the configuration with its defaults filled in; few sentences are seen more often, for enough steps."""
        values = dict(_WORD_DEFAULTS if self.encoder is None else _ENCODER_DEFAULTS)
        values |= {name: given for name in values if (given := getattr(self, name)) is not None}
        if self.max_epochs is None:
            epochs = math.ceil(_MIN_STEPS / math.ceil(n_sentences / values["batch_size"]))
            values["max_epochs"] = max(epochs, values["max_epochs"])
        return replace(self, **values)

    @property
    def settings(self) -> Settings:
        """How the model is trained, once the defaults are filled in."""
        assert self.learning_rate is not None
        assert self.batch_size is not None
        assert self.max_epochs is not None
        more: dict[str, Any] = {}
        if self.encoder is not None:
            device = choose_device(self.device)
            more = _ENCODER_TRAINING | {"precision": "bfloat16" if computes_bfloat16(device) else "float32"}
        return Settings(
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            schedule="linear",
            patience=max(_PATIENCE, self.max_epochs // 5),
            **more,
        )

    def build(self, table: WordTable | Pretrained) -> nn.Module:
        """Return a model with the initial parameters of the seed."""
        # Layers draw default values before ours replace them; the caller's random state must not notice.
        with torch.random.fork_rng(devices=[]):
            if isinstance(table, WordTable):
                return WordTagger(table, self.options, self.seed)
            return EncoderTagger(table, self.seed)

    def save(self, root: Path) -> None:
        """Write `tagger.json`."""
        write_json(root / FILE, {"schema": _SCHEMA, **asdict(self)})

    @classmethod
    def load(cls, root: Path) -> TaggerConfig:
        """Read `tagger.json`, which may come from a stranger.

        :raises InputError: if it is damaged or of another schema.
        """
        options = parsers_of(WordTaggerOptions)
        parsers = parsers_of(cls, options=lambda value, name: WordTaggerOptions(**parse_fields(value, name, options)))
        found = read_schema(root / FILE, _SCHEMA, lambda fields: cls(**parse_fields(fields, "", parsers)))
        if found is None:
            raise InputError(f"{root / FILE} is missing; copy the folder again")
        return found


def load_tagger(path: str | Path, device: str = "cpu") -> tuple[nn.Module, Featurizer]:
    """Load a trained tagger.

    :raises InputError: if the folder is no tagger, is unfinished, or a file in it is damaged.
    """
    directory = open_tagger(Path(path))
    root = directory.root
    if not directory.finished:
        option = f"pssa aspects train --resume {root}"
        hint = f"finish it with {setting(f'pssa.aspects.resume_aspects({str(root)!r})', option=option)}"
        raise InputError(f"{root} is not finished: it has no metrics.json; {hint}")
    config = TaggerConfig.load(root)
    featurizer: Featurizer
    if config.encoder is None:
        featurizer = WordFeaturizer.load(root, config.dimension)
    else:
        featurizer = PieceFeaturizer.load(root, pair=False, max_pieces=None, unit="word")
    require_enough_weights(root, config.build, featurizer, root / "model.safetensors")
    model = config.build(featurizer.table)
    load_weights(root / "model.safetensors", model)
    return model.to(choose_device(device)).eval(), featurizer


_CARD = """---
library_name: pssa
tags: [aspect-term-extraction]
---
# Aspect tagger ({kind})

Finds the aspects that a text speaks of, such as `battery life` or `staff`. It does not judge them.

```python
from pssa.aspects import load_finder

finder = load_finder("path/to/this/directory")
finder.find("The screen is great but the battery is weak.")
```

| | |
|---|---|
| model | {kind}, {parameters:,} trained parameters |
| {source} | {started} |
| training data | {sentences} sentences, {empty} of them without aspects, {aspects} aspects |
| data digest | `{digest}` |
| epochs | {epochs} |
| held-out score | {dev} |
| seed | {seed} |

{selection} Measure a test score with `pssa aspects evaluate`. Every setting is in `tagger.json`.
"""


def write_card(path: Path, config: TaggerConfig, metrics: dict[str, Any]) -> None:
    """Write the model card of a finished tagger."""
    dev, coverage = metrics["dev"], metrics["vector_coverage"]
    started = f"cover {percent(coverage['tokens'])} of the training words" if coverage else "none"
    if config.encoder is not None:
        # Only the name of a local folder: the rest of the path is nobody's business.
        folder = Path(config.encoder)
        started = f"`{folder.name if folder.is_absolute() else config.encoder}`"
    card = _CARD.format(
        kind="Bi-LSTM on words" if config.encoder is None else "pretrained encoder",
        source="word vectors" if config.encoder is None else "encoder",
        started=started,
        digest=metrics["corpus_hash"][:16],
        dev=f"exact-span F1 {percent(dev['f1'])}" if dev else "none",
        seed=config.seed,
        selection=f"{percent(config.dev_fraction, 0)} of the sentences were held out to choose the number of epochs; then"
        " the model was trained again on all of them."
        if dev
        else "The number of epochs was given: nothing was held out.",
        **{name: metrics[name] for name in ("parameters", "sentences", "empty", "aspects", "epochs")},
    )
    write_atomically(path, card.encode())
