"""Reading and writing instances in any format: `read` for training, `stream` for prediction, `write` for a new file.

Reading for training turns a row into an `Accepted` example, drops it for a reason, or finds a `Problem`; `read` stops at the
first problem, `check` lists them all. Writing keeps words, aspects and labels in every format. The tagged and the three-line
format separate words with one space, and so lose the white space of the text and the ids; XML gives aspects new ids and has no
tags.
"""

from __future__ import annotations

import codecs
import gzip
import warnings
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

from pssa.data.evidence import Evidence
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.fields import AmbiguousAspect, example_from_fields, find_aspect_doubt
from pssa.data.files import write_atomically
from pssa.data.formats import find_format, format_for_writing, format_named, recognise, require_encoding, scan
from pssa.data.labels import GivenLabelMap, LabelRule, UnknownLabel, read_label_map
from pssa.data.rows import FIELDS, ColumnNames, Columns, Dropped, Event, Problem, Row, brief_messages
from pssa.data.tables import Table, is_table, name_of, scan_table
from pssa.data.text_file import InputFile
from pssa.data.validation import nearest_name, shorten
from pssa.errors import InputError, PssaWarning, setting

INVALID = "invalid"  # the reason under which skipped rows are counted
ON_ERRORS = ("fail", "skip")
OCCURRENCES = ("first", "all", "error")
_SHOWN_SKIPPED = 3
_CHECK = setting("pssa.check", option="`pssa data check`")
_ADVICE = f"{_CHECK} lists all such lines, {setting('errors', 'skip')} skips them"


