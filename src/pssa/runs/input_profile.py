"""Profile of a run's training texts, in `inputs.json`, and notes about texts that are unlike them.

A model answers about any text, in any language. A note warns that an answer may be unfounded: most words are new to the model,
the language or the script is another, the text is far longer than any it was trained on, or the aspect is new.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from pssa.data.example import Example
from pssa.data.tokenize import Span, tokenize
from pssa.data.validation import parse_fields, parsers_of, truth
from pssa.runs.directory import read_schema, write_json

FILE = "inputs.json"
UNKNOWN_WORDS, OTHER_SCRIPT, LONG_TEXT, NEW_ASPECT = (
    "mostly unknown words",
    "script unseen in training",
    "far longer than the training texts",
    "aspect unseen in training",
)
_LANGUAGE = "language: "  # of the text, trained on others
_SCHEMA = 1
_MAX_WORDS, _MAX_ASPECTS = 50_000, 20_000  # that are kept, the most frequent first
_MIN_WORDS = 4  # of a text, to tell unknown words from a name
_UNKNOWN_SHARE = 0.5  # of the words, from which on they are most
_UNKNOWN_FACTOR = 3  # times the share that training texts lead to expect
_LONGER = 2  # times the longest training text
_FAMILIAR = 0.8  # share of known words from which on a text is in a language of the training texts
_MIN_LANGUAGE_WORDS = 2  # of a text, to tell its language
_SURER = 15  # times as likely as any language of the training texts
_LANGUAGE_SHARE = 0.2  # of the training texts, to count as one of their languages
_LANGUAGE_TEXTS = 200  # of the training texts, whose language is detected
_SCRIPT_SHARE = 0.01  # of the letters of the training texts, to count as seen


@dataclass(frozen=True)
class InputProfile:
    """The content of `inputs.json`; words and aspects in lower case."""

    words: tuple[str, ...]
    aspects: tuple[str, ...]  # empty: not known
    scripts: tuple[str, ...]  # as Unicode names them, such as LATIN
    longest: int  # words of the longest text
    unknown_share: float  # of words that a text like these may have
    languages: tuple[str, ...] = ()  # ISO 639 codes; empty in runs of earlier versions
    notes_aspects: bool = True  # False: the model knows aspects that it has not seen, so none is noted as new

    @classmethod
    def of(cls, examples: Sequence[Example]) -> InputProfile:
        """Describe training texts."""
        texts = {example.sentence_id + example.text: example for example in examples}.values()
        words = Counter(word for example in texts for word in _plain_words(example.text, example.spans))
        aspects = Counter(example.aspect_text.casefold() for example in examples)
        scripts = Counter(script for example in texts for script in map(_script, example.text) if script)
        distinct = dict.fromkeys(example.text for example in texts)
        languages = Counter(map(detect_language, islice(distinct, _LANGUAGE_TEXTS)))
        n_letters, n_words = max(scripts.total(), 1), max(words.total(), 1)
        return cls(
            words=tuple(word for word, _ in words.most_common(_MAX_WORDS)),
            aspects=tuple(aspect for aspect, _ in aspects.most_common(_MAX_ASPECTS)),
            scripts=tuple(sorted(name for name, count in scripts.items() if count >= _SCRIPT_SHARE * n_letters)),
            longest=max((len(example.spans) for example in texts), default=0),
            # Good and Turing's estimate: words seen once are as many as words still to come.
            unknown_share=sum(count == 1 for count in words.values()) / n_words,
            languages=tuple(
                sorted(
                    name for name, count in languages.items() if name and count >= _LANGUAGE_SHARE * languages.total()
                )
            ),
        )

    def after(self, start: InputProfile | None) -> InputProfile:
        """Return the profile of a model that learned from these texts and before, as `start` tells, from others."""
        if start is None:
            return self
        return replace(
            self,
            words=tuple(dict.fromkeys((*self.words, *start.words)))[:_MAX_WORDS],
            aspects=tuple(dict.fromkeys((*self.aspects, *start.aspects)))[:_MAX_ASPECTS],
            scripts=tuple(sorted({*self.scripts, *start.scripts})),
            longest=max(self.longest, start.longest),
            unknown_share=min(self.unknown_share, start.unknown_share),
            languages=tuple(sorted({*self.languages, *start.languages})),
        )

    def notes(self, text: str, spans: Sequence[Span], aspect: str) -> tuple[str, ...]:
        """Return what about a sentence and its aspect is unlike the training texts, each with its kind before the parenthesis.

        :param spans: of its words.
        """
        found = [*self.text_notes(text, spans)]
        if len(spans) > _LONGER * self.longest:
            found.append(f"{LONG_TEXT} ({len(spans)} words, the longest has {self.longest})")
        if self.notes_aspects and self.aspects and aspect.casefold() not in self._aspects:
            found.append(NEW_ASPECT)
        return tuple(found)

    def text_notes(self, text: str, spans: Sequence[Span] | None = None) -> tuple[str, ...]:
        """Return what about script and words of a text is unlike the training texts; it may have several sentences.

        :param spans: of its words, if they are known.
        """
        if script := _other_script(text, self.scripts):
            return (f"{OTHER_SCRIPT} ({script.capitalize()})",)
        n_known, n_words = self.count_known(text, spans)
        n_unknown, expected = n_words - n_known, max(_UNKNOWN_SHARE, _UNKNOWN_FACTOR * self.unknown_share)
        is_unlike = n_words >= _MIN_WORDS and n_unknown > expected * n_words
        return (f"{UNKNOWN_WORDS} ({n_unknown} of {n_words})",) if is_unlike else ()

    def language_notes(self, text: str, spans: Sequence[Span] | None = None) -> tuple[str, ...]:
        """Return that a whole review is in another language than the training texts, if it is.

        Texts whose words are known, which are most, do not need the detector, which takes a while to load.

        :param spans: of its words, if they are known.
        """
        n_known, n_words = self.count_known(text, spans)
        is_familiar = n_words < _MIN_LANGUAGE_WORDS or n_known >= _FAMILIAR * n_words
        if is_familiar or not self.languages or _other_script(text, self.scripts):
            return ()
        shares = language_shares(text)
        found = max(shares, key=shares.__getitem__)
        if shares[found] < _SURER * max(shares.get(name, 0.0) for name in self.languages):
            return ()
        return (f"{_LANGUAGE}{found}, trained on {' and '.join(self.languages)}",)

    def count_known(self, text: str, spans: Sequence[Span] | None = None) -> tuple[int, int]:
        """Return how many words of a text the training texts have, and how many words it has; numbers are no words."""
        words = _plain_words(text, tokenize(text) if spans is None else spans)
        return sum(map(self._known.__contains__, words)), len(words)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def _aspects(self) -> frozenset[str]:
        return frozenset(self.aspects)

    def save(self, folder: Path) -> None:
        """Write `inputs.json`."""
        write_json(folder / FILE, {"schema": _SCHEMA, **asdict(self)})

    @classmethod
    def load(cls, folder: Path) -> InputProfile | None:
        """Read `inputs.json`; None where there is none, as in runs of earlier versions."""
        parsers = parsers_of(cls, notes_aspects=truth)

        def parse(found: dict[str, Any]) -> InputProfile:
            return cls(**parse_fields({"languages": [], "notes_aspects": True, **found}, "", parsers))

        return read_schema(folder / FILE, _SCHEMA, parse)


def added_column(fields: Iterable[str], column: str = "notes") -> str:
    """Return the name of a column that is added to the rows of a table: another one if it has such a column of its own.

    A table that was scored before has the column of that scoring, which the new one replaces.
    """
    names = [name.lower() for name in fields]
    if column not in names or any(name.startswith(("probabilities", "probability_")) for name in names):
        return column
    return f"pssa_{column}"


def note_kind(note: str) -> str:
    """Return the kind of a note, without its numbers."""
    return note.partition(" (")[0]


def is_unfounded(kind: str) -> bool:
    """Whether notes of this kind say that the model does not know the language of a text, so that its label is a guess."""
    return kind in (OTHER_SCRIPT, UNKNOWN_WORDS) or kind.startswith(_LANGUAGE)


def detect_language(text: str) -> str:
    """Return the most likely language of a text as an ISO 639 code; nothing for a text without words."""
    shares = language_shares(text) if any(map(str.isalpha, text)) else {"": 1.0}
    return max(shares, key=shares.__getitem__)


def language_shares(text: str) -> dict[str, float]:
    """Return the probability of each language; they are rough for short texts."""
    return dict(_identifier().rank(text))


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _plain_words(text: str, spans: Sequence[Span]) -> list[str]:
    """Return the words that are letters alone, in lower case: numbers and names with signs are new in any text."""
    if text.isascii():  # in lower case of the same length
        text = text.lower()
        return [word for start, end in spans if (word := text[start:end]).isalpha()]
    return [word.lower() for start, end in spans if (word := text[start:end]).isalpha()]


def _other_script(text: str, known: Sequence[str]) -> str:
    """Return the script of most letters if it is not among the known ones, else nothing."""
    if text.isascii() and "LATIN" in known:
        return ""
    scripts = Counter(script for script in map(_script, text) if script)
    most = max(scripts, key=scripts.__getitem__, default="")
    return "" if most in known else most


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """Return the script of a letter, such as LATIN; nothing for what is not a letter."""
    return unicodedata.name(letter, "").partition(" ")[0] if letter.isalpha() else ""
