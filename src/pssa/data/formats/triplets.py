"""Triplets and quadruples: a text, `####`, and a list of its opinions, as in ASTE, ASQP, DMASTE and ROAST.

    The screen is great####[([1], [3], 'POS')]
    The battery life is not great####[([1, 2], [4, 5], 'NEG'), ([-1], [5], 'NEG')]####Electronics
    The screen is great####[['screen', 'display quality', 'positive', 'great']]

A triplet is (aspect, opinion, label), a quadruple (aspect, category, label, opinion), with round or square brackets. Aspect and
opinion are numbers of tokens separated by white space (`[4]` one, `[4, 8]` and `[4, 5, 6, 7, 8]` from the first to the last) or
texts. `[-1]` or `NULL` is an aspect that the text implies, or an opinion without words of its own. What follows the list is a
tag, such as the domain.

- A text names no place: of several the aspect and the opinion nearest to each other are taken. An aspect that is not in the text
  is dropped and counted; without its opinion it is kept, and the opinion is counted.
- Opinions about the same place are one instance; with different labels its label is `conflict`.
- Opinions about implied aspects are dropped and counted. `pssa.data.reviews.read_reviews` keeps them, and the opinions' words.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pssa.data.evidence import Evidence
from pssa.data.example import Example
from pssa.data.fields import find_occurrences, tags_as_text
from pssa.data.formats import Format, scan_lines
from pssa.data.labels import CONFLICT
from pssa.data.reviews import Opinion, Review
from pssa.data.rows import SAME_NAMES, Columns, Dropped, Event, Problem, Row
from pssa.data.text_file import MAX_TEXT, InputFile
from pssa.data.tokenize import Span, split_on_space
from pssa.data.validation import format_error, is_integer, shorten
from pssa.errors import InputError

_MARK = "####"
_LABELS = {"POS": "positive", "NEG": "negative", "NEU": "neutral"}
_SHORT_LABELS = {label: short for short, label in _LABELS.items()}
_NOT_JSON = re.compile(r"""[()]|,(?=\s*[])])|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+\x27""")
_MAX_OPINIONS = 1000  # of a text
_MAX_LIST = 1 << 20  # characters
_EXPECTED = (
    f"expected a text, {_MARK} and a list such as [([1], [3], 'POS')] or [['screen', 'category', 'positive', 'great']]"
)


def likelihood(lines: Sequence[str]) -> float:
    """Nearly certain if every line has the mark and a list after it."""
    return 0.9 * all(re.search(rf"{_MARK}\s*\[", line) is not None for line in lines)


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each place that is an aspect; its line is that of the text."""
    for found in scan_reviews(file):
        if not isinstance(found, Review):
            yield found
            continue
        if not found.opinions:
            yield Dropped(found.line, "no_aspect", found.text)
        for opinion in found.opinions:
            if opinion.aspect is None:
                yield Dropped(found.line, "implied_aspect", found.text)
        common = {"text": found.text, "tags": found.tag or None, "words": found.words or None}
        for number, ((start, end), label) in enumerate(found.aspects.items()):
            place = {"from": start, "to": end, "label": label or CONFLICT, "id": f"{found.line}:{number}"}
            yield Row(found.line, common | place)


def scan_reviews(file: InputFile) -> Iterator[Review | Dropped | Problem]:
    """Yield the review of each line that is not blank, after what is wrong with its opinions."""
    for found in scan_lines(file, _parse):
        yield from (found,) if isinstance(found, Problem) else found


def encode(examples: Sequence[Example], evidence: Evidence | None = None) -> bytes:
    """Return a line for each text; the active words of an example are its opinion, `[-1]` if it has none."""
    opinions: Sequence[Sequence[int]] = [()] * len(examples)
    if evidence is not None:
        opinions = [[finding.word for finding in each.active] for each in evidence.examples]
    lines: dict[tuple[Any, ...], list[str]] = {}
    uses: Counter[tuple[Any, ...]] = Counter()
    for example, opinion in zip(examples, opinions, strict=True):
        text, triplets = _triplets(example, opinion)
        key = (example.sentence_id, text, example.tags)
        # An aspect that comes again has a line of its own: on the same line the two would be one.
        uses[key, example.aspect] += 1
        lines.setdefault((*key, uses[key, example.aspect]), []).extend(triplets)
    return "".join(
        f"{text}{_MARK}[{', '.join(triplets)}]{_MARK if tags else ''}{tags_as_text(tags) or ''}\n"
        for (_, text, tags, _), triplets in lines.items()
    ).encode()


def _triplets(example: Example, opinion: Iterable[int]) -> tuple[str, list[str]]:
    """Return the text of an example, with one space between its words, and a triplet for each run of opinion words."""
    if example.label is None or not example.label.strip():
        raise InputError(f"example {example.id!r} has no label; this format needs one")
    text = " ".join(example.words)
    if text.split() != list(example.words) or _MARK in text or (example.tags and tags_as_text(example.tags) is None):
        what = f"a word with white space, {_MARK} in the text, or | in a tag"
        raise InputError(f"example {example.id!r} has {what}, which this format cannot hold; use one such as .jsonl")
    aspect, label = list(range(*example.aspect)), repr(_SHORT_LABELS.get(example.label, example.label))
    runs: list[list[int]] = []
    for word in sorted(opinion):
        if runs and runs[-1][-1] == word - 1:
            runs[-1].append(word)
        else:
            runs.append([word])
    return text, [f"({aspect}, {run}, {label})" for run in runs or [[-1]]]


