"""Heat maps as SVG, for papers and slides: words set in lines, each with its number in a title and, where it is hot, below it.

No font is embedded. Positions follow from the widths in `text_width`, and every word is told to be as wide as assumed, so that
another font moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pssa.errors import InputError
from pssa.report.heat import NAMED, Pair, changes, level, number, pairs, percent, pieces, probabilities, spoken
from pssa.report.markup import escape
from pssa.report.style import ACCENT, HEAT, opacity, thickness
from pssa.report.text_width import FONT, cut, is_right_to_left, width
from pssa.runs.explain import Explanation

__all__ = ["to_svg"]

_SIZE, _SMALL = 16, 11  # of letters
_LINE, _HEAD, _MARGIN, _GAP = 38, 24, 12, 14  # of a line of words, a heading, the edge, between blocks
_LEAST = 200
_NAMESPACE = "http://www.w3.org/2000/svg"


@dataclass(frozen=True, slots=True)
class _Word:
    """Something that stands on a line."""

    text: str
    title: str = ""
    share: float = 0.0
    label: str = ""  # below it
    is_aspect: bool = False
    spaced: bool = False  # whether white space goes before it
    x: float = 0.0
    line: int = 0

    @property
    def letters(self) -> float:
        """The width of its text."""
        return width(self.text, _SIZE, bold=self.is_aspect)

    @property
    def wide(self) -> float:
        """The room it takes, with its number or its frame."""
        if self.is_aspect:
            return self.letters + 6
        return max(self.letters, width(self.label, _SMALL) + 3) if self.label else self.letters


def to_svg(
    explanations: Sequence[Explanation],
    *,
    versus: Sequence[Explanation] | None = None,
    width: int = 720,
    names: tuple[str, str] = ("this run", "versus"),
) -> str:
    """A drawing `width` pixels wide and as high as it must be.

    :param versus: explanations of the same aspects by another run, drawn above.
    :raises InputError: if `width` is too small for words.
    """
    if width < _LEAST:
        raise InputError(f"width is {width}; a heat map needs at least {_LEAST} pixels")
    found = pairs(explanations, versus)
    blocks, y = [], float(_MARGIN)
    for pair in found:
        block, y = _draw_pair(pair, names, width, y)
        blocks.append(block)
    said = " ".join(spoken(given) for pair in found for given in (pair.before, pair.now) if given is not None)
    height = round(y - _GAP + _MARGIN)
    return (
        f'<svg xmlns="{_NAMESPACE}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(said)}" font-family="{escape(FONT)}" font-size="{_SIZE}" fill="#1a1a1a">\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n' + "\n".join(blocks) + "\n</svg>\n"
    )


def _draw_pair(pair: Pair, names: tuple[str, str], wide: int, y: float) -> tuple[str, float]:
    """The drawing of one aspect, and where it ends."""
    if pair.before is None:
        block, y = _draw(pair.now, "", wide, y)
        return block, y + _GAP
    before, y = _draw(pair.before, f"{names[1]}: ", wide, y)
    now, y = _draw(pair.now, f"{names[0]}: ", wide, y)
    found = [
        f"{change.word} {number(change.before)} to {number(change.after)}" for change in changes(pair.now, pair.before)
    ]
    lines = _prose(f"changed most: {', '.join(found) or 'nothing'}", wide, y)
    return "\n".join([before, now, *lines]), y + _HEAD * len(lines) + _GAP


def _draw(explanation: Explanation, name: str, wide: int, y: float) -> tuple[str, float]:
    """A heading and the sentence, and where they end."""
    room = wide - 2 * _MARGIN
    best, *others = [f"{label} {value:.3f}" for label, value in probabilities(explanation)]
    head = f"{name}{explanation.answer.aspect} is {', '.join([best, *others])} (by {explanation.saliency})"
    lines = _prose(head, wide, y)
    y += _HEAD * len(lines)
    words = list(_set(_words(explanation), room))
    if is_right_to_left(explanation.text):
        words = [replace(word, x=room - word.x - word.wide) for word in words]
    drawn = [_draw_word(word, y) for word in words]
    return "\n".join([*lines, *drawn]), y + _LINE * (1 + max((word.line for word in words), default=0))


def _words(explanation: Explanation) -> Iterator[_Word]:
    """Everything that is not white space, in order."""
    spaced = False
    for piece in pieces(explanation):
        if piece.is_aspect:
            yield _Word(" ".join(piece.text.split()), "the aspect", is_aspect=True, spaced=spaced)
        elif piece.share is not None:
            label = number(piece.share) if piece.share >= NAMED else ""
            yield _Word(piece.text, f"{piece.text}: {percent(piece.share)}", piece.share, label, spaced=spaced)
        else:
            for place, part in enumerate(piece.text.split()):
                yield _Word(part, spaced=spaced or place > 0 or piece.text[:1].isspace())
        spaced = piece.text[-1:].isspace()


def _set(words: Iterable[_Word], room: float) -> Iterator[_Word]:
    """Put words on lines. A line ends at white space, or inside what is longer than a line."""
    x, line = 0.0, 0
    for run in _runs(words):
        space = width(" ", _SIZE) if run[0].spaced and x else 0.0
        fits = sum(word.wide for word in run) <= room
        if x and x + space + sum(word.wide for word in run) > room and (fits or run[0].spaced):
            x, line, space = 0.0, line + 1, 0.0
        x += space
        for part in run if fits else _cut(run, room):
            if x and x + part.wide > room:
                x, line = 0.0, line + 1
            yield replace(part, x=x, line=line)
            x += part.wide


def _runs(words: Iterable[_Word]) -> Iterator[list[_Word]]:
    """Words with no white space between them, together."""
    run: list[_Word] = []
    for word in words:
        if run and word.spaced:
            yield run
            run = []
        run.append(word)
    if run:
        yield run


def _cut(run: Iterable[_Word], room: float) -> Iterator[_Word]:
    for word in run:
        first, *rest = cut(word.text, _SIZE * (1.1 if word.is_aspect else 1), room - 6)
        yield replace(word, text=first)
        yield from (replace(word, text=part, label="") for part in rest)


def _draw_word(word: _Word, y: float) -> str:
    x, base = _MARGIN + word.x, y + word.line * _LINE + _SIZE
    heat = level(word.share)
    parts = [f"<title>{escape(word.title)}</title>"] if word.title else []
    if heat:
        parts.append(
            _box(x, base - _SIZE + 1, word.wide, _SIZE + 4, f'fill="rgb{HEAT}" fill-opacity="{opacity(heat)}"')
        )
        parts.append(_box(x, base + 5, word.wide, thickness(heat), f'fill="{ACCENT}"'))
    if word.is_aspect:
        parts.append(_box(x, base - _SIZE + 1, word.wide, _SIZE + 4, 'fill="none" stroke="#555" rx="2"'))
    weight = ' font-weight="bold"' if word.is_aspect else ""
    start = x + (word.wide - word.letters) / 2
    # Marks alone have no width that they could be told to have.
    length = f' textLength="{word.letters:.1f}" lengthAdjust="spacingAndGlyphs"' if word.letters else ""
    parts.append(f'<text x="{start:.1f}" y="{base:.1f}"{weight}{length}>{escape(word.text)}</text>')
    if word.label:
        middle = x + word.wide / 2
        parts.append(
            f'<text x="{middle:.1f}" y="{base + _SMALL + 8:.1f}" font-size="{_SMALL}" text-anchor="middle">'
            f"{word.label}</text>"
        )
    return f"<g>{''.join(parts)}</g>"


def _box(x: float, y: float, wide: float, high: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" {fill}/>'


def _prose(text: str, wide: int, y: float) -> list[str]:
    """Lines of small text."""
    words = [_Word(part, spaced=True) for part in text.split()]
    scale = _SIZE / (_SMALL + 2)
    found: dict[int, list[str]] = {}
    for word in _set(words, (wide - 2 * _MARGIN) * scale):
        found.setdefault(word.line, []).append(word.text)
    return [
        f'<text x="{_MARGIN}" y="{y + _HEAD * line + _SMALL + 2:.1f}" font-size="{_SMALL + 2}" fill="#444">'
        f"{escape(' '.join(parts))}</text>"
        for line, parts in found.items()
    ]
