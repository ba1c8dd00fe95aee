"""Rows of tables as people read them."""

from __future__ import annotations

from collections.abc import Iterable

from paper.studies.exhibit import FormattedValue, Value


def as_read(row: Iterable[Value]) -> tuple[Value, ...]:
    """The texts of the readings among the fields; nothing where nothing was measured."""
    return tuple((field.text or None) if isinstance(field, FormattedValue) else field for field in row)
