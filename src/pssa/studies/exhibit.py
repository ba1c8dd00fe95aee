"""An exhibit: the cells it needs, and how it shows their records as tables, figures, pictures and paragraphs.

These parts are plain values; `pages` writes them as Markdown, LaTeX, CSV, JSON, SVG, PNG and HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pssa.experiments.cells import Cell
from pssa.experiments.comparison import mean_and_std
from pssa.experiments.ledger import RecordLookup
from pssa.experiments.resources import Scope

PlainValue = str | int | float | None
PAIR = ("accuracy", "macro-F1")


@dataclass(frozen=True)
class FormattedValue:
    """A field that people read as one text and programs as several numbers: `66.42 ± 0.92`, `+0.41* / -0.06`, `9 of 9`."""

    text: str  # empty: not measured
    parts: Mapping[str, PlainValue]  # by name, unrounded; the same names where nothing was measured

    def __str__(self) -> str:
        return self.text


Value = str | int | float | FormattedValue | None  # of a table's field; None: not measured
TableRow = tuple[Value, ...]


def not_measured(*names: str) -> FormattedValue:
    """Return an empty field that would consist of these parts."""
    return FormattedValue("", dict.fromkeys(names))


def format_scores(scores: Sequence[float] | None, sign: str = "") -> FormattedValue:
    """Return `accuracy / macro-F1` in points."""
    if scores is None:
        return not_measured(*PAIR)
    return FormattedValue(" / ".join(f"{score:{sign}.2f}" for score in scores), dict(zip(PAIR, scores, strict=True)))


def format_mean(values: Sequence[float], sign: str = "") -> FormattedValue:
    """Return `mean ± standard deviation` in points."""
    if not values:
        return not_measured("mean", "spread")
    mean, spread = mean_and_std(values)
    beside = "" if spread is None else f" ± {spread:.2f}"
    return FormattedValue(f"{mean:{sign}.2f}{beside}", {"mean": mean, "spread": spread})


def format_percent(share: float, decimals: int = 1) -> FormattedValue:
    """Return a share as a percentage; for programs it stays a share."""
    return FormattedValue(f"{share:.{decimals}%}", {"share": share})


def format_count(count: int, number: int) -> FormattedValue:
    """Return `count of number`."""
    return FormattedValue(f"{count} of {number}", {"count": count, "of": number})


@dataclass(frozen=True)
class Table:
    """Rows under columns; the first columns name the row."""

    name: str  # of its files
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()  # below it
    outcomes: tuple[str, ...] = ()  # a row that fills none of these columns is left out; empty: every row is shown


@dataclass(frozen=True)
class PlotLine:
    """Points of a plot, with the standard deviation of each."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    spread: tuple[float | None, ...] = ()  # by point; None: a single measurement; empty: no point has one


Panel = tuple[str, tuple[PlotLine, ...]]  # one of the plots of a figure: its title and lines


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

    def tick_label(self, x: float) -> str:
        """Return the text below the axis at `x`."""
        return self.places[int(x) - 1] if self.places else f"{x:g}"


@dataclass(frozen=True)
class Picture:
    """A finished drawing, such as heat maps."""

    name: str
    title: str
    html: str
    svg: str


Part = Table | Figure | Picture | str  # a paragraph is a text; `code` in it stands between backticks


@dataclass(frozen=True)
class EncoderUse:
    """How trainings on an encoder are kept few, since each takes long."""

    seeds: int = 0  # at most; 0: as many as word-vector models have
    small: bool = False  # on the small encoder, if there is one

    def within(self, scope: Scope) -> Scope:
        """Return the scope with these limits."""
        return replace(scope, encoder_seeds=self.seeds, prefers_small=self.small)


HEADLINE = EncoderUse(seeds=3)
SWEEP = EncoderUse(seeds=2, small=True)


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper, or one that goes beyond it."""

    name: str
    title: str
    cells: Callable[[Scope], Iterable[Cell]]
    show: Callable[[Scope, RecordLookup], Sequence[Part]]
    needs: tuple[str, ...] = ()  # without which nothing can be shown: vectors, encoder, opinion_words, a data set
    beyond: bool = False  # whether it goes beyond the paper
    encoders: EncoderUse = EncoderUse()
