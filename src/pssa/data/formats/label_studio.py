"""Label Studio's JSON: tasks with annotations, as it exports them and as it imports them.

    [{"id": 1, "data": {"text": "The screen is great"}, "annotations": [{"completed_by": 2, "result": [
      {"id": "a", "type": "labels", "from_name": "aspect", "to_name": "text",
       "value": {"start": 4, "end": 10, "text": "screen", "labels": ["aspect"]}},
      {"id": "a", "type": "choices", "from_name": "polarity", "to_name": "text",
       "value": {"start": 4, "end": 10, "text": "screen", "choices": ["positive"]}}]}]}]

An aspect is a labelled span with a choice for its polarity; a span that is labelled `Positive` itself is read as well.
Predictions are proposals and never labels. A line is the number of a task.

- Skipped (cancelled) annotations do not count. Of several annotators an annotation marked as ground truth decides, else what most
  of them say: an aspect on which they do not agree is dropped and counted. The last annotation of a person replaces earlier ones.
- Offsets count characters (code points). Old versions counted UTF-16 units, in which an emoji is two, and `HyperText` counts in
  text without HTML escapes; the text of a span tells which of them are meant.
- Relations, drafts and choices about whole texts are ignored. JSON-MIN does not say which choice belongs to which span.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pssa.data.example import Example
from pssa.data.fields import words_as_text
from pssa.data.formats import Format, read_objects
from pssa.data.rows import FIELDS, SAME_NAMES, Columns, Dropped, Event, Problem
from pssa.data.text_file import InputFile
from pssa.data.tokenize import Span
from pssa.data.validation import is_integer, join_names, shorten
from pssa.errors import InputError, setting

ASPECT, POLARITY, TEXT = "aspect", "polarity", "text"  # names of the controls in our configuration
_POLARITY_NAMES = (POLARITY, "sentiment")
_ASPECT_LABELS = (ASPECT, "aspects", "aspect term", "term", "target", "feature")
_OPINION = "opinion"  # how labels of spans begin that mark opinion words
_TASK = re.compile(rb'"(?:annotations|completions|predictions|annotation_id)"\s*:|"data"\s*:\s*\{')
_FILLER = "\udfff"  # half a surrogate pair, which no text may hold
_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")  # of UTF-16
_MAX_REGIONS = 1000  # of one annotation
_MAX_SEARCHED = 1000  # characters of a span that is looked for
_ADVICE = "export the project again as JSON"
_OURS = "pssa"  # key of what we keep in `data` beside the text
_KEPT = ("sentence_id", "words", "tags")


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each aspect of a task; a task that nobody has annotated is a text without aspects where that is enough."""
    if other := [name for name, _ in columns.pairs if name != "text"]:
        what = f"the format label_studio has no column for {other[0]}: it is part of an annotation"
        raise InputError.at(file.path, None, f"{what}; leave it out of {setting('columns')}")
    for number, task in enumerate(read_objects(file), start=1):
        if isinstance(task, Problem):
            yield task
            continue
        try:
            yield from _events(number, task, columns)
        except InputError as error:
            name = f"task {shorten(task['id'])}: " if "id" in task else ""
            yield Problem(number, f"{name}{error.message}")


def encode(examples: Sequence[Example]) -> bytes:
    """Return annotated tasks; those of one sentence are one task."""
    sentences: dict[tuple[Any, ...], list[Example]] = {}
    for example in examples:
        words = words_as_text(example)
        sentences.setdefault((example.sentence_id, example.text, words, example.tags), []).append(example)
    tasks = [
        {
            "data": {"text": text, _OURS: {"sentence_id": sentence, "words": words, "tags": list(tags)}},
            "annotations": [{"result": [*_items(inside)]}],
        }
        for (sentence, text, words, tags), inside in sentences.items()
    ]
    lines = ",\n".join(json.dumps(task, ensure_ascii=False) for task in tasks)
    return f"[{lines}]\n".encode()


def _items(examples: Sequence[Example]) -> Iterator[dict[str, Any]]:
    """Yield the span of each example and, if it has a label, the choice for it; the id of a span must be its own."""
    uses: Counter[str] = Counter()
    for example in examples:
        uses[example.id] += 1
        n_uses = uses[example.id]
        start, end = example.aspect_chars
        place = {"start": start, "end": end, "text": example.aspect_text}
        common = {"id": example.id if n_uses == 1 else f"{example.id}#{n_uses}", "to_name": TEXT}
        yield {**common, "from_name": ASPECT, "type": "labels", "value": {**place, "labels": [ASPECT]}}
        if example.label is not None:
            yield {**common, "from_name": POLARITY, "type": "choices", "value": {**place, "choices": [example.label]}}


