"""Heat maps in a terminal: in colour, or as `huge(.42)` where there is no colour."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from pssa.report import heat_map
from pssa.runs.answers import Explanation

Drawing = Callable[[Explanation], list[Text]]

# They change the direction of the text that follows on the line, also of other texts.
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class HeatMaps:
    """Heat maps that `rich` prints, in colour if the console has it."""

    pairs: tuple[heat_map.Pair, ...]
    names: tuple[str, str]
    with_notes: bool = False  # about texts that are unlike the training data

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Print one block per aspect, with an empty line between."""
        draw = _in_numbers if console.color_system is None or console.no_color else _in_colour
        for place, pair in enumerate(self.pairs):
            lines = [*([Text()] if place else []), *_block(pair, self.names, draw)]
            if self.with_notes and (note := heat_map.warning(pair.now)):
                lines.append(Text(f"  note: {_one_line(note)}"))
            yield Text("\n").join(lines)


def to_terminal(
    explanations: Sequence[Explanation],
    *,
    versus: Sequence[Explanation] | None = None,
    names: tuple[str, str] = ("this run", "versus"),
    with_notes: bool = False,
) -> HeatMaps:
    """Return sentences with their heat, labels and probabilities, below those of another run, for `rich` to print."""
    return HeatMaps(tuple(heat_map.pairs(explanations, versus)), names, with_notes)


def _block(pair: heat_map.Pair, names: tuple[str, str], draw: Drawing) -> list[Text]:
    """Return the lines of one aspect."""
    if pair.before is None:
        return [_heading(pair.now, ""), *draw(pair.now)]
    both = ((names[1], pair.before), (names[0], pair.now))
    lines = [line for name, given in both for line in (_heading(given, f"{name}: "), *draw(given))]
    found = [
        f"{_one_line(word)} {heat_map.format_share(old)} to {heat_map.format_share(new)}"
        for word, old, new in heat_map.changes(pair.now, pair.before)
    ]
    return [*lines, Text(f"changed most: {', '.join(found) or 'nothing'}")]


def _heading(explanation: Explanation, name: str) -> Text:
    best, *others = [_one_line(label + value) for label, value in heat_map.scores(explanation)]
    rest = "".join(f", {other}" for other in others)
    aspect = (_one_line(explanation.answer.about), "bold")
    return Text.assemble(_one_line(name), aspect, " is ", (best, "bold"), f"{rest} ({explanation.grounds})")


def _in_colour(explanation: Explanation) -> list[Text]:
    """Colour the words, and list the highest shares below."""
    line = Text("  ")
    for part in heat_map.segments(explanation):
        heat, style = heat_map.level(part.share or 0.0), "bold" if part.is_aspect else ""
        if heat:
            opacity = heat_map.opacity(heat)
            red, green, blue = (round(255 + opacity * (colour - 255)) for colour in heat_map.HEAT_COLOUR)
            style = f"{'bold ' if heat >= 5 else ''}black on rgb({red},{green},{blue})"
        line.append(_bracketed(part), style)
    top = heat_map.top_words(explanation)
    found = [f"{_one_line(part.text)} {heat_map.format_share(part.share or 0.0)}" for part in top]
    return [line, *([Text(f"  {', '.join(found)}", "dim")] if found else [])]


def _in_numbers(explanation: Explanation) -> list[Text]:
    """Write the shares after the words."""
    line = Text("  ")
    for part in heat_map.segments(explanation):
        hot = part.share is not None and part.share >= heat_map.NAMED
        line.append(_bracketed(part) + (f"({heat_map.format_share(part.share or 0.0)})" if hot else ""))
    return [line]


def _bracketed(part: heat_map.Segment) -> str:
    return f"[{_one_line(part.text)}]" if part.is_aspect else _one_line(part.text)


def _one_line(text: str) -> str:
    """Put the text on one line, without control characters for the terminal."""
    return _DIRECTION_MARKS.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"\s+", " ", heat_map.clean(text)))
