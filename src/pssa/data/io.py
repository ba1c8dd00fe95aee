"""Reading and writing instances in any format: `read` for training, `stream` for prediction, `write` for a new file.

Reading for training turns a row into an `Accepted` example, drops it for a reason, or finds a `Problem`; `read` stops at the
first problem, `check` lists them all. Writing keeps words, aspects and labels in every format. The tagged and the three-line
format separate words with one space, and so lose the white space of the text and the ids; XML gives aspects new ids and has no
tags.
"""

from __future__ import annotations

import gzip
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from pssa.data.evidence import Evidence
from pssa.data.example import Corpus, Example
from pssa.data.fields import AmbiguousAspect, LabelRule, UnknownLabel, example_from_fields, find_aspect_doubt
from pssa.data.files import write_atomically
from pssa.data.formats import FORMATS, format_for_writing, format_named, recognise, require_encoding, scan
from pssa.data.read_options import ReadOptions, ReadSettings
from pssa.data.rows import ColumnNames, Dropped, Event, Problem, Row, brief_messages
from pssa.data.tables import Table, is_table, name_of, rows_of_records, scan_table
from pssa.data.text_file import EncodedPath
from pssa.data.validation import shorten
from pssa.errors import InputError, PssaWarning, setting

INVALID = "invalid"  # the reason under which skipped rows are counted
_SHOWN_SKIPPED = 3
_CHECK = setting("pssa.check", option="`pssa data check`")


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
    :raises InputError: with the file and line of the first invalid instance.
    """
    return read_with(ReadOptions.of(**options), path)


def read_for(run: str | Path, path: str | Path | Table, **options: Unpack[ReadSettings]) -> Corpus:
    """Read labelled instances for a run, whose labels are fixed; see `read`."""
    return read_with(ReadOptions.of(**options), path, str(run))


def read_or_skip(
    path: str | Path, **options: Unpack[ReadSettings]
) -> tuple[Corpus, tuple[Problem, ...], tuple[str, ...]]:
    """Read labelled instances as `read` does; also return the lines skipped and the user's own fields, which are lost."""
    chosen = ReadOptions.of(**options)
    skipped: list[Problem] = []
    extra: dict[str, None] = {}
    listed, source, name = chosen.columns, *_open_source(path, chosen)

    def note_extra(events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Row):
                own = listed.spelled_by(path, event.given) if name == "csv" else listed
                extra.update(dict.fromkeys(map(str, own.find_extra(event.given))))
            yield event

    skip = skipped.append if chosen.errors == "skip" else _refuser(path)
    corpus = corpus_of(path, note_extra(scan(source, name, listed)), chosen, skip)
    return corpus, tuple(skipped), tuple(extra)


def read_with(options: ReadOptions, path: str | Path | Table, run: str = "") -> Corpus:
    """Read labelled instances with options that a caller keeps; see `read`."""
    if not isinstance(path, str | Path):
        if not is_table(path):
            expected = "expected the name of a file, a frame, a Hugging Face dataset, or a list of dicts"
            raise InputError(f"the data is a {type(path).__name__}; {expected}")
        return _corpus_with_warning(name_of(path), scan_table(path, options.columns), options, None, run)
    source, name = _open_source(path, options)
    return _corpus_with_warning(path, scan(source, name, options.columns), options, _refuser(path), run)


def _open_source(path: str | Path, options: ReadOptions) -> tuple[Path, str]:
    """Return the file to read, in its encoding, and its format."""
    source = EncodedPath.of(path, options.encoding)
    format = format_of(source, options.format)
    require_encoding(source, format)
    return source, format


