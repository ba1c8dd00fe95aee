"""`Description`: what `model.json` says of a model, which is all that building it again takes besides what it reads.

It may come from a stranger: types and ranges are checked before anything is built of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pssa import models
from pssa.data.validation import Parser, integer, list_of, number, parse_fields, shorten, text
from pssa.errors import InputError
from pssa.runs.config import Config
from pssa.runs.directory import read_json, write_json
from pssa.runs.featurizer import UNITS, Featurizer, WordFeaturizer

__all__ = ["Description"]

_SCHEMA = 1
_MOST_VALUES, _MOST_MEMBERS = 10**6, 1000
_KEYS = {"vote_weights": "says"}  # in the file, where it is not the field's name


@dataclass(frozen=True)
class Description:
    """What must be known to build the model again."""

    model: str
    options: dict[str, Any]
    labels: tuple[str, ...]
    dimension: int = 0  # of the word vectors, where the model reads words
    vote_weights: tuple[float, ...] = (1.0,)  # of the members, where there are several
    max_pieces: int = 0  # of a sentence, where the model reads pieces; 0: as many as the encoder can read
    unit: str = "word"  # of what is explained, where the model reads pieces

    @classmethod
    def of(cls, config: Config, featurizer: Featurizer) -> Description:
        """What a run trains."""
        dimension = featurizer.table.dimension if isinstance(featurizer, WordFeaturizer) else 0
        data = config.data
        return cls(config.model, config.options, data.labels, dimension, max_pieces=data.max_pieces, unit=data.unit)

    def save(self, folder: Path) -> None:
        """Write `model.json`."""
        values = {_KEYS.get(name, name): value for name, value in asdict(self).items()}
        write_json(folder / "model.json", {"schema": _SCHEMA, **values})

    @classmethod
    def load(cls, folder: Path) -> Description:
        """Read `model.json`.

        :raises InputError: if it is damaged, of another schema, or describes no model.
        """
        found = read_json(folder / "model.json")
        if not isinstance(found, dict) or "schema" not in found:
            raise InputError(f"{folder}/model.json is damaged: it has no schema")
        schema = found.pop("schema")
        if schema != _SCHEMA:
            raise InputError(f"{folder}/model.json has schema {shorten(schema)}; this version reads schema {_SCHEMA}")
        usual = {"dimension": 0, "says": [1.0], "max_pieces": 0, "unit": "word"}  # what first versions did not write
        try:
            values = parse_fields(usual | found, "", _FIELDS)
            values["options"] = Config().updated({"model": values["model"], "options": values["options"]}).options
            return cls(vote_weights=values.pop("says"), **values).checked()
        except InputError as error:
            raise InputError(f"{folder}/model.json is damaged: {error}") from error

    def checked(self) -> Description:
        """The same, if it can be.

        :raises InputError: if a value is out of its range.
        """
        if len(set(self.labels)) != len(self.labels) or len(self.labels) < 2:
            raise InputError(f"`labels` is {shorten(self.labels)}; expected two or more, each once")
        least = 1 if models.reads(self.model) == "words" else 0
        if not least <= self.dimension <= _MOST_VALUES:
            raise InputError(f"`dimension` is {self.dimension}; expected {least} to {_MOST_VALUES}")
        if not 1 <= len(self.vote_weights) <= _MOST_MEMBERS:
            raise InputError(f"`says` has {len(self.vote_weights)} numbers; expected 1 to {_MOST_MEMBERS}")
        if self.max_pieces < 0 or self.unit not in UNITS:
            raise InputError(f"`max_pieces` is {self.max_pieces} and `unit` is {shorten(self.unit)}, which cannot be")
        return self


def _options(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"`{name}` is {shorten(value)}; expected an object")
    return value


_FIELDS: dict[str, Parser] = {
    "model": text,
    "options": _options,
    "labels": list_of(text),
    "dimension": integer,
    "says": list_of(number),
    "max_pieces": integer,
    "unit": text,
}