class ReadSettings(TypedDict, total=False):
    """The keyword arguments of `read`; each may be left out."""

    format: str | None
    columns: ColumnNames | None
    labels: tuple[str, ...]
    conflict: str
    label_map: GivenLabelMap | None
    encoding: str | None
    errors: str
    occurrence: str
    run: str


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file of instances.

    :raises InputError: for a value that is not known.
    """

    format: str = ""  # empty: recognised
    columns: Columns = field(default_factory=Columns)
    labels: tuple[str, ...] = DEFAULT_LABELS
    conflict: str = "drop"  # of the label `conflict` if `labels` does not have it: drop, keep or error
    label_map: tuple[tuple[str, str], ...] = ()  # labels of the file, and what they mean
    encoding: str = "utf-8"
    errors: str = "fail"  # on instances that cannot be used; or "skip" them
    occurrence: str = "first"  # on aspects that occur several times; or "all", or "error"
    run: str = ""  # whose labels these are, if a run fixes them

    def __post_init__(self) -> None:
        for name, known in (("errors", ON_ERRORS), ("occurrence", OCCURRENCES)):
            if getattr(self, name) not in known:
                raise InputError(f"{setting(name)} is {shorten(getattr(self, name))}; expected {' or '.join(known)}")
        check_encoding(self.encoding)

    @classmethod
    def of(cls, **given: Unpack[ReadSettings]) -> ReadOptions:
        """Build from the keyword arguments of `read`."""
        known = [each.name for each in fields(cls)]
        if unknown := [name for name in given if name not in known]:
            near = nearest_name(unknown[0], known)
            advice = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
            raise InputError(f"unknown option {shorten(unknown[0])}; {advice}")
        values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        values["columns"] = Columns.of(values.get("columns"))
        values["label_map"] = tuple(read_label_map(values.get("label_map")).items())
        return cls(**values)

    def rule(self) -> LabelRule:
        """Return how labels are read."""
        return LabelRule.of(self.labels, self.conflict, self.run, dict(self.label_map))

    @property
    def changed(self) -> dict[str, Any]:
        """The options that are not at their default, by the names and with the values of the configuration."""
        usual, found = ReadOptions(), {}
        for each in fields(self):
            value = getattr(self, each.name)
            if value != getattr(usual, each.name):
                found[each.name] = dict(value.pairs) if isinstance(value, Columns) else value
        if "label_map" in found:
            found["label_map"] = dict(self.label_map)
        return found


def check_encoding(name: str | None) -> None:
    """Refuse the name of an encoding that Python does not know, or that is not one of text."""
    try:
        known = not name or codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        known = False
    if not known:
        examples = "expected a name such as windows-1252, latin-1 or utf-16"
        raise InputError(f"{setting('encoding')} is {shorten(name)}, which is not known; {examples}")


@dataclass(frozen=True, slots=True)
class Accepted:
    """An instance that can be trained on, and what is odd about it."""

    line: int
    example: Example
    warnings: tuple[str, ...]
    doubt: str = ""  # if its aspect occurs several times, and the first is taken


Outcome = Accepted | Dropped | Problem


def read(path: str | Path | Table, **options: Unpack[ReadSettings]) -> Corpus:
    """Read labelled instances.

    :param path: a file, or a table in memory: a pandas or polars frame, a Hugging Face dataset, or a list of dicts.
    :param format: name of the format; recognised by extension and content if not given.
    :param columns: columns by field, where their names differ, such as `{"text": "review"}`.
    :param labels: the labels that instances may have.
    :param conflict: what to do with the label `conflict` if `labels` does not have it: `drop` and count it, `keep` it as
        one more label, or treat it as an `error`.
    :param label_map: new names of the labels of the file, such as `{"5": "positive"}`, `"5=positive,1=negative"` or a CSV or
        TOML file.
    :param encoding: of a text file, if it is not UTF-8.
    :param errors: on invalid instances: `fail`, or `skip` them, count them as `invalid` and warn.
    :param occurrence: if an aspect occurs several times in its text and the row does not say which is meant: use the `first`
        and warn, make an instance of `all`, or `error`.
    :param run: the name of the run whose labels these are, for errors about others.
    :raises InputError: with the file and line of the first invalid instance.
    """
    return read_with(ReadOptions.of(**options), path)


def read_with(options: ReadOptions, path: str | Path | Table) -> Corpus:
    """Read labelled instances with options that a caller keeps; see `read`."""
    skipped: list[Problem] = []
    name: str | Path
    if is_file := isinstance(path, str | Path):
        file, format = _open_file(path, options)
        name, events = path, scan(file, format, options.columns)
    elif is_table(path):
        name, events = name_of(path), scan_table(path, options.columns)
    else:
        expected = "expected the name of a file, a frame, a Hugging Face dataset, or a list of dicts"
        raise InputError(f"the data is a {type(path).__name__}; {expected}")
    corpus = _corpus_of(name, events, options, skipped, _ADVICE if is_file else "")
    if not skipped:
        return corpus
    first = skipped[:_SHOWN_SKIPPED]
    listed = zip(first, brief_messages(first), strict=True)
    shown = "; ".join(f"line {problem.line}: {message}" for problem, message in listed)
    more = f"; {_CHECK} lists them all" if is_file and len(skipped) > _SHOWN_SKIPPED else ""
    lines = "1 line was" if len(skipped) == 1 else f"{len(skipped)} lines were"
    warning = f"{name}: {lines} skipped, {len(corpus)} instances are left; {shown}{more}"
    warnings.warn(PssaWarning(warning), stacklevel=3)
    return replace(corpus, dropped={**corpus.dropped, INVALID: len(skipped)})


def read_or_skip(
    path: str | Path, **options: Unpack[ReadSettings]
) -> tuple[Corpus, tuple[Problem, ...], tuple[str, ...]]:
    """Read labelled instances as `read` does; also return the lines skipped and the user's own fields, which are lost."""
    chosen = ReadOptions.of(**options)
    skipped: list[Problem] = []
    extra: dict[str, None] = {}

    def note_extra(events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Row):
                kept = {event.column_of(name) for name in event.fields if name in FIELDS}
                extra.update(dict.fromkeys(str(name) for name in event.given if name not in kept))
            yield event

    file, format = _open_file(path, chosen)
    corpus = _corpus_of(path, note_extra(scan(file, format, chosen.columns)), chosen, skipped, _ADVICE)
    return corpus, tuple(skipped), tuple(extra)


