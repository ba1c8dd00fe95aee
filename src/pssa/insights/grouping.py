"""Grouping of aspects: which spellings mean the same thing, and why.

The rules, in order; each keeps a reason that a person can check in the file of groups:

1. the same words but for case, articles and singular or plural: `batteries` and `the battery`;
2. a rare word that no vector knows, one letter from a frequent one: `sevice` and `service`;
3. an aspect and a word for one of its properties: `battery life` and `quality of the food` are about battery and food. The words
   are a short list, and what has a vector close to one of them;
4. several words whose head noun is a frequent aspect: `thai food` is food, `chicken with rice` is chicken.

Two different words are never joined: vectors cannot tell what is alike (`waiter`, `waitress`) from what is only of one kind
(`lunch`, `dinner`). A file of groups, a CSV with `spelling` and `group`, overrides the rules.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pssa.data.english import singular
from pssa.data.files import read_bounded
from pssa.data.validation import format_error, join_names, shorten
from pssa.errors import InputError

Vectors = Callable[[str], npt.NDArray[np.float32] | None]  # of a word; None if it is unknown

_COLUMNS = ("spelling", "group", "mentions", "reason")
_MAX_BYTES = 1 << 26
_MAX_LENGTH = 100  # characters of a spelling
_ARTICLE_WORDS = """
a an the my your his her its our their this that these those some any
"""
_ARTICLES = frozenset(_ARTICLE_WORDS.split())
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_AFTER_HEAD = frozenset(
    ["with", "in", "on", "over", "at", "by", "for", "from", "to", "without", "served", "per"]
)  # the head noun comes before
_LISTS = frozenset(("and", "or", "&", "+"))  # several things, which belong to no group
# What a customer may say of a thing rather than a thing of its own.
_PROPERTY_WORDS = """
life lifespan time size quality amount quantity list range selection choice variety option tag level item member
capacity performance speed category description duration period condition value assortment portion
"""
_PROPERTIES = frozenset(_PROPERTY_WORDS.split())
_CLOSE = 0.7  # least cosine with one of them
_LEAST_LETTERS = 6  # of a word that may be misspelled
_MISSPELLED_SHARE = 0.1  # at most so often as the right word


@dataclass(frozen=True, slots=True)
class Assignment:
    """The group of a spelling, and why."""

    group: str  # its name; empty: left out by the user
    reason: str


@dataclass(frozen=True)
class Groups:
    """Spellings by their normalised form, and the groups that they belong to."""

    counts: Mapping[str, int]  # of each spelling, normalised
    by_spelling: Mapping[str, Assignment]

    def of(self, aspect: str) -> str:
        """Return the name of an aspect's group; an aspect that was not counted is one of its own."""
        key = normalize(aspect)
        found = self.by_spelling.get(key)
        return key if found is None else found.group

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """The spellings of each group, the most frequent first."""
        members: dict[str, list[str]] = defaultdict(list)
        for spelling in sorted(self.by_spelling, key=lambda one: (-self.counts.get(one, 0), one)):
            members[self.by_spelling[spelling].group].append(spelling)
        return dict(members)

    @cached_property
    def totals(self) -> Counter[str]:
        """How often the aspects of each group were counted."""
        totals: Counter[str] = Counter()
        for spelling, found in self.by_spelling.items():
            totals[found.group] += self.counts.get(spelling, 0)
        return totals

    def table(self) -> Iterator[Sequence[Any]]:
        """Yield the lines of the file of groups: its header, and the largest group first."""
        yield _COLUMNS
        for group in sorted(self.members, key=lambda name: (-self.totals[name], name)):
            for spelling in self.members[group]:
                yield spelling, group, self.counts.get(spelling, 0), self.by_spelling[spelling].reason


