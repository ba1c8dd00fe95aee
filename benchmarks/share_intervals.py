"""Do the intervals of `pssa insights` contain the true shares? Labelled data tells: gold labels and answers by aspect.

    python benchmarks/share_intervals.py RUN TEST [HELD_OUT]

Error rates come from HELD_OUT or, without it, from one half of TEST, by sentence, and aspects from the other (20 random halves).
Printed is how often an interval contains the gold share of the same mentions: an aspect of ten mentions or more and a label each.
Those mentions are all there are, so intervals of the sample alone would be right always if the classifier made no mistakes.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

import pssa
from pssa.data import Corpus
from pssa.evaluation import score
from pssa.evaluation.shares import ShareEstimator, wilson
from pssa.insights.grouping import group, normalize
from pssa.runs import Classifier
from pssa.runs.run_names import resolve_run

Confusion = tuple[tuple[int, ...], ...]

_LEAST = 10  # mentions of an aspect
_HALVES = 20


def main(words: Sequence[str]) -> int:
    """Measure, and print a line for each kind of interval."""
    run, test_file, *held_out_file = words
    classifier = pssa.load(resolve_run(run))
    test = pssa.read(test_file, labels=classifier.labels)
    answers = classifier.torch.predicted_labels(test)
    inside: dict[str, list[bool]] = defaultdict(list)
    widths: dict[str, list[float]] = defaultdict(list)
    for held_out, rows in _divisions(test, answers, classifier, held_out_file):
        estimator = ShareEstimator(held_out)
        for gold, counts in _aspects(test, answers, rows, classifier.labels):
            for place, one in enumerate(estimator.estimate(counts)):
                share = gold[place] / sum(gold)
                _, low, high = wilson(counts[place], sum(counts))
                for name, ends in (("sample alone", (low, high)), ("ours", (one.low, one.high))):
                    inside[name].append(ends[0] <= share <= ends[1])
                    widths[name].append(ends[1] - ends[0])
                inside["counted within 5 points"].append(abs(one.counted - share) <= 0.05)
                inside["corrected within 5 points"].append(abs(one.corrected - share) <= 0.05)
    for name, found in inside.items():
        width = f", mean width {100 * np.mean(widths[name]):.0f} points" if name in widths else ""
        print(f"{name}: {100 * np.mean(found):.1f} % of {len(found)}{width}")
    return 0


def _divisions(
    test: Corpus, answers: Sequence[str], classifier: Classifier, held_out_file: Sequence[str]
) -> Iterator[tuple[Confusion, Sequence[int]]]:
    """Yield confusion matrices and the rows of `test` to estimate shares of."""
    if held_out_file:
        held_out = pssa.read(held_out_file[0], labels=classifier.labels)
        gold = [example.label or "" for example in held_out]
        yield score(gold, classifier.torch.predicted_labels(held_out), classifier.labels).confusion, range(len(test))
        return
    sentences = sorted({example.text for example in test})
    for seed in range(_HALVES):
        drawn = np.random.default_rng(seed).permutation(len(sentences))[: len(sentences) // 2]
        first = {sentences[place] for place in drawn}
        known = [row for row, example in enumerate(test) if example.text in first]
        gold = [test[row].label or "" for row in known]
        rest = [row for row, example in enumerate(test) if example.text not in first]
        yield score(gold, [answers[row] for row in known], classifier.labels).confusion, rest


def _aspects(
    test: Corpus, answers: Sequence[str], rows: Sequence[int], labels: Sequence[str]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield counts of gold labels and of answers for each frequent aspect."""
    groups = group(Counter(normalize(test[row].aspect_text) for row in rows))
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        found[groups.of(test[row].aspect_text)].append((test[row].label or "", answers[row]))
    for pairs in found.values():
        if len(pairs) >= _LEAST:
            gold, counts = ([sum(pair[side] == label for pair in pairs) for label in labels] for side in (0, 1))
            yield gold, counts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
