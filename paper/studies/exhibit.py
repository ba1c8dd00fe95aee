"""An exhibit: how it shows the records of cells as tables, figures, pictures and paragraphs. The cells that it looks up are
those that it needs.

These parts are plain values, which `pages` writes to files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from paper.experiments.cells import Cell
from paper.experiments.comparison import Row, mean_and_std
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope

PlainValue = str | int | float | None
PAIR = ("accuracy", "macro-F1")


@dataclass(frozen=True)
class FormattedValue:
    """A field that people read as one text and programs as several numbers: `66.42 ± 0.92`, `+0.41* / -0.06`, `9 of 9`."""

    text: str
    parts: Mapping[str, PlainValue]  # by name, unrounded

    def __str__(self) -> str:
        return self.text


Value = str | int | float | FormattedValue | None  # of a table's field; None: not measured
TableRow = tuple[Value, ...]


def format_scores(scores: Sequence[float] | None, sign: str = "") -> FormattedValue | None:
    """Return `accuracy / macro-F1` in points."""
    if scores is None:
        return None
    return FormattedValue(" / ".join(f"{score:{sign}.2f}" for score in scores), dict(zip(PAIR, scores, strict=True)))


def format_mean(values: Sequence[float], sign: str = "") -> FormattedValue | None:
    """Return `mean ± standard deviation` in points."""
    if not values:
        return None
    mean, spread = mean_and_std(values)
    beside = "" if spread is None else f" ± {spread:.2f}"
    return FormattedValue(f"{mean:{sign}.2f}{beside}", {"mean": mean, "spread": spread})


def format_row(row: Row, metric: str) -> FormattedValue | None:
    """Return the mean of a score over the seeds ± standard deviation."""
    return format_mean([record[metric] for record in row.values()])


def format_number(name: str, value: float | None, form: str = "+.2f") -> FormattedValue | None:
    """Return a number rounded for people; programs find it under the name."""
    return None if value is None else FormattedValue(f"{value:{form}}", {name: value})


def format_interval(name: str, value: float, low: float, high: float) -> FormattedValue:
    """Return a difference with its interval."""
    text = f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"
    return FormattedValue(text, {name: value, "low": low, "high": high})


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


def plot_line(name: str, values: Mapping[float, Sequence[float]], unit: float = 100) -> PlotLine:
    """Return means by place, of shares in points, with their standard deviations; places without any value are left out."""
    found = {float(x): mean_and_std(each, unit) for x, each in sorted(values.items()) if each}
    means, spreads = zip(*found.values(), strict=True) if found else ((), ())
    return PlotLine(name, tuple(found), means, spreads)


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
    zero: bool = False  # whether a line marks zero on the vertical axis
    places: tuple[str, ...] = ()  # names of 1, 2, 3, ... on the horizontal axis, where it holds no numbers

    def tick_label(self, x: float) -> str:
        """Return the text below the axis at `x`."""
        return self.places[int(x) - 1] if self.places else f"{x:g}"


@dataclass(frozen=True)
class Picture:
    """A finished drawing, such as heat maps."""

    name: str
    title: str
    svg: str


@dataclass(frozen=True)
class Details:
    """Tables and paragraphs that are folded away below one line; they have no files of their own."""

    summary: str
    parts: tuple[Table | str, ...]


class TableLookup:
    """The tables of an exhibit, to look numbers up by names of rows and columns; what is not there raises LookupError."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables

    def rows(self, table: str, *first: str) -> list[dict[str, Value]]:
        """Return the rows of a table that begin with these fields, each by column; all of them if none are given."""
        found = self._tables[table]
        kept = [row for row in found.rows if tuple(map(str, row[: len(first)])) == first]
        if not kept:
            raise LookupError(f"{table} has no row that begins with {', '.join(first)}")
        return [dict(zip(found.columns, row, strict=True)) for row in kept]

    def names(self, beginning: str) -> list[str]:
        """Return the names of the tables that begin in this way."""
        return [name for name in self._tables if name.startswith(beginning)]

    def number(self, table: str, *first: str, column: str, part: str = "") -> float:
        """Return the number in the one row that begins with these fields; `part` names one of several numbers."""
        (row,) = self.rows(table, *first)
        return number_in(row[column], part)


def number_in(field: Value, part: str = "") -> float:
    """Return the number in a field of a table, or one of its parts; a field that is not measured raises LookupError."""
    value = field.parts[part] if isinstance(field, FormattedValue) else field
    if not isinstance(value, int | float):
        raise LookupError(f"{part or 'a number'} is not measured")
    return float(value)


def numbers_in(rows: Iterable[Mapping[str, Value]], column: str, part: str = "") -> tuple[float, ...]:
    """Return the measured numbers of a column."""
    found = (row[column] for row in rows)
    values = (field.parts[part] if isinstance(field, FormattedValue) else field for field in found)
    return tuple(float(value) for value in values if isinstance(value, int | float))


@dataclass(frozen=True)
class StripRow:
    """A row of a strip plot: single measurements as small dots, their mean as a large one."""

    name: str
    mean: float
    values: tuple[float, ...] = ()
    error: float | None = None  # standard error of the mean
    kind: str = "tried"  # or "control", or "paper"


@dataclass(frozen=True)
class StripPlot:
    """A small drawing that is read at a glance: a few numbers on one axis."""

    axis: str  # what it measures
    rows: tuple[StripRow, ...]
    form: str = "{:+.1f}"  # of the number beside each row
    origin: float = 0.0  # where a line marks that nothing changed

    def number(self, row: StripRow) -> str:
        """Return the mean of a row as it is shown; zero has no minus."""
        shown = self.form.format(row.mean)
        return self.form.format(0.0) if shown == self.form.format(-0.0) else shown


@dataclass(frozen=True)
class KeyFinding:
    """What an exhibit says, for the first page of results."""

    question: str
    answer: str  # one sentence, made from the tables
    plot: StripPlot
    claim: str = ""  # what the paper says of it, if it does
    more: str = ""  # details that the answer can stand without

    @property
    def text(self) -> str:
        """Claim, answer and details."""
        return " ".join(filter(None, (self.claim, self.answer, self.more)))


Part = Table | Figure | Picture | Details | str  # a paragraph is a text; `code` in it stands between backticks


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
    show: Callable[[Scope, RecordLookup], Sequence[Part]]  # looks up the same cells whatever is measured
    needs: tuple[str, ...] = ()  # without which nothing can be shown: vectors, encoder, opinion_words, a data set
    encoders: EncoderUse = EncoderUse()

    def parts(self, scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
        """Return what it shows of the records in a scope."""
        return self.show(self.encoders.within(scope), lookup)

    def cells(self, scope: Scope) -> tuple[Cell, ...]:
        """Return the cells whose records it shows: those that it looks up."""
        asked: dict[Cell, None] = {}
        self.parts(scope, asked.setdefault)
        return tuple(asked)
