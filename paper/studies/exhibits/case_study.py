"""The paper's case study and the examples of its introduction as heat maps: attention and prediction of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from paper.experiments.cells import Analysis, settings
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import Exhibit, FormattedValue, Part, Picture, PlainValue, Table, TableRow
from paper.studies.exhibits._rows import METHODS, row_name
from paper.studies.paper import CASE_STUDY
from pssa.report import to_svg
from pssa.report.heat_map import top_words
from pssa.runs.answers import Answer, Explanation

__all__ = ["EXHIBIT"]

_DATA = "laptop"
_MODELS = (
    *(("bertabsa", ""), ("bertabsa_att", ""), ("bertabsa_att", "+PG-AS")),
    *(("memnet", ""), ("memnet", "+PG-AS"), ("tnet_att", ""), ("tnet_att", "+PG-AS")),
)
_N_WORDS = 3  # of each map in the table


@dataclass(frozen=True)
class _Case:
    part: str
    line: int  # of the public files
    begins: str  # guards against another file
    title: str


_CASES = (
    _Case("test", 273, "price was higher", "Case study, first sentence"),
    _Case("test", 134, "not as fast as", "Case study, second sentence"),
    _Case("train", 1095, "the screen is huge", "Table 1, training sentence"),
    _Case("train", 1262, "the ati graphics card", "Table 1, training sentence (longer in the data)"),
    _Case("train", 1222, "the big screen allows", "Table 1, training sentence (the data has big, not huge)"),
    _Case("test", 57, "but the performance of mac mini", "Table 1, test sentence"),
)
_LINES = {part: tuple(case.line for case in _CASES if case.part == part) for part in ("test", "train")}
_NOTE = (
    "For BERTABSA the maps show the self-attention of the encoder's top layer, from the aspect's positions, mean over heads; for "
    "the others the attention that they classify with. Shares are of all words except the aspect. Seed 0. The fifth sentence of "
    "Table 1 is not in the data."
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return all answers as a table, and a picture of each sentence with one map per model."""
    seen = {name: lookup(analysis) for name, analysis in _analyses(scope).items()}
    rows: list[TableRow] = []
    pictures: list[Part] = []
    for number, case in enumerate(_CASES, start=1):
        found = {name: each for name, record in seen.items() if (each := _find(record, case)) is not None}
        if found:
            maps = {name: _explanation(each) for name, each in found.items()}
            gold = next(iter(found.values()))["gold"]
            rows += [_row(case, name, gold, given) for name, given in maps.items()]
            title = f"{case.title}, {case.part} line {case.line}, gold: {gold}"
            pictures.append(_draw(f"case-study-{number}", title, maps))
    columns = ("sentence", "aspect", "model", "gold", "predicted", "most attended words")
    return [_NOTE, Table("case-study", "Answers", columns, tuple(rows)), *_share_table(seen), *pictures]


def _share_table(seen: Mapping[str, Record | None]) -> list[Part]:
    """Return attention on the words for which the paper gives numbers, beside these."""
    names = [row_name(model, method) for model, method in _MODELS[:3]]
    rows: list[TableRow] = []
    for (line, word), printed in CASE_STUDY.items():
        case = next(case for case in _CASES if (case.part, case.line) == ("test", line))
        ours = [_share(_find(seen.get(name), case), word) for name in names]
        rows.append((f"test {line}", word, *(each for pair in zip(ours, printed, strict=True) for each in pair)))
    columns = ("sentence", "word", *(f"{name}{whose}" for name in names for whose in ("", ", paper")))
    title = "Attention on the words that the paper names"
    return [Table("case-study-shares", title, columns, tuple(rows), (), columns[2::2])]


def _share(found: Record | None, word: str) -> float | None:
    if found is None:
        return None
    words = (found["text"][start:end].lower() for start, end in found["spans"])
    return next((float(share) for each, share in zip(words, found["shares"], strict=True) if each == word), None)


def _analyses(scope: Scope) -> dict[str, Analysis]:
    found = {}
    for model, method in _MODELS:
        for place in scope.places(model, _DATA, 1):
            training = METHODS[method].training_in(place)
            found[row_name(model, method)] = Analysis(training, "heat", settings(**_LINES))
    return found


def _find(record: Record | None, case: _Case) -> Record | None:
    """Return the analysis of a sentence, if the data has it there."""
    seen = record["found"] if record else []
    place = (case.part, case.line)
    return next(
        (each for each in seen if (each["part"], each["line"]) == place and each["text"].startswith(case.begins)), None
    )


def _explanation(seen: Record) -> Explanation:
    """Return the explanation that heat maps are drawn from."""
    spans = tuple((start, end) for start, end in seen["spans"])
    first, last = seen["aspect"]
    start, end = spans[first][0], spans[last - 1][1]
    label = max(seen["probabilities"], key=seen["probabilities"].__getitem__)
    answer = Answer(label, seen["probabilities"], seen["text"][start:end], start, end)
    return Explanation(seen["text"], spans, (first, last), tuple(seen["shares"]), seen["saliency"], answer)


def _row(case: _Case, model: str, gold: str, given: Explanation) -> TableRow:
    pieces = top_words(given, 0.0)[:_N_WORDS]
    parts: dict[str, PlainValue] = {}
    for number, piece in enumerate(pieces, start=1):
        parts |= {f"word {number}": piece.text, f"share {number}": piece.share}
    words = FormattedValue(", ".join(f"{piece.text} {piece.share:.2f}" for piece in pieces), parts)
    return (f"{case.part} {case.line}", given.answer.aspect, model, gold, given.answer.label, words)


def _draw(name: str, title: str, maps: dict[str, Explanation]) -> Picture:
    # A drawing has no names of models; each stands where the saliency is named.
    named = [replace(given, saliency=f"{given.saliency} of {model}") for model, given in maps.items()]
    return Picture(name, title, to_svg(named))


EXHIBIT = Exhibit("case-study", "Case study: what models look at", show)