def _corpus_with_warning(
    path: str | Path,
    events: Iterable[Event],
    options: ReadOptions,
    refuse: Callable[[Problem], None] | None = None,
    run: str = "",
) -> Corpus:
    """Return the instances; where others are skipped, count them and warn."""
    skipped: list[Problem] = []
    corpus = corpus_of(path, events, options, skipped.append if options.errors == "skip" else refuse, run)
    if not skipped:
        return corpus
    first = skipped[:_SHOWN_SKIPPED]
    listed = zip(first, brief_messages(first), strict=True)
    shown = "; ".join(f"line {problem.line}: {message}" for problem, message in listed)
    more = f"; {_CHECK} lists them all" if refuse and len(skipped) > _SHOWN_SKIPPED else ""
    lines = "1 line was" if len(skipped) == 1 else f"{len(skipped)} lines were"
    warning = f"{path}: {lines} skipped, {len(corpus)} instances are left; {shown}{more}"
    warnings.warn(PssaWarning(warning), stacklevel=4)
    return replace(corpus, dropped={**corpus.dropped, INVALID: len(skipped)})


def _refuser(path: str | Path) -> Callable[[Problem], None]:
    def refuse(problem: Problem) -> None:
        more = f"{_CHECK} lists all such lines, {setting('errors', 'skip')} skips them"
        raise InputError.at(path, problem.line, f"{problem.message}; {more}")

    return refuse


def from_dataset(dataset: Any, **options: Unpack[ReadSettings]) -> Corpus:
    """Make a corpus from a `datasets.Dataset` with the columns text, span, label and, if needed, ordinal; see `read`."""
    chosen, name = ReadOptions.of(**options), Path("dataset")
    events = FORMATS.module("hugging_face").rows_of(dataset, name, chosen.columns)
    return _corpus_with_warning(name, events, chosen)


def from_records(rows: Iterable[Mapping[str, Any]], **options: Unpack[ReadSettings]) -> Corpus:
    """Make a corpus from dicts with the fields of a file: text, aspect, label and, if needed, from and to, or ordinal.

    The options are those of `read`.

    :raises InputError: with the number of the first invalid one, counted from 1.
    """
    chosen = ReadOptions.of(**options)
    events = chosen.columns.check_rows("records", rows_of_records(rows, chosen.columns))
    return _corpus_with_warning("records", events, chosen)


def stream(
    path: str | Path, *, format: str | None = None, columns: ColumnNames | None = None, encoding: str | None = None
) -> Iterator[Row]:
    """Yield the rows of a file one at a time, labelled or not; see `example_from_fields`.

    :raises InputError: naming the file and the line, at the first row that cannot be read.
    """
    options = ReadOptions.of(format=format, columns=columns, encoding=encoding)
    source, name = _open_source(path, options)
    for event in scan(source, name, options.columns):
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
            expected = "expected an Example; from_records makes them from dicts"
            raise InputError(f"one of the examples is {shorten(example)}; {expected}")
    target = Path(path)
    name = format_named(format) if format else format_for_writing(target)
    module = FORMATS.module(name)
    if evidence is not None and not hasattr(module, "encode_with_evidence"):
        raise InputError.at(target, None, f"the format {name} holds no evidence; write triplets")
    if evidence is not None and len(evidence.examples) != len(examples):
        raise InputError(f"{len(examples)} examples and evidence of {len(evidence.examples)}; expected that of these")
    if hasattr(module, "save"):
        target = Path(str(path).removeprefix(module.PREFIX))
    if not target.parent.is_dir():
        raise InputError.at(target, None, f"the folder {target.parent} does not exist; create it first")
    if hasattr(module, "save"):
        module.save(examples, target)
        return
    if target.is_dir():
        raise InputError.at(target, None, "is a directory; expected the name of a file")
    try:
        content = module.encode(examples) if evidence is None else module.encode_with_evidence(examples, evidence)
    except UnicodeEncodeError as error:
        raise InputError.at(target, None, f"a text contains what is not a character ({error.reason})") from error
    # Without the time, so that equal corpora give equal files.
    write_atomically(target, gzip.compress(content, mtime=0) if target.suffix == ".gz" else content)


