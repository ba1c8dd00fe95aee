"""Presets, settings to start from under one name (`presets.toml`). Settings that are given win over them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from pssa.errors import InputError, setting


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