def _open_file(path: str | Path, options: ReadOptions) -> tuple[InputFile, str]:
    """Return the file to read, in its encoding, and its format."""
    file = InputFile.of(path, options.encoding)
    format = format_of(file, options.format)
    require_encoding(file, format)
    return file, format


def stream(
    path: str | Path, *, format: str | None = None, columns: ColumnNames | None = None, encoding: str | None = None
) -> Iterator[Row]:
    """Yield the rows of a file one at a time, labelled or not; see `example_from_fields`.

    :raises InputError: naming the file and the line, at the first row that cannot be read.
    """
    options = ReadOptions.of(format=format, columns=columns, encoding=encoding)
    file, name = _open_file(path, options)
    for event in scan(file, name, options.columns):
        if isinstance(event, Problem):
            raise InputError.at(path, event.line, event.message)
        if isinstance(event, Row):
            yield event


def write(
    examples: Sequence[Example], path: str | Path, *, format: str | None = None, evidence: Evidence | None = None
) -> None:
    """Write a corpus, or any examples, to `path` and replace what is there; a name in `.gz` compresses a text format.

    The file appears complete or not at all.

    :param format: name of the format; taken from the extension if not given.
    :param evidence: of these examples; triplets write its active words as opinions.
    :raises InputError: if the format cannot express one of the examples; nothing is written then.
    """
    for example in examples:
        if not isinstance(example, Example):
            expected = "expected an Example; pssa.read makes them from dicts"
            raise InputError(f"one of the examples is {shorten(example)}; {expected}")
    target = Path(path)
    name = format_named(format) if format else format_for_writing(target)
    form = find_format(name)
    if evidence is not None and not form.holds_evidence:
        raise InputError.at(target, None, f"the format {name} holds no evidence; write triplets")
    if evidence is not None and len(evidence.examples) != len(examples):
        raise InputError(f"{len(examples)} examples and evidence of {len(evidence.examples)}; expected that of these")
    if form.save:
        target = Path(str(path).removeprefix(form.prefix))
    if not target.parent.is_dir():
        raise InputError.at(target, None, f"the folder {target.parent} does not exist; create it first")
    if form.save:
        form.save(examples, target)
        return
    if not form.encode:
        raise InputError.at(target, None, f"the format {name} can be read and not written; choose another")
    if target.is_dir():
        raise InputError.at(target, None, "is a directory; expected the name of a file")
    try:
        content = form.encode(examples, evidence) if evidence is not None else form.encode(examples)
    except UnicodeEncodeError as error:
        raise InputError.at(target, None, f"a text contains what is not a character ({error.reason})") from error
    # Without the time, so that equal corpora give equal files.
    write_atomically(target, gzip.compress(content, mtime=0) if target.suffix == ".gz" else content)


def format_of(path: str | Path | InputFile, format: str | None, text_only: bool = False) -> str:
    """Return the full name of the given format or, if there is none, of the format that the file has; see `recognise`."""
    return format_named(format) if format else recognise(InputFile.of(path), text_only)


def outcomes(events: Iterable[Event], rule: LabelRule, occurrence: str = "first") -> Iterator[Outcome]:
    """Yield the outcome of each row in training. A repeated id gets a number, so that ids are unique."""
    uses: Counter[str] = Counter()
    for event in events:
        for outcome in _outcomes(event, rule, occurrence) if isinstance(event, Row) else (event,):
            if isinstance(outcome, Accepted):
                example = outcome.example
                uses[example.id] += 1
                if uses[example.id] > 1:
                    name = f"{example.id}#{uses[example.id]}"
                    doubt = f"id {shorten(example.id)} was used before; this instance is named {shorten(name)}"
                    doubts = (*outcome.warnings, doubt)
                    outcome = replace(outcome, example=replace(example, id=name), warnings=doubts)
            elif isinstance(outcome, Problem) and outcome.given:
                outcome = replace(outcome, given="")  # many problems may be listed, and none shows it
            yield outcome