@dataclass
class _Region:
    """One span of an annotation."""

    id: str
    start: int
    end: int
    quoted: str | None  # its text, if it is stored
    span_label: str = ""  # of the span, such as `aspect`
    polarities: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name of a control, its choices

    def label(self) -> str | None:
        """Return the polarity; None if there is none yet.

        :raises InputError: if there are several.
        """
        named = [found for name, found in self.polarities if name.lower() in _POLARITY_NAMES]
        found = named or [found for _, found in self.polarities]
        if len(found) > 1 or (found and len(found[0]) > 1):
            chosen = ", ".join(choice for choices in found for choice in choices)
            what = f"the span {shorten(self.quoted or self.id)} has several choices ({chosen})"
            raise InputError(f"{what}; keep one, or name the control of the polarity {POLARITY!r}")
        if found and found[0]:
            return found[0][0]
        return None if self.span_label.casefold() in _ASPECT_LABELS else self.span_label or None

    @property
    def is_aspect(self) -> bool:
        """Whether the span is an aspect, not opinion words."""
        return bool(self.polarities) or not self.span_label.casefold().startswith(_OPINION)


def _events(number: int, task: Mapping[str, Any], columns: Columns) -> Iterator[Event]:
    if "data" not in task:
        is_min = "annotation_id" in task or "annotator" in task
        kind = "is of a JSON-MIN export, which does not say which polarity belongs to which aspect" if is_min else ""
        raise InputError(f"{kind or 'has no `data`; expected a task of Label Studio'}; {_ADVICE}")
    own = _own_fields(task, columns)
    annotations = _annotations(task)
    if not annotations:
        yield columns.row(number, own) if columns.text_only else Dropped(number, "not_annotated")
        return
    name = columns.column_of("text")
    text, placed = _place(own[name], [_regions(each) for each in annotations])
    agreed, disputed = _agree(placed)
    if not agreed and not disputed:
        yield Dropped(number, "no_aspect", text, own.get("sentence_id"))
    yield from (Dropped(number, "annotators_disagree") for _ in range(disputed))
    for start, end, region, label in agreed:
        # Spans that were imported may have the same ids in every task.
        own_id = f"{task['id']}-{region}" if isinstance(task.get("id"), int | str) else region
        aspect = {"aspect": text[start:end], "from": start, "to": end, "label": label, "id": own_id}
        yield columns.row(number, {**own, name: text, **aspect})


