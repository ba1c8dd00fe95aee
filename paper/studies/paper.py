"""The paper's numbers, as it prints them (`paper.toml`), to show beside ours. Scores are pairs of accuracy and macro-F1."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

Scores = tuple[float, float]  # accuracy, macro-F1
PaperRow = tuple[str, str, str]  # model, method, data set

_DATA = ("laptop", "rest", "twitter")
_PAPER: dict[str, Any] = tomllib.loads(Path(__file__).with_name("paper.toml").read_text("utf-8"))


def _lines(name: str) -> list[tuple[str, str, list[float]]]:
    """Return a block of the file: two names a line, a dash for an empty one, and numbers."""
    rows = (line.split() for line in _PAPER[name].strip().splitlines())
    return [(first, "" if second == "-" else second, list(map(float, numbers))) for first, second, *numbers in rows]


def _scores(name: str) -> dict[PaperRow, Scores]:
    """Return scores by row; the paper prints macro-F1 before accuracy."""
    return {
        (model, method, data): (numbers[2 * place + 1], numbers[2 * place])
        for model, method, numbers in _lines(name)
        for place, data in enumerate(_DATA)
    }


def _per_data(name: str) -> dict[PaperRow, float]:
    return {
        (first, second, data): number
        for first, second, numbers in _lines(name)
        for data, number in zip(_DATA, numbers, strict=True)
    }


# (data set, part): instances that are positive, negative, neutral
DATASETS: dict[tuple[str, str], list[int]] = {
    (data, part): counts
    for (data, _, part), counts in ((key.partition("-"), v) for key, v in _PAPER["datasets"].items())
}
# (model, method): the threshold that its validation sets chose
EPSILON: dict[tuple[str, str], float] = {
    (model, method): chosen for model, row in _PAPER["epsilon"].items() for method, chosen in row.items()
}
# By method and round: the word that is mined from its example sentence, the entropy and the prediction.
MINED_WORDS: dict[str, list[tuple[str, float, str]]] = {
    method: [(word, entropy, predicted) for word, entropy, predicted in rounds]
    for method, rounds in _PAPER["mined_words"].items()
}
GAMMA: dict[str, float] = _PAPER["gamma"]  # by data set
OVERALL = _scores("overall")
QUOTED: dict[str, dict[str, str]] = _PAPER["quoted"]  # rows from others, by data set
RANDOM_MASKING = _scores("random_masking")
# By share of the training corpus.
CORPUS_SIZE: dict[float, dict[PaperRow, Scores]] = {
    **{percent / 100: _scores(f"corpus_size_{percent}") for percent in (25, 50, 75)},
    1.0: {row: scores for row, scores in RANDOM_MASKING.items() if row[1] != "+RM-AS"},
}
SELF_ATTENTION = _scores("self_attention")  # in place of the method: the heads whose self-attention is refined
SPEED: dict[PaperRow, float] = _per_data("training_seconds")
SPEED_PARTS = _per_data("part_seconds")  # (method, part, data set): seconds, of BERTABSA-ATT
# (line of LAPTOP's test file, word): attention of BERTABSA, BERTABSA-ATT and BERTABSA-ATT (+PG-AS)
CASE_STUDY: dict[tuple[int, str], list[float]] = {
    (int(line), word): shares for line, words in _PAPER["case_study"].items() for word, shares in words.items()
}
# By setting: values for MN, TNet-ATT and BERTABSA-ATT; empty: not given.
SETTINGS: dict[str, list[str]] = _PAPER["settings"]
RELEASED: dict[str, list[str]] = _PAPER["released"]  # the same for its published code
