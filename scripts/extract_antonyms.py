"""Extract the antonyms that `pssa stress` ships from WordNet 3.0's files `index.*` and `data.*`.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet
    python scripts/extract_antonyms.py wordnet/usr/share/wordnet > src/pssa/stress/words/wordnet_antonyms.tsv

Only adjectives and adverbs of one word in lower-case letters, and only their most frequent sense: the antonym of a rare sense
reads odd. Only pairs such as `steady`, `unsteady` and `flavorful`, `flavorless`, of which one negates the other by its form:
those of other forms (`genuine`, `counterfeit`) often belong to another use of the word. No participles, which are often verbs.
One of the two words must occur in WordNet's tagged texts, which leaves out terms of science. Princeton's licence lies beside
the list.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

_PARTS = ("adj", "adv")
_WORD = re.compile(r"[a-z]{3,}")
_ANTONYM = "!"
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
_PARTICIPLES = ("ed", "ing")


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description="Extract antonyms of adjectives and adverbs from WordNet.")
    parser.add_argument("folder", type=Path, help="folder with index.adj and data.adj")
    folder = parser.parse_args().folder
    found: dict[str, str] = {}
    for part in _PARTS:
        found = dict(antonyms(folder, part)) | found
    common = {word for part in _PARTS for word in tagged_words(folder, part)}
    for word, antonym in sorted(found.items()):
        if (word in common or antonym in common) and negates(word, antonym):
            print(f"{word}\t{antonym}")


def antonyms(folder: Path, part: str) -> Iterator[tuple[str, str]]:
    """Yield each word with the direct antonym of its first sense."""
    synsets = dict(_synsets(folder / f"data.{part}"))
    for line in _lines(folder / f"index.{part}"):
        # lemma pos synset_cnt p_cnt [ptr_symbol...] sense_cnt tagsense_cnt synset_offset [synset_offset...]
        fields = line.split()
        word, n_senses = fields[0], int(fields[2])
        members, pointers = synsets[fields[-n_senses]]
        if not _WORD.fullmatch(word) or word not in members:
            continue
        own = [synsets[offset][0][there - 1] for here, offset, there in pointers if here == members.index(word) + 1]
        usable = [antonym for antonym in own if _WORD.fullmatch(antonym)]
        if usable:
            yield word, usable[0]


def negates(word: str, antonym: str) -> bool:
    """Return whether one of the two is the other with a negating prefix or suffix, and neither is a participle."""
    if word.endswith(_PARTICIPLES):
        return False
    for one, other in ((word, antonym), (antonym, word)):
        if other in [prefix + one for prefix in _PREFIXES]:
            return True
        if one.endswith("ful") and other == one.removesuffix("ful") + "less":
            return True
    return False


def tagged_words(folder: Path, part: str) -> Iterator[str]:
    """Yield the words that occur in WordNet's tagged texts."""
    for line in _lines(folder / f"index.{part}"):
        fields = line.split()
        n_senses = int(fields[2])
        if int(fields[-n_senses - 1]):  # tagsense_cnt
            yield fields[0]


_Synset = tuple[list[str], list[tuple[int, str, int]]]  # words; antonym pointers: word, other synset, its word, from 1


def _synsets(path: Path) -> Iterator[tuple[str, _Synset]]:
    for line in _lines(path):
        # offset lex_filenum ss_type w_cnt word lex_id [word lex_id...] p_cnt [symbol offset pos source/target...] | gloss
        fields = line.partition("|")[0].split()
        n_words = int(fields[3], 16)
        words = [re.sub(r"\(\w+\)$", "", word) for word in fields[4 : 4 + 2 * n_words : 2]]
        rest = fields[5 + 2 * n_words :]
        pointers = [
            (int(ends[:2], 16), offset, int(ends[2:], 16))
            for symbol, offset, _, ends in zip(*(iter(rest[: len(rest) // 4 * 4]),) * 4, strict=True)
            if symbol == _ANTONYM
        ]
        yield fields[0], (words, pointers)


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines after the licence, whose lines begin with blanks."""
    with path.open(encoding="utf-8") as handle:
        yield from (line for line in handle if not line.startswith(" "))


if __name__ == "__main__":
    main()
