"""Heat maps as SVG, for papers and slides: words in lines, each with its share in a title and, where it is high, below it.

No font is embedded. Positions follow from the widths of Helvetica, which Arial and Liberation Sans share, and every word is
stretched to the assumed width, so that another font moves nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pssa.display import percent
from pssa.errors import InputError
from pssa.report.heat_map import NAMED, alt_text, changes, clean, format_share, pairs, scores
from pssa.report.heat_map import segments as segments_of
from pssa.report.html import render
from pssa.runs.answers import Explanation

_SIZE, _SMALL, _HEADING = 16, 11, 13  # of letters
_LINE, _HEADING_LINE, _MARGIN, _GAP = 38, 24, 12, 14  # of a line of words, a heading, the edge, between blocks
_MIN_WIDTH = 200

# Thousandths of the font's size, of the characters from space to tilde.
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_BOLD = 1.08  # bold letters are wider by this factor on average
_WIDE_CHARACTER, _OTHER_CHARACTER = 1000, 600
_MARKS = ("Mn", "Me", "Cf", "Sk")  # drawn on the character before them, or not at all
_JOINER = "\N{ZERO WIDTH JOINER}"


@dataclass(slots=True)
class _Word:
    """A word, the aspect, a punctuation mark or a heading, with its place on the drawing."""

    text: str
    title: str = ""
    share: float = 0.0
    label: str = ""  # below it
    is_aspect: bool = False
    is_heading: bool = False  # a line of small text
    has_space: bool = False  # before it
    x: float = _MARGIN
    y: float = 0.0  # of its baseline; while a block is set, the number of its line

    @property
    def text_width(self) -> float:
        """Width of the letters."""
        return text_width(self.text, _SIZE, bold=self.is_aspect)

    @property
    def width(self) -> float:
        """Width with its number or its frame."""
        if self.is_aspect:
            return self.text_width + 6
        return max(self.text_width, text_width(self.label, _SMALL) + 3) if self.label else self.text_width


def to_svg(
    explanations: Sequence[Explanation],
    *,
    versus: Sequence[Explanation] | None = None,
    width: int = 720,
    names: tuple[str, str] = ("this run", "versus"),
) -> str:
    """Return a drawing `width` pixels wide and as high as needed, with `versus`, those of another run, above."""
    if width < _MIN_WIDTH:
        raise InputError(f"width is {width}; a heat map needs at least {_MIN_WIDTH} pixels")
    room = width - 2 * _MARGIN
    drawn: list[_Word] = []
    both: list[Explanation] = []
    y: float = _MARGIN
    for now, before in pairs(explanations, versus):
        sides = [("", now)] if before is None else [(f"{names[1]}: ", before), (f"{names[0]}: ", now)]
        for name, given in sides:
            labels = ", ".join(label + value for label, value in scores(given))
            heading = f"{name}{given.answer.about} is {labels} ({given.grounds})"
            y = _add_sentence(drawn, given, room, _add_heading(drawn, heading, room, y))
            both.append(given)
        if before is not None:
            changed = [f"{word} {format_share(old)} to {format_share(new)}" for word, old, new in changes(now, before)]
            y = _add_heading(drawn, f"changed most: {', '.join(changed) or 'nothing'}", room, y)
        y += _GAP
    return render(
        "heat_map.svg.jinja",
        width=width,
        words=drawn,
        height=round(y - _GAP + _MARGIN),
        label=" ".join(map(alt_text, both)),
        sizes={"word": _SIZE, "number": _SMALL, "heading": _HEADING},
    )


def _add_heading(drawn: list[_Word], text: str, room: float, y: float) -> float:
    """Add lines of small text from `y` down; return where they end."""
    words = [_Word(part, has_space=True) for part in clean(text).split()]
    for _, line in groupby(_set_lines(words, room * _SIZE / _HEADING), key=lambda word: word.y):
        drawn.append(_Word(" ".join(word.text for word in line), is_heading=True, y=y + _HEADING))
        y += _HEADING_LINE
    return y


def _add_sentence(drawn: list[_Word], explanation: Explanation, room: float, y: float) -> float:
    """Add everything of a sentence but white space from `y` down; return where it ends."""
    given: list[_Word] = []
    has_space = False
    for part in segments_of(explanation):
        if part.is_aspect:
            given.append(_Word(" ".join(part.text.split()), "the aspect", is_aspect=True, has_space=has_space))
        elif part.share is not None:
            label = format_share(part.share) if part.share >= NAMED else ""
            given.append(
                _Word(part.text, f"{part.text}: {percent(part.share)}", part.share, label, has_space=has_space)
            )
        else:
            for place, text in enumerate(part.text.split()):
                given.append(_Word(text, has_space=has_space or place > 0 or part.text[:1].isspace()))
        has_space = part.text[-1:].isspace()
    is_mirrored = is_right_to_left(explanation.text)
    n_lines = 1
    for word in _set_lines(given, room):
        n_lines = int(word.y) + 1
        word.x = _MARGIN + (room - word.x - word.width if is_mirrored else word.x)
        word.y = y + word.y * _LINE + _SIZE
        drawn.append(word)
    return y + _LINE * n_lines


def _set_lines(words: Iterable[_Word], room: float) -> list[_Word]:
    """Place words on lines, counted in `y`. A line ends at white space, or inside a word that is longer than a line."""
    runs: list[list[_Word]] = []  # of words without white space between them
    for word in words:
        if word.has_space or not runs:
            runs.append([])
        runs[-1].append(word)
    placed: list[_Word] = []
    x, line = 0.0, 0
    for run in runs:
        width, space = sum(word.width for word in run), text_width(" ", _SIZE) if run[0].has_space and x else 0.0
        fits = width <= room
        if x and x + space + width > room and (fits or run[0].has_space):
            x, line, space = 0.0, line + 1, 0.0
        x += space
        for word in run:
            parts = [word.text] if fits else cut(word.text, _SIZE * (1.1 if word.is_aspect else 1), room - 6)
            for number, text in enumerate(parts):
                part = replace(word, text=text, label="" if number else word.label)
                if x and x + part.width > room:
                    x, line = 0.0, line + 1
                part.x, part.y = x, line
                placed.append(part)
                x += part.width
    return placed


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a line in the units of `size`; exact for ASCII, an estimate for the rest."""
    # A character after a joiner is drawn as one with the character before it.
    drawn = (character for place, character in enumerate(text) if place == 0 or text[place - 1] != _JOINER)
    return sum(map(_character_width, drawn)) * size / 1000 * (_BOLD if bold else 1)


def cut(text: str, size: float, most: float) -> list[str]:
    """Cut the text into parts at most `most` wide, marks together with their character; one part if it fits."""
    parts, part, taken = [], "", 0.0
    for character in text:
        width = 0.0 if part.endswith(_JOINER) else text_width(character, size)
        if part and width and taken + width > most:
            parts.append(part)
            part, taken = "", 0.0
        part, taken = part + character, taken + width
    return [*parts, part] if part or not parts else parts


def is_right_to_left(text: str) -> bool:
    """Return whether the first letter with a direction belongs to a script written from right to left."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def _character_width(character: str) -> int:
    if " " <= character <= "~":
        return _WIDTHS[ord(character) - 32]
    if unicodedata.category(character) in _MARKS:
        return 0
    return _WIDE_CHARACTER if unicodedata.east_asian_width(character) in "WF" else _OTHER_CHARACTER
