"""Heat maps in a terminal: colour where there is some, `huge(.42)` where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from pssa.report.heat import NAMED, Pair, Piece, changes, clean, hottest, level, number, pairs, pieces, probabilities
from pssa.report.style import HEAT, opacity
from pssa.runs.explain import Explanation

__all__ = ["HeatMaps", "to_terminal"]

Drawing = Callable[[Explanation], list[Text]]

# They turn the direction of what follows them on the line, also of what is not theirs.
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class HeatMaps:
    """What `rich` can print; whether there is colour is asked of the console."""

    pairs: tuple[Pair, ...]
    names: tuple[str, str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One block for each aspect, with an empty line between."""
        draw = _in_numbers if console.color_system is None or console.no_color else _in_colour
        for place, pair in enumerate(self.pairs):
            yield Text("\n").join([*([Text()] if place else []), *_block(pair, self.names, draw)])


def to_terminal(
    explanations: Sequence[Explanation],
    *,
    versus: Sequence[Explanation] | None = None,
    names: tuple[str, str] = ("this run", "versus"),
) -> HeatMaps:
    """Sentences with their heat, answers and probabilities, to be printed by `rich`.

    :param versus: explanations of the same aspects by another run, shown above.
    """
    return HeatMaps(tuple(pairs(explanations, versus)), names)


def _block(pair: Pair, names: tuple[str, str], draw: Drawing) -> list[Text]:
    """The lines of one aspect."""
    if pair.before is None:
        return [_head(pair.now, ""), *draw(pair.now)]
    both = ((names[1], pair.before), (names[0], pair.now))
    lines = [line for name, given in both for line in (_head(given, f"{name}: "), *draw(given))]
    found = [f"{_fit(c.word)} {number(c.before)} to {number(c.after)}" for c in changes(pair.now, pair.before)]
    return [*lines, Text(f"changed most: {', '.join(found) or 'nothing'}")]


def _head(explanation: Explanation, name: str) -> Text:
    best, *others = [f"{_fit(label)} {value:.3f}" for label, value in probabilities(explanation)]
    rest = "".join(f", {other}" for other in others)
    aspect = (_fit(explanation.answer.aspect), "bold")
    return Text.assemble(_fit(name), aspect, " is ", (best, "bold"), f"{rest} (by {explanation.saliency})")


def _in_colour(explanation: Explanation) -> list[Text]:
    """The text with heat behind its words, and below it the numbers that colour cannot say."""
    line = Text("  ")
    for piece in pieces(explanation):
        line.append(_shown(piece), "bold" if piece.is_aspect else _style(level(piece.share or 0.0)))
    found = [f"{_fit(piece.text)} {number(piece.share or 0.0)}" for piece in hottest(explanation)]
    return [line, *([Text(f"  {', '.join(found)}", "dim")] if found else [])]


def _in_numbers(explanation: Explanation) -> list[Text]:
    """The text with numbers behind its words."""
    line = Text("  ")
    for piece in pieces(explanation):
        hot = piece.share is not None and piece.share >= NAMED
        line.append(_shown(piece) + (f"({number(piece.share or 0.0)})" if hot else ""))
    return [line]


def _shown(piece: Piece) -> str:
    return f"[{_fit(piece.text)}]" if piece.is_aspect else _fit(piece.text)


def _style(heat: int) -> str:
    if heat == 0:
        return ""
    share = opacity(heat)
    red, green, blue = (round(255 + share * (part - 255)) for part in HEAT)
    return f"{'bold ' if heat >= 5 else ''}black on rgb({red},{green},{blue})"


def _fit(text: str) -> str:
    """The text on one line, without what a terminal would obey."""
    return _TURNS.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"\s+", " ", clean(text)))
