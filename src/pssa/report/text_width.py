"""How wide a text is, without a font at hand: the widths of Helvetica, which Arial and Liberation Sans share."""

from __future__ import annotations

import unicodedata

__all__ = ["FONT", "cut", "is_right_to_left", "width"]

FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"

# Thousandths of the font's size, of the characters from space to tilde.
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_BOLD = 1.08  # bold letters are wider, by this much on average
_WIDE, _OTHER = 1000, 600
_MARKS = ("Mn", "Me", "Cf", "Sk")  # drawn on the character before them, or not at all
_JOINER = "\N{ZERO WIDTH JOINER}"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a line in the units of `size`; exact for plain ASCII, an estimate for the rest."""
    # What a joiner ties to the character before it is drawn in one with that.
    drawn = (character for place, character in enumerate(text) if place == 0 or text[place - 1] != _JOINER)
    return sum(map(_units, drawn)) * size / 1000 * (_BOLD if bold else 1)


def cut(text: str, size: float, most: float) -> list[str]:
    """The text in parts that are at most `most` wide, marks together with their character; one part where it fits."""
    parts, part, taken = [], "", 0.0
    for character in text:
        wide = 0.0 if part.endswith(_JOINER) else width(character, size)
        if part and wide and taken + wide > most:
            parts.append(part)
            part, taken = "", 0.0
        part, taken = part + character, taken + wide
    return [*parts, part] if part or not parts else parts


def is_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction is of a script that runs to the left."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def _units(character: str) -> int:
    if " " <= character <= "~":
        return _WIDTHS[ord(character) - 32]
    if unicodedata.category(character) in _MARKS:
        return 0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER
