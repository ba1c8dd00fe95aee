"""Heat maps as HTML: one explanation to be embedded, two side by side, or a whole page of them."""

from __future__ import annotations

from collections.abc import Sequence

from pssa.report.heat import (
    FULL,
    NAMED,
    Pair,
    Piece,
    by_sentence,
    changes,
    level,
    number,
    pairs,
    percent,
    pieces,
    probabilities,
    spoken,
)
from pssa.report.markup import Markup, escape, join, page
from pssa.report.style import HEAT_STYLE, PAGE_STYLE
from pssa.runs.explain import Explanation

__all__ = ["STYLE", "comparison_fragment", "html_fragment", "legend", "to_html"]

STYLE = HEAT_STYLE
_SAMPLES = (NAMED, 0.1, 0.2, 0.3, FULL)


def to_html(
    explanations: Sequence[Explanation],
    *,
    versus: Sequence[Explanation] | None = None,
    title: str = "Heat maps",
    names: tuple[str, str] = ("this run", "versus"),
) -> str:
    """A whole page: aspects of one sentence one below the other, two runs side by side.

    :param versus: explanations of the same aspects by another run.
    :param names: of the run and of the other one.
    """
    groups = by_sentence(pairs(explanations, versus))
    sections = [_sentence(place, group, names) for place, group in enumerate(groups, start=1)]
    body = join([Markup(f"<h1>{escape(title)}</h1>"), legend(), Markup("<main>"), *sections, Markup("</main>")])
    return page(title, PAGE_STYLE + HEAT_STYLE, body)


def html_fragment(explanation: Explanation, name: str = "") -> str:
    """One sentence with its answer, to be put into a page that has `STYLE`.

    :param name: of the run, where several are shown.
    """
    label, *others = probabilities(explanation)
    rest = "".join(f" · {escape(other)} {value:.3f}" for other, value in others)
    said = f"{escape(name)}: " if name else ""
    return (
        f'<figure class="heat-map">\n<figcaption>{said}<b><bdi>{escape(explanation.answer.aspect)}</bdi></b> is '
        f"<b>{escape(label[0])}</b> {label[1]:.3f}{rest} "
        f'<span class="by">by {escape(explanation.saliency)}</span></figcaption>\n'
        f'<p class="heat" dir="auto" role="img" aria-label="{escape(spoken(explanation))}">'
        f"{''.join(_piece(piece) for piece in pieces(explanation))}</p>\n</figure>"
    )


def comparison_fragment(pair: Pair, names: tuple[str, str]) -> str:
    """Both heat maps of a pair, before and after, and the words whose share changed most; one alone stands alone."""
    now, before = pair.now, pair.before
    if before is None:
        return html_fragment(now)
    both = f"{html_fragment(before, names[1])}\n{html_fragment(now, names[0])}"
    found = [
        f"<b><bdi>{escape(change.word)}</bdi></b> {percent(change.before)} to {percent(change.after)}"
        for change in changes(now, before)
    ]
    changed = f"Shares that changed most: {', '.join(found)}." if found else "No share changed."
    return f'<div class="side-by-side">\n{both}\n</div>\n<p class="note">{changed}</p>'


def legend() -> Markup:
    """What the colours mean."""
    samples = " ".join(f'<i class="h{level(share)}">{share:.0%}</i>' for share in _SAMPLES)
    return Markup(
        f'<p class="heat note" aria-hidden="true">A word\'s share of the saliency: {samples} and more. '
        f'<b class="aspect">The aspect</b> has none. Point at a word to see its number.</p>'
    )


def _sentence(place: int, group: Sequence[Pair], names: tuple[str, str]) -> Markup:
    parts = "\n".join(comparison_fragment(pair, names) for pair in group)
    return Markup(f'<section class="sentence">\n<h2>Sentence {place}</h2>\n{parts}\n</section>')


def _piece(piece: Piece) -> str:
    text = escape(piece.text)
    if piece.is_aspect:
        return f'<b class="aspect" title="the aspect">{text}</b>'
    if piece.share is None:
        return text
    heat = level(piece.share)
    shown = f' class="h{heat}"' if heat else ""
    said = f' data-n="{number(piece.share)}"' if piece.share >= NAMED else ""
    return f'<i{shown}{said} title="{text}: {percent(piece.share)}">{text}</i>'
