"""What an exhibit is: cells it needs, and how their outcomes are shown, as tables, figures, pictures and prose.

Parts are plain values; `render/` writes them as Markdown, LaTeX, CSV, JSON, SVG, PNG and HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pssa.experiments.cells import Cell
from pssa.experiments.reading import Reading
from pssa.experiments.scope import Findings, Scope

__all__ = ["Exhibit", "Figure", "Line", "Panel", "Part", "Picture", "Prose", "Table", "Value"]

Value = str | int | float | Reading | None  # of a table's field; None: not measured


@dataclass(frozen=True)
class Table:
    """Rows under columns; the first columns name the row."""

    name: str  # of its files
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()  # below it
    outcomes: tuple[str, ...] = ()  # columns of which a row fills one to be shown; none: every row is


@dataclass(frozen=True)
class Line:
    """A curve: its points, and how far they spread."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    spread: tuple[float | None, ...] = ()  # by point; None: of a single measurement; none at all: of every point


@dataclass(frozen=True)
class Panel:
    """One of the plots of a figure."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Figure:
    """Plots side by side, with the same axes."""

    name: str
    title: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()  # names of 1, 2, 3, ... on the horizontal axis, where it holds no numbers

    def name_of(self, x: float) -> str:
        """What stands below the axis there."""
        return self.places[int(x) - 1] if self.places else f"{x:g}"


@dataclass(frozen=True)
class Picture:
    """Something drawn already, such as heat maps."""

    name: str
    title: str
    html: str
    svg: str


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str


Part = Table | Figure | Picture | Prose


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper, or one that goes beyond it."""

    name: str
    title: str
    cells: Callable[[Scope], Iterable[Cell]]
    show: Callable[[Scope, Findings], Sequence[Part]]
    needs: tuple[str, ...] = ()  # without which nothing can be shown: vectors, encoder, opinion_words, a data set
    beyond: bool = False  # the paper