def format_of(path: str | Path, format: str | None, text_only: bool = False) -> str:
    """Return the full name of the given format or, if there is none, of the format that the file has; see `recognise`."""
    # A `Path` is passed on as it is: its class may unpack the file.
    return format_named(format) if format else recognise(path if isinstance(path, Path) else Path(path), text_only)


def outcomes(events: Iterable[Event], rule: LabelRule, occurrence: str = "first") -> Iterator[Outcome]:
    """Yield the outcome of each row in training. A repeated id gets a number, so that ids are unique."""
    uses: Counter[str] = Counter()
    for event in events:
        for outcome in _outcomes(event, rule, occurrence) if isinstance(event, Row) else (event,):
            if isinstance(outcome, Accepted):
                name = outcome.example.id
                uses[name] += 1
                yield _rename(outcome, f"{name}#{uses[name]}") if uses[name] > 1 else outcome
            elif isinstance(outcome, Problem) and outcome.given:
                yield replace(outcome, given="")  # many problems may be listed, and none shows it
            else:
                yield outcome


def corpus_of(
    path: str | Path,
    events: Iterable[Event],
    options: ReadOptions,
    skip: Callable[[Problem], None] | None = None,
    run: str = "",
) -> Corpus:
    """Return the instances among the events; `skip` gets each row that cannot be used, else the first is an error."""
    examples, doubts = [], list[str]()
    dropped: Counter[str] = Counter()
    rule = options.rule(run)
    try:
        for outcome in outcomes(events, rule, options.occurrence):
            match outcome:
                case Accepted():
                    examples.append(outcome.example)
                    doubts += [f"line {outcome.line}, {outcome.doubt}"] if outcome.doubt else []
                case Dropped():
                    dropped[outcome.reason] += 1
                case Problem(last=False) if skip is not None:
                    skip(outcome)
                case Problem():
                    raise InputError.at(path, outcome.line, outcome.message)
    finally:
        if isinstance(events, Generator):
            events.close()  # and its file, which the traceback of an error would keep open
    if not examples:
        counts = ", ".join(f"{reason}: {count}" for reason, count in dropped.items())
        left_out = f" (left out: {counts})" if counts else ""
        raise InputError.at(path, None, f"has no labelled instance{left_out}; expected at least one")
    if doubts:
        found = f"in {len(doubts)} of {len(examples)} instances the aspect occurs several times: {doubts[0]}"
        warnings.warn(PssaWarning(f"{path}: {found}; {setting('occurrence', 'error')} stops instead"), stacklevel=5)
    return Corpus(tuple(examples), rule.labels, dict(dropped))


def _outcomes(row: Row, rule: LabelRule, occurrence: str) -> Iterator[Outcome]:
    """Yield the outcomes of a row: one instance or, of an aspect that occurs several times, as many as are asked for."""
    doubts: list[str] = []
    try:
        examples = _examples(row, occurrence, doubts)
        if rule.drops(examples[0].label):
            yield Dropped(row.line, str(examples[0].label))
            return
        label = rule.normalise(examples[0].label) if "label" in row.fields else rule.refuse_unlabelled(row)
    except UnknownLabel as error:
        yield Problem(row.line, error.message, unknown_label=error.label)
    except InputError as error:
        yield Problem(row.line, error.message)
    else:
        for example in examples:
            known = label in rule.labels
            yield _accept(row, replace(example, label=label), doubts) if known else Dropped(row.line, label)


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


def _accept(row: Row, example: Example, doubts: Sequence[str]) -> Accepted:
    alone = () if example.candidates else ("the sentence is nothing but its aspect",)
    doubt = find_aspect_doubt(row.fields, example.text, example.aspect_chars)
    return Accepted(row.line, example, (*row.warnings, *alone, *([doubt] if doubt else ()), *doubts), "".join(doubts))


def _rename(accepted: Accepted, name: str) -> Accepted:
    warning = f"id {shorten(accepted.example.id)} was used before; this instance is named {shorten(name)}"
    return Accepted(accepted.line, replace(accepted.example, id=name), (*accepted.warnings, warning))