def _own_fields(task: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """Return the text of a task and what else it says of itself."""
    data, name = task["data"], columns.column_of("text")
    if not isinstance(data, dict):
        raise InputError(f"`data` is {shorten(data)}; expected an object with the text")
    texts = [key for key, value in data.items() if isinstance(value, str)]
    if name not in texts and len(texts) == 1 and not columns:
        data = {name if key == texts[0] else key: value for key, value in data.items()}
    elif name not in texts:
        advice = f"name the text with {setting('columns', 'text=NAME')}"
        raise InputError(f"`data` has no text {shorten(name)}; found {join_names(data)}; {advice}")
    # An aspect or a label that the task was made from is not what people said of it.
    fields = {key: value for key, value in data.items() if key == name or key not in (*FIELDS, _OURS)}
    ours = data.get(_OURS)
    return fields | ({key: ours[key] for key in _KEPT if ours.get(key)} if isinstance(ours, dict) else {})


def _annotations(task: Mapping[str, Any]) -> list[list[Any]]:
    """Return the results that count, one list for each annotator."""
    given = task.get("annotations", task.get("completions")) or []
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise InputError(f"`annotations` is {shorten(given)}; expected a list of objects; {_ADVICE}")
    valid = [each for each in given if not each.get("was_cancelled") and not each.get("skipped")]
    chosen = [each for each in valid if each.get("ground_truth")][-1:] or valid
    latest: dict[str, list[Any]] = {}
    for place, each in enumerate(sorted(chosen, key=lambda each: str(each.get("updated_at") or ""))):
        result = each.get("result")
        if not isinstance(result, list) or not all(isinstance(item, dict) for item in result):
            raise InputError(f"`result` is {shorten(result)}; expected a list of objects; {_ADVICE}")
        who = each.get("completed_by")
        who = who.get("id", who.get("email")) if isinstance(who, dict) else who
        latest[f"place {place}" if who is None else f"person {who}"] = result
    return list(latest.values())


def _regions(result: Sequence[Mapping[str, Any]]) -> list[_Region]:
    """Return the spans of an annotation with their choices, which have the id of their span."""
    found: dict[str, _Region] = {}
    choices: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for item in result:
        value, kind, name = item.get("value"), str(item.get("type", "")), str(item.get("id", ""))
        if not isinstance(value, dict):
            continue  # a relation
        if kind == "choices":
            choices.setdefault(name, []).append((str(item.get("from_name", "")), _texts(value.get("choices"))))
        elif kind.endswith("labels"):
            offsets, quoted = value.get("globalOffsets"), value.get("text")
            place = offsets if isinstance(offsets, dict) else value
            start, end = place.get("start"), place.get("end")
            if not (is_integer(start) and is_integer(end)):
                raise InputError(f"a span has the offsets {shorten(start)} and {shorten(end)}; expected whole numbers")
            label = next(iter(_texts(value.get(kind))), "")
            found[name] = _Region(
                name, int(str(start)), int(str(end)), quoted if isinstance(quoted, str) else None, label
            )
    if len(found) > _MAX_REGIONS:
        raise InputError(f"has {len(found)} spans; expected at most {_MAX_REGIONS}")
    for name, region in found.items():
        region.polarities = tuple(choices.get(name, ()))
    return [region for region in found.values() if region.is_aspect]


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


_Placed = list[tuple[Span, _Region]]  # of one annotator: where each aspect is in the text


def _place(text: str, annotations: Sequence[Sequence[_Region]]) -> tuple[str, list[_Placed]]:
    """Return the text as its annotators saw it, and where their spans are in it.

    :raises InputError: if a span is not in the text.
    """
    for seen in (text, html.unescape(text)):
        for filled in (seen, _TWO_UNITS.sub(rf"\g<0>{_FILLER}", seen)):
            fitted = [[(span, each) for each in one if (span := _fit(filled, each))] for one in annotations]
            if [*map(len, fitted)] == [*map(len, annotations)]:
                return seen, fitted
    return text, [[(_search(text, region), region) for region in each] for each in annotations]


def _fit(text: str, region: _Region) -> Span | None:
    """Return where a span is, without white space at its ends; None if its offsets are of another text.

    :param text: maybe with a filler after each character that is two in UTF-16, so that offsets of UTF-16 fit.
    """
    inside = text[max(region.start, 0) : max(region.end, 0)].replace(_FILLER, "")
    is_same = region.quoted is None or _spaced(region.quoted) == _spaced(inside)
    if not is_same or not inside.strip() or not 0 <= region.start < region.end <= len(text):
        return None
    start = region.start - text.count(_FILLER, 0, region.start)
    return start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())


def _spaced(text: str) -> str:
    """Return a text with single spaces: a browser shows line breaks, tabs and several spaces as one."""
    return " ".join(text.replace("\\n", " ").split())


def _search(text: str, region: _Region) -> Span:
    """Return where the text of a span is, if it is there once: its offsets are of a text with other white space."""
    quoted = region.quoted or ""
    words = [re.escape(word) for word in quoted.split()] if len(quoted) <= _MAX_SEARCHED else []
    found = [each.span() for each in re.finditer(r"\s+".join(words), text)] if words else []
    if len(found) == 1:
        return found[0]
    what = f"the span {region.start}-{region.end}, {shorten(region.quoted)}, is not there in the text {shorten(text)}"
    raise InputError(f"{what}; was the text changed after it was labelled?")


def _agree(annotations: Sequence[_Placed]) -> tuple[list[tuple[int, int, str, str | None]], int]:
    """Return the aspects that most annotators mark, each with the label that most of these chose, and how many are disputed."""
    labels: dict[Span, list[str | None]] = {}
    names: dict[Span, str] = {}
    for placed in annotations:
        for span, region in placed:
            labels.setdefault(span, []).append(region.label())
            names.setdefault(span, region.id)
    agreed = []
    for span, given in sorted(labels.items()):
        label, votes = Counter(given).most_common(1)[0]
        if 2 * len(given) > len(annotations) and 2 * votes > len(given):
            agreed.append((*span, names[span], label))
    return agreed, len(labels) - len(agreed)


FORMAT = Format(
    scan=scan,
    encode=encode,
    has_columns=True,
    lists_all_aspects=True,
    short_names=("ls",),
    list_mark=_TASK,
)
