"""`Review`: a text with all its opinions, those without a named aspect included.

An instance (`Example`) is one aspect with one label. A review keeps more: opinions whose aspect the text implies, and the words
that express each opinion. `pssa.evaluation.score_reviews` compares a model with reviews.
"""

from __future__ import annotations

from dataclasses import dataclass

from pssa.data.tokenize import Span

NO_OPINION = "none"  # the overall label of a review without an implied opinion


@dataclass(frozen=True, slots=True)
class Opinion:
    """One opinion of a review. Offsets count characters of its text."""

    label: str
    aspect: Span | None = None  # None: implied, the text does not name it
    words: tuple[Span, ...] = ()  # places of the words that express it, if the file marks them


@dataclass(frozen=True, slots=True)
class Review:
    """A text with all its opinions."""

    text: str
    opinions: tuple[Opinion, ...] = ()

    @property
    def aspects(self) -> dict[Span, str | None]:
        """The label of each named aspect, in the order of the text; None for an aspect with two labels."""
        labels: dict[Span, set[str]] = {}
        for opinion in self.opinions:
            if opinion.aspect is not None:
                labels.setdefault(opinion.aspect, set()).add(opinion.label)
        return {span: found.pop() if len(found) == 1 else None for span, found in sorted(labels.items())}

    @property
    def overall(self) -> str | None:
        """The label of the implied opinions, `none` if there are none, None if their labels differ."""
        labels = {opinion.label for opinion in self.opinions if opinion.aspect is None}
        return None if len(labels) > 1 else next(iter(labels), NO_OPINION)

    def opinion_words(self, aspect: Span) -> tuple[Span, ...]:
        """Return the places of all words that express an opinion about this aspect, each once, in order."""
        return tuple(sorted({place for each in self.opinions if each.aspect == aspect for place in each.words}))