def _parse(line: int, content: str) -> Sequence[Review | Dropped | Problem]:
    """Return the review of a line, after what is wrong with its opinions."""
    parts = [part.strip() for part in content.split(_MARK)]
    if len(parts) < 2 or not any(part.startswith("[") for part in parts[1:3]) or len(parts) > 3:
        raise InputError(f"is no text with opinions; {_EXPECTED}")
    text, listed, tag = (*parts, "")[:3]
    if not text:
        raise InputError("has no text; expected it before the opinions")
    if len(text) > MAX_TEXT:
        raise InputError(f"has {len(text)} characters; expected a text of at most {MAX_TEXT}")
    given = _parse_list(listed)
    if len(given) > _MAX_OPINIONS:
        raise InputError(f"has {len(given)} opinions; expected at most {_MAX_OPINIONS}")
    tokens, has_numbers = split_on_space(text), False
    opinions: list[Opinion] = []
    events: list[Review | Dropped | Problem] = []
    for each in given:
        try:
            aspect, opinion, label = _fields(each)
            if isinstance(aspect, str):
                found, lost = _align(text, aspect, opinion, label)
            else:
                has_numbers, lost = True, ""
                found = Opinion(label, next(iter(_places(aspect, tokens)), None), _places(opinion, tokens))
        except InputError as error:
            events.append(Problem(line, error.message, given=shorten(each)))
            continue
        if lost:
            events.append(Dropped(line, lost))
        if found is not None:
            opinions.append(found)
    return (*events, Review(text, tuple(opinions), line, tag, tokens if has_numbers else ()))


def _parse_list(content: str) -> list[Any]:
    """Return the list that Python would print like this: of lists and tuples of numbers and texts."""
    if len(content) > _MAX_LIST:
        raise InputError(f"has a list of {len(content)} characters; expected at most {_MAX_LIST}")
    try:
        found = json.loads(_NOT_JSON.sub(_as_json, content))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InputError(f"has a list that cannot be read ({format_error(error)}); {_EXPECTED}") from None
    if not isinstance(found, list):
        raise InputError(f"has {shorten(found)} in place of a list; {_EXPECTED}")
    return found


def _as_json(part: re.Match[str]) -> str:
    """Return a text in Python's quotes, a parenthesis or the comma before one as JSON writes it."""
    found = part.group()
    if found == ",":
        return ""
    if found in "()":
        return "[" if found == "(" else "]"
    if "\\" not in found:
        return json.dumps(found[1:-1])
    with warnings.catch_warnings(action="ignore"):  # about an escape that Python does not know
        return json.dumps(ast.literal_eval(found))


def _fields(given: Any) -> tuple[Any, Any, str]:
    """Return the aspect and the opinion, both texts or both lists of numbers, and the label."""
    if not isinstance(given, list) or len(given) not in (3, 4):
        raise InputError(f"has the opinion {shorten(given)}; {_EXPECTED}")
    aspect, opinion, label = given if len(given) == 3 else (given[0], given[3], given[2])
    are_texts = isinstance(aspect, str) and isinstance(opinion, str)
    are_numbers = all(isinstance(each, list) and each and all(map(is_integer, each)) for each in (aspect, opinion))
    if not (are_texts or are_numbers) or not isinstance(label, str) or not label.strip():
        raise InputError(f"has the opinion {shorten(given)}; {_EXPECTED}")
    return aspect, opinion, _LABELS.get(label.upper(), label)


def _places(numbers: Sequence[int], tokens: Sequence[Span]) -> tuple[Span, ...]:
    """Return the runs of tokens that these numbers name; none for [-1]."""
    if list(numbers) == [-1]:
        return ()
    if list(numbers) != sorted(numbers) or not 0 <= numbers[0] <= numbers[-1] < len(tokens):
        what = f"has the tokens {shorten(list(numbers))}"
        raise InputError(f"{what}; expected numbers from 0 to {len(tokens) - 1}, in order, or [-1]")
    if len(numbers) == 2:  # the first and the last
        return ((tokens[numbers[0]][0], tokens[numbers[1]][1]),)
    breaks = [place for place in range(1, len(numbers)) if numbers[place] > numbers[place - 1] + 1]
    bounds = zip([0, *breaks], [*breaks, len(numbers)], strict=True)
    return tuple((tokens[numbers[first]][0], tokens[numbers[end - 1]][1]) for first, end in bounds)


def _align(text: str, aspect: str, opinion: str, label: str) -> tuple[Opinion | None, str]:
    """Return the opinion at its place, None if its aspect is not in the text; and why a part was dropped, if it was."""
    try:
        words = () if _is_null(opinion) else find_occurrences(text, opinion)
        lost = ""
    except InputError:
        words, lost = (), "opinion_not_in_text"
    if _is_null(aspect):
        return Opinion(label, None, words[:1]), lost
    try:
        aspects = find_occurrences(text, aspect)
    except InputError:
        return None, "aspect_not_in_text"
    if not words:
        return Opinion(label, aspects[0]), lost
    starts = [start for start, _ in words]
    pairs = (
        (max(0, other[0] - place[1], place[0] - other[1]), place, other)
        for place in aspects
        for after in [bisect_left(starts, place[0])]
        for other in words[max(0, after - 1) : after + 1]
    )
    _, nearest, place_of_words = min(pairs)
    return Opinion(label, nearest, (place_of_words,)), lost


def _is_null(value: str) -> bool:
    return value.strip().casefold() in ("", "null")


FORMAT = Format(
    scan=scan,
    encode=encode,
    holds_evidence=True,
    scan_reviews=scan_reviews,
    lists_all_aspects=True,
    short_names=("quadruples", "aste", "asqp"),
    likelihood=likelihood,
)
