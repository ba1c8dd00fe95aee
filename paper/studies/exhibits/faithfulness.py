"""Beyond the paper: whether models rely on the words that attention and gradients rank first, before and after supervision.

Comprehensiveness is what the probability of the predicted label loses without these words (high is good), sufficiency what it
loses with them alone (low is good), each as the mean over 1 to 50 % of the words, beside words in random order.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from itertools import product

from paper.experiments.comparison import gather
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import SWEEP, Exhibit, FormattedValue, Part, Table, TableRow, Value, format_number
from paper.studies.exhibits._rows import ANALYSED_ROWS, ATTENDING, analyses_of, row_name

__all__ = ["EXHIBIT"]

_WAYS = ("deletion", "mask")
_SALIENCIES = ("attention", "gradient")
_MEASURES = ("comprehensiveness", "sufficiency")
_COLUMNS = ("model", "words by", "seeds", *(f"{measure}{part}" for measure in _MEASURES for part in ("", ", random")))
_NOTES = (
    "AOPC: mean over 1, 5, 10, 20 and 50 % of the words, as in ERASER, and over seeds. `random`: as many words in random order. "
    "+: in every seed the 95 % interval of the difference to random order, by bootstrap over instances, lies on the good side; "
    "-: on the bad side. Of encoders, 300 test instances drawn at random. TWITTER is left out for "
    "its cost.",
)
# Whether a value above chance is good.
_HIGH_IS_GOOD = {"comprehensiveness": True, "sufficiency": False}


def _places(scope: Scope) -> Iterator[tuple[str, str]]:
    tested = (data for data in scope.data if data != "twitter")
    return ((data, model) for data in tested for model in ATTENDING if scope.has(model))


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return a table for each data set and each way of removing words."""
    places = list(_places(scope))
    parts: list[Part] = []
    for data, way in product(dict.fromkeys(data for data, _ in places), _WAYS):
        rows: list[TableRow] = []
        for model, method in product((model for where, model in places if where == data), ANALYSED_ROWS):
            records = list(gather(lookup, analyses_of(scope, "faithfulness", method, model, data)).values())
            rows += [_fields(records, (row_name(model, method), saliency), way) for saliency in _SALIENCIES]
        title = f"{data.upper()}, words removed by {way}"
        parts.append(Table(f"faithfulness-{data}-{way}", title, _COLUMNS, tuple(rows), _NOTES, ("seeds",)))
    return parts


def _fields(records: Sequence[Record], head: tuple[str, str], way: str) -> TableRow:
    """Return a row of the table: one saliency in several analyses."""
    found = [record["found"][way][head[1]] for record in records]
    if not found:
        return (*head, 0, *[None] * (2 * len(_MEASURES)))
    values: list[Value] = []
    for measure in _MEASURES:
        judged = [each[measure]["aopc"] for each in found]
        mean = statistics.mean(each["value"]["mean"] for each in judged)
        control = statistics.mean(each["control"]["mean"] for each in judged)
        sign = _sign(judged, _HIGH_IS_GOOD[measure])
        values += [
            FormattedValue(f"{mean:.3f} {sign}".strip(), {"mean": mean, "side": sign or None}),
            format_number("mean", control, ".3f"),
        ]
    return (*head, len(found), *values)


def _sign(judged: Sequence[Record], high_is_good: bool) -> str:
    """Return the side on which all analyses differ from random order, if they do."""
    above = all(each["difference"]["low"] > 0 for each in judged)
    below = all(each["difference"]["high"] < 0 for each in judged)
    if not (above or below):
        return ""
    return "+" if above == high_is_good else "-"


_TITLE = "Do models rely on the words that they attend to?"
EXHIBIT = Exhibit("faithfulness", _TITLE, show, encoders=SWEEP)