def read_groups(path: Path) -> dict[str, str]:
    """Return the group of each normalised spelling in a file of groups; an empty group leaves the spelling out.

    :raises InputError: if the file is no such table, or gives a spelling two groups.
    """
    try:
        text = read_bounded(path, _MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise InputError.at(path, None, f"the groups cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError.at(path, None, f"is not UTF-8 ({format_error(error)}); save it as CSV in UTF-8") from error
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    groups: dict[str, str] = {}
    try:
        header = [name.strip().lower() for name in reader.fieldnames or ()]
        if not {"spelling", "group"} <= {*header}:
            found = join_names(header) if header else "none"
            raise InputError.at(path, 1, f"needs the columns spelling and group; found {found}")
        reader.fieldnames = header
        for row in reader:
            spelling, group = normalize(row["spelling"] or ""), " ".join((row["group"] or "").split())
            if groups.setdefault(spelling, group) != group:
                two = f"{shorten(spelling)} is in the groups {shorten(groups[spelling])} and {shorten(group)}"
                raise InputError.at(path, reader.line_num, f"{two}; give it one")
    except csv.Error as error:  # such as a field without end
        what = f"is not valid CSV ({error}); close the quotes and save it again"
        raise InputError.at(path, reader.line_num + 1, what) from error
    groups.pop("", None)
    return groups


@lru_cache(maxsize=1 << 14)
def normalize(aspect: str) -> str:
    """Return a spelling in lower case, without articles before it, marks around it and doubled space.

    It is empty if nothing is left, as of an aspect that has neither a letter nor a digit.
    """
    words = unicodedata.normalize("NFKC", aspect[:_MAX_LENGTH]).casefold().split()
    words = [stripped for word in words if (stripped := _EDGES.sub("", word))]
    while len(words) > 1 and words[0] in _ARTICLES:
        del words[0]
    return " ".join(words)


@dataclass
class _KeyJoiner:
    """Joins keys to groups; a key is the singular words of a spelling."""

    counts: Counter[str]
    vectors: Vectors | None
    fixed: frozenset[str]  # keys that the user has given a group
    parents: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def root(self, key: str) -> str:
        """Return the key that stands for the whole group."""
        while key in self.parents:
            key = self.parents[key]
        return key

    def join(self, key: str, other: str, reason: str) -> None:
        """Make `key` a part of the group of `other`."""
        if self.root(other) != key and key not in self.fixed:
            self.parents[key], self.reasons[key] = self.root(other), reason

    def join_misspelled(self) -> None:
        """Rule 2, for single words."""
        if self.vectors is None:
            return
        known = [key for key in self.counts if " " not in key and len(key) >= _LEAST_LETTERS - 1]
        by_deletion: dict[str, list[str]] = defaultdict(list)
        for key in sorted(known, key=lambda one: (-self.counts[one], one)):
            if self.vectors(key) is not None:
                for variant in _deletions(key):
                    by_deletion[variant].append(key)
        for key in known:
            if len(key) < _LEAST_LETTERS or self.vectors(key) is not None:
                continue
            near = {other for variant in _deletions(key) for other in by_deletion.get(variant, ())}
            right = [other for other in near if self.counts[key] <= _MISSPELLED_SHARE * self.counts[other]]
            if right and key[0] in {other[0] for other in right}:
                best = min(right, key=lambda other: (other[0] != key[0], -self.counts[other], other))
                self.join(key, best, f"one letter from {best}")

    def join_phrases(self) -> None:
        """Rules 3 and 4, from the shortest phrase to the longest."""
        phrases = [key for key in self.counts if " " in key and not _LISTS & {*key.split()}]
        phrases.sort(key=lambda key: (key.count(" "), key))
        for key in phrases:
            thing = self._thing(key)
            if thing != key and self.counts[thing]:
                self.join(key, thing, f"about {thing}")
                continue
            words = thing.split()
            heads = (" ".join(words[start:]) for start in range(1, len(words)))
            head = next((one for one in heads if self.counts[one] >= self.counts[key]), None)
            if head is not None:
                self.join(key, head, f"a kind of {head}")

    def _thing(self, key: str) -> str:
        """Return a phrase without what follows its head noun, and without words for a property."""
        words = key.split()
        end = next((place for place, word in enumerate(words) if place and word in _AFTER_HEAD), len(words))
        words = words[:end]
        if "of" in words[1:-1]:
            words = words[len(words) - words[::-1].index("of") :]
        words = [word for word in words if word not in _ARTICLES] or words
        while len(words) > 1 and self._is_property(words[-1]):
            del words[-1]
        return " ".join(words)

    def _is_property(self, word: str) -> bool:
        if word in _PROPERTIES:
            return True
        vector = self.vectors(word) if self.vectors is not None else None
        return vector is not None and float((self._properties @ _unit(vector)).max(initial=0.0)) >= _CLOSE

    @cached_property
    def _properties(self) -> npt.NDArray[np.float32]:
        """(n, D) vectors of the words for properties."""
        assert self.vectors is not None
        found = [vector for word in sorted(_PROPERTIES) if (vector := self.vectors(word)) is not None]
        return np.stack([_unit(vector) for vector in found]) if found else np.zeros((0, 1), dtype=np.float32)


def group(counts: Mapping[str, int], vectors: Vectors | None = None, given: Mapping[str, str] | None = None) -> Groups:
    """Group normalised spellings; the result depends on the counts alone, not on their order.

    :param counts: how often each spelling occurs.
    :param vectors: of words; without them rule 2 is left out, and rule 3 knows its list alone.
    :param given: groups by spelling, which override the rules.
    """
    given = given or {}
    keys = {spelling: " ".join(map(singular, spelling.split())) for spelling in counts}
    totals: Counter[str] = Counter()
    for spelling, count in sorted(counts.items()):
        totals[keys[spelling]] += count
    fixed = frozenset(keys[spelling] for spelling in given if spelling in keys)
    joiner = _KeyJoiner(totals, vectors, fixed)
    joiner.join_misspelled()
    joiner.join_phrases()
    names: dict[str, str] = {}  # of each group: the most frequent spelling of the key that stands for it
    for spelling in sorted(counts, key=lambda one: (-counts[one], one)):
        if joiner.root(keys[spelling]) == keys[spelling]:
            names.setdefault(keys[spelling], spelling)
    assignments = {}
    for spelling, key in keys.items():
        if spelling in given:
            assignments[spelling] = Assignment(given[spelling], "your file")
            continue
        name = names[joiner.root(key)]
        reason = joiner.reasons.get(key, "" if spelling == name else "same words")
        assignments[spelling] = Assignment(given.get(name, name), reason)
    return Groups(counts, assignments)


def _deletions(word: str) -> Iterable[str]:
    yield word
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]


def _unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    unit: npt.NDArray[np.float32] = vector / length if length else vector
    return unit