def _corpus_of(
    name: str | Path, events: Iterable[Event], options: ReadOptions, skipped: list[Problem], advice: str
) -> Corpus:
    """Return the instances among the events; rows that cannot be used are added to `skipped`, if the options say so.

    :param advice: for the first of them otherwise.
    """
    examples, doubts = [], list[str]()
    dropped: Counter[str] = Counter()
    rule = options.rule()
    try:
        for outcome in outcomes(events, rule, options.occurrence):
            match outcome:
                case Accepted():
                    examples.append(outcome.example)
                    doubts += [f"line {outcome.line}, {outcome.doubt}"] if outcome.doubt else []
                case Dropped():
                    dropped[outcome.reason] += 1
                case Problem(last=False) if options.errors == "skip":
                    skipped.append(outcome)
                case Problem():
                    more = f"; {advice}" if advice and not outcome.last else ""
                    raise InputError.at(name, outcome.line, f"{outcome.message}{more}")
    finally:
        if isinstance(events, Generator):
            events.close()  # and its file, which the traceback of an error would keep open
    if not examples:
        counts = ", ".join(f"{reason}: {count}" for reason, count in dropped.items())
        left_out = f" (left out: {counts})" if counts else ""
        raise InputError.at(name, None, f"has no labelled instance{left_out}; expected at least one")
    if doubts:
        found = f"in {len(doubts)} of {len(examples)} instances the aspect occurs several times: {doubts[0]}"
        warnings.warn(PssaWarning(f"{name}: {found}; {setting('occurrence', 'error')} stops instead"), stacklevel=4)
    return Corpus(tuple(examples), rule.labels, dict(dropped))


def _outcomes(row: Row, rule: LabelRule, occurrence: str) -> Iterator[Outcome]:
    """Yield the outcomes of a row: one instance or, of an aspect that occurs several times, as many as are asked for."""
    doubts: list[str] = []
    try:
        examples = _examples(row, occurrence, doubts)
        if rule.drops(examples[0].label):
            yield Dropped(row.line, str(examples[0].label))
            return
        if "label" not in row.fields:
            raise InputError(row.describe_missing("label", rule.expected))
        label = rule.normalise(examples[0].label)
    except UnknownLabel as error:
        yield Problem(row.line, error.message, unknown_label=error.label)
    except InputError as error:
        yield Problem(row.line, error.message)
    else:
        for example in examples:
            if label not in rule.labels:
                yield Dropped(row.line, label)
                continue
            inside = find_aspect_doubt(row.fields, example.text, example.aspect_chars)
            alone = "" if example.candidates else "the sentence is nothing but its aspect"
            found = (*row.warnings, *filter(None, (alone, inside)), *doubts)
            yield Accepted(row.line, replace(example, label=label), found, "".join(doubts))


def _examples(row: Row, occurrence: str, doubts: list[str]) -> list[Example]:
    build = partial(example_from_fields, default_id=str(row.line), row=row, warn=doubts.append)
    try:
        return [build(row.fields, ordinal_required=occurrence != "first")]
    except AmbiguousAspect as error:
        if occurrence == "error":
            advice = f"{setting('occurrence', 'first')} takes the first, {setting('occurrence', 'all')} all of them"
            raise InputError(f"{error.message}; {advice}") from None
        n_places = error.n_places
    first, *others = [build({**row.fields, "ordinal": n}, ordinal_required=True) for n in range(n_places)]
    return [first, *(replace(other, id=f"{other.id}#{number}") for number, other in enumerate(others, start=2))]
