"""The paper's two tables of mining: one training sentence, round by round, by attention weights and by partial gradients.

Each round hides the words found so far and takes the word with the highest score, if the entropy of the scores is below the
threshold. The entropy of n scores is at most log2(n) bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from paper.experiments.cells import Analysis, settings
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import SWEEP, Exhibit, Part, Table, TableRow
from paper.studies.exhibits._rows import ATTENDING, METHODS, NAMES
from paper.studies.paper import MINED_WORDS

__all__ = ["EXHIBIT"]

_DATA, _LINE, _BEGINS = "laptop", 1095, ("the", "screen", "is", "huge")
_METHODS = {"aw-as": ("+AW-AS", "attention weights"), "pg-as": ("+PG-AS", "partial gradients")}
_ROUNDS = range(1, 6)
_PAPER = "paper, BERT-large"
_PAPER_CANDIDATES = 11  # pieces of words besides the aspect
_PAPER_WORDS = ("the", "[screen]", "is", "huge", "and", "colorful", "but", "no", "led", "back", "##light", "##ing")
_COLUMNS = ("model", "round", "sentence", "predicted", "entropy", "at most", "word", "kind")
_NOTES = (
    "LAPTOP, train line 1095, gold: positive; seed 0. The aspect stands in brackets, `_` for a word that earlier rounds found. "
    "`entropy`: of the scores, in bits; `at most`: that of even scores over the words that are left. Without a word, the entropy "
    "was not below the threshold; evidence does not keep it, nor the prediction of that round. `kind`: active if the prediction "
    "is right.",
    "The paper prints entropies above what its own words allow, so its two tables illustrate the procedure; they cannot be "
    "measurements.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return a table for each saliency, the paper's rounds last."""
    return [_table(scope, lookup, method) for method in _METHODS]


def _analyses(scope: Scope, method: str) -> dict[str, Analysis]:
    row, chosen = METHODS[_METHODS[method][0]], settings(lines=(_LINE,))
    places = ((model, place) for model in ATTENDING for place in scope.places(model, _DATA, 1))
    return {model: Analysis(row.training_in(place), "mined_words", chosen) for model, place in places}


def _table(scope: Scope, lookup: RecordLookup, method: str) -> Table:
    rows: list[TableRow] = []
    for model, analysis in _analyses(scope, method).items():
        record = lookup(analysis)
        every = record["found"] if record else []
        found = next((each for each in every if tuple(each["words"][: len(_BEGINS)]) == _BEGINS), None)
        rows += _rounds(NAMES[model], found) if found else []
    title = f"One sentence, mined by {_METHODS[method][1]}"
    return Table(f"mining-{method}", title, _COLUMNS, (*rows, *_printed(method)), _NOTES)


def _rounds(name: str, found: Record) -> Iterator[TableRow]:
    by_round = {each["iteration"]: each for each in found["findings"]}
    first, last = found["aspect"]
    left = len(found["words"]) - (last - first)
    hidden: list[int] = []
    for number in _ROUNDS:
        head = (name, number, _sentence(found["words"], (first, last), hidden))
        finding = by_round.get(number)
        if finding is None:
            yield (*head, None, None, _most(left - len(hidden)), None, None)
            continue
        word = found["words"][finding["word"]]
        entropy = round(finding["entropy"], 2)
        yield (*head, finding["predicted"], entropy, _most(left - len(hidden)), word, finding["kind"])
        hidden.append(finding["word"])


def _printed(method: str) -> Iterator[TableRow]:
    """Yield the rounds that the paper prints."""
    hidden: list[int] = []
    for number, (word, entropy, predicted) in enumerate(MINED_WORDS[method], start=1):
        sentence = _sentence(_PAPER_WORDS, (0, 0), hidden)
        kind = ("active" if predicted == "positive" else "misleading") if word else None
        most = _most(_PAPER_CANDIDATES - len(hidden))
        yield (_PAPER, number, sentence, predicted, entropy, most, word or None, kind)
        hidden += [_PAPER_WORDS.index(word)] if word else []


def _sentence(words: Sequence[str], aspect: tuple[int, int], hidden: Sequence[int]) -> str:
    shown = ["_" if place in hidden else word for place, word in enumerate(words)]
    first, last = aspect
    if first < last:
        shown[first] = f"[{shown[first]}"
        shown[last - 1] += "]"
    return " ".join(shown)


def _most(number: int) -> float:
    return round(math.log2(number), 2)


EXHIBIT = Exhibit("mining", "Mining one sentence, round by round", show, needs=(_DATA,), encoders=SWEEP)
