"""The model card of the starter."""

from __future__ import annotations

from pathlib import Path

from pssa.aspects.find import FOLDER
from pssa.data.files import write_atomically
from pssa.data.numbers import percent
from pssa.runs.directory import read_json, write_json
from pssa.runs.settings import Config
from starter.measure import Measured

__all__ = ["keep_error_rates", "write_starter_card"]

_HELD_OUT = "MAMS val"

_CARD = """---
library_name: pssa
license: apache-2.0
language: en
tags: [aspect-based-sentiment-analysis, aspect-term-extraction]
---
# The starter

A small run that comes with `pssa`, so that you can try it before you train anything. It finds the aspects of English reviews and
classifies the sentiment about each of them as positive, negative or neutral.

```python
import pssa

classifier = pssa.load("starter")
classifier.predict("The screen is great but the battery is weak.", "battery").label
```

| | |
|---|---|
| classifier | TNet-ATT, {classifier[parameters]:,} trained parameters, method `{method}` |
| tagger | Bi-LSTM on words and characters, {tagger[parameters]:,} trained parameters |
| training data | MAMS train without {n_left_out} sentences of REST test, and the embedded corpus |
| its size | {classifier[instances]:,} instances; {tagger[sentences]:,} sentences, {tagger[empty]:,} of them without aspects |
| word vectors | {n_words:,} rows of GloVe, not trained; half precision |
| seed | {seed} |

## Scores

Measured on these very files.

| | accuracy | macro-F1 | aspects found, F1 of exact spans |
|---|---|---|---|
{scores}

MAMS val is of the same source as the training data. REST and LAPTOP (SemEval-2014) are not: they show what to expect of other
restaurants and of another domain.

{selection}

## Limits

- It knows restaurants best, laptops a little, and other domains by the meaning of their words only. Train your own run for those.
- English only. Words without a vector are unknown to the classifier.
- It finds aspects that are named, not those that are only implied.
- {calibration}

## Sources

- MAMS (Jiang et al., *A Challenge Dataset and Effective Models for Aspect-Based Sentiment Analysis*, EMNLP 2019;
  <https://github.com/siat-nlp/MAMS-for-ABSA>), Apache License 2.0. No sentence of it is in this folder.
- GloVe (Pennington et al. 2014, <https://nlp.stanford.edu/projects/glove/>), Public Domain Dedication and License. The
  rows are of GloVe 840B 300d or, where that was not available, mapped into its space from smaller GloVe files.
- The embedded corpus of `pssa`, Apache License 2.0.

`scripts/build_starter.py` in the source repository builds this folder.
"""
_CALIBRATED = (
    "Its probabilities are calibrated on MAMS val: expected calibration error {before} before, {after} after. On other data\n"
    "  they promise more than they keep."
)


def write_starter_card(root: Path, measured: Measured, n_left_out: int, selection: str) -> None:
    """Write the card of the finished starter, and leave the card of its tagger to refer to it."""
    config, vocabulary = Config.from_toml(root / "config.toml"), read_json(root / "vocabulary.json")
    names = dict.fromkeys((*measured.labels, *measured.spans))
    card = _CARD.format(
        classifier=read_json(root / "metrics.json"),
        tagger=read_json(root / FOLDER / "metrics.json"),
        method=config.method,
        seed=config.seed,
        n_words=len(vocabulary["words"]),
        n_left_out=n_left_out,
        scores="\n".join(_row(name, measured) for name in names),
        selection=selection,
        calibration=_calibration(root),
    )
    write_atomically(root / "README.md", card.encode())


def _calibration(root: Path) -> str:
    found = read_json(root / "calibration.json")
    return _CALIBRATED.format(before=percent(found["error_before"]), after=percent(found["error_after"]))


def keep_error_rates(root: Path, measured: Measured) -> None:
    """Put the confusions of MAMS val into `metrics.json`, from which `pssa insights` knows how often the starter errs."""
    scores = measured.labels[_HELD_OUT]
    rates = {
        "labels": list(scores.labels),
        "confusion": [list(row) for row in scores.confusion],
        "instances": scores.instances,
        "source": _HELD_OUT,
    }
    write_json(root / "metrics.json", read_json(root / "metrics.json") | {"held_out": rates})


def _row(name: str, measured: Measured) -> str:
    labels, spans = measured.labels.get(name), measured.spans.get(name)
    both = (labels.accuracy, labels.macro_f1) if labels else (None, None)
    cells = (*both, spans.f1 if spans else None)
    return f"| {name} | {' | '.join('' if cell is None else f'{100 * cell:.1f}' for cell in cells)} |"
