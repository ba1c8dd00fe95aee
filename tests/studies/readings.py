"""Rows of tables as people read them."""

from __future__ import annotations

from collections.abc import Iterable

from pssa.experiments.reading import Reading
from pssa.studies.exhibit import Value


def as_read(row: Iterable[Value]) -> tuple[Value, ...]:
    """The texts of the readings among the fields; nothing where nothing was measured."""
    return tuple((field.text or None) if isinstance(field, Reading) else field for field in row)
