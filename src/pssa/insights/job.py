"""`make_insights`: from reviews to a page. It scores, groups, counts and writes, and continues where it was killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pssa.data.files import require_writable, write_atomically
from pssa.data.rows import ColumnNames, Columns, Row
from pssa.data.validation import join_names, shorten
from pssa.display import percent
from pssa.errors import InputError, setting
from pssa.evaluation.shares import ShareEstimator
from pssa.insights.aggregate import Survey, Tally
from pssa.insights.dates import DateColumn
from pssa.insights.findings import Findings, find
from pssa.insights.grouping import Groups, Vectors, group, read_groups
from pssa.insights.mentions import IS_MENTION, OVERALL, EmptyReview, FieldNames, Mention, read_mentions
from pssa.insights.page import ErrorRates, PageFacts, render_page
from pssa.predict.engines import Engine, LocalEngine
from pssa.predict.finding import FindingOptions
from pssa.predict.fingerprint import REPLACE, RESUME
from pssa.predict.job import BEGINNINGS, Job, Observer, predict, scoring_of_run
from pssa.predict.output import PartialOutput
from pssa.predict.output_format import choose_output_format
from pssa.predict.rows import WrittenRow, describe_rejection
from pssa.predict.scorer import Scoring
from pssa.predict.source import CsvStyle, find_csv_style, find_sources
from pssa.predict.window import Window
from pssa.runs import Classifier, load
from pssa.runs.input_profile import NEW_ASPECT
from pssa.runs.loading import describe_run, finds_aspects
from pssa.runs.read_defaults import read_as_trained
from pssa.runs.run_names import STARTER, is_starter, lend_starter, name_run, resolve_run

_TITLE = "What customers say"
_ROWS_SEARCHED = 1000  # for columns and dates, before the work begins
_N_TRAINED = 6  # aspects that tell what a model was trained on
_ALIKE = 0.9, 0.6  # shares of words and aspects that a model knows in reviews like its training texts
_LEAST_VOCABULARY = 10_000  # words: a smaller one does not tell what is a word
_STEP_ROWS = 5000  # between two reports of progress
_ROWS_AT_ONCE = 2000  # of the file of rows

Step = Callable[[str, int], None]  # what is done, and how many rows so far


@dataclass(frozen=True)
class InsightsJob:
    """What to read, and what to write.

    :raises InputError: for values that contradict each other.
    """

    inputs: tuple[str, ...]  # files or patterns
    out: Path  # the page
    run: Path = Path(STARTER)
    by: str | None = None  # column that divides reviews into groups to compare
    date: str | None = None  # column of dates
    date_format: str | None = None  # of strptime, if it is not recognised
    table: Path | None = None  # CSV: a line for each aspect group and label
    rows: Path | None = None  # CSV, JSON Lines or Parquet: a line for each aspect found
    groups: Path | None = None  # CSV of spellings and their groups: read if it exists, written if not
    held_out: Path | None = None  # labelled data that shows how often the run errs, if it has kept nothing
    format: str | None = None  # of the inputs, if it is not recognised
    columns: ColumnNames | Columns | None = None  # of the inputs, if they have other names
    encoding: str | None = None
    begin: str = "new"  # or "resume" an unfinished job, or "replace" what exists
    finding: FindingOptions = field(default_factory=FindingOptions)
    scoring: Scoring = field(default_factory=Scoring)

    def __post_init__(self) -> None:
        if self.begin not in BEGINNINGS:
            raise InputError(f"begin is {self.begin!r}; it can be {', '.join(BEGINNINGS)}")

    @property
    def rejected(self) -> Path:
        """The file of rows that could not be used."""
        return self.out.with_name(f"{self.out.name}.rejected.jsonl")

    @property
    def outputs(self) -> list[tuple[Path, str]]:
        """The files that are written, each with the setting that names it."""
        named = {"out": self.out, "table": self.table, "rows": self.rows}
        return [(self.rejected, "out"), *((path, name) for name, path in named.items() if path is not None)]


@dataclass(frozen=True)
class InsightsSummary:
    """Counts of what was found."""

    page: str
    reviews: int
    empty: int  # reviews without an aspect
    opinions: int
    mentions: int  # of aspects, without an opinion
    aspects: int  # groups of aspects
    labels: Mapping[str, int]
    rejected: int  # rows that could not be used
    notes: Mapping[str, int]  # mentions in texts unlike the training data, by kind
    empty_notes: Mapping[str, int]  # the same of reviews without an aspect
    undated: int  # opinions without a date that can be read
    likes: tuple[str, ...]
    dislikes: tuple[str, ...]
    reason: str = ""  # why the first of the rejected rows could not be used
    blank: int = 0  # rows without a text

    @classmethod
    def of(cls, page: Path, findings: Findings, rejected: int, reason: str) -> InsightsSummary:
        """Count what was found.

        :param rejected: rows that could not be used, the first for this reason.
        """
        found = findings.survey
        return cls(
            page=str(page),
            reviews=found.n_reviews,
            empty=found.n_empty,
            opinions=findings.whole.total,
            mentions=found.n_mentions,
            aspects=findings.n_aspects,
            labels={one.label: one.count for one in findings.whole.labels},
            rejected=rejected,
            notes=dict(found.notes.most_common()),
            empty_notes=dict(found.empty_notes.most_common()),
            undated=findings.tally.n_undated,
            likes=tuple(aspect.name for aspect in findings.stand_out("good", 3)),
            dislikes=tuple(aspect.name for aspect in findings.stand_out("bad", 3)),
            reason=reason,
            blank=found.n_blank,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


def make_insights(
    job: InsightsJob, engine: Engine | None = None, observer: Observer | None = None, on_step: Step | None = None
) -> InsightsSummary:
    """Carry out a job.

    :param observer: is called with the progress of scoring.
    :param on_step: is called with the name of each later step and the number of rows that it has read.
    :raises InputError: for what cannot be read, scored or written.
    """
    work = _Work(replace(job, run=resolve_run(job.run)), on_step or (lambda name, rows: None))
    found: list[InsightsSummary] = []

    def finish(output: PartialOutput, page: Path) -> None:
        try:
            found.append(work.write(output, page))
        except InputError as error:
            kept = "" if output.is_removed else f"; the scored rows are kept: resume with {RESUME}"
            raise InputError(f"{error.message}{kept}") from error

    predict(work.scoring_job, engine or LocalEngine(), observer, finish)
    if not found:
        raise InputError(f"{job.out} exists and no job into it is unfinished; begin again with {REPLACE}")
    return found[0]


class _Work:
    """A job in progress; everything that the user gave is checked before anything is scored."""

    def __init__(self, job: InsightsJob, on_step: Step) -> None:
        self.on_step = on_step
        _, self.labels = describe_run(job.run)
        if job.finding.tagger is None and not job.finding.names and not finds_aspects(job.run):
            job = replace(job, finding=replace(job.finding, tagger=lend_starter()))
        if job.rows is not None:
            choose_output_format(str(job.rows), None, self.labels)
        self.given_groups = read_groups(job.groups) if job.groups is not None and job.groups.exists() else None
        self.corpus = read_as_trained(job.run, job.held_out, labels=self.labels) if job.held_out is not None else None
        columns = replace(Columns.of(job.columns), text_only=True)
        self.sources = find_sources(job.inputs, job.format, columns, job.encoding)
        self.job = job
        self._check_files()
        self._look_ahead(columns)

    @property
    def scoring_job(self) -> Job:
        """The job of the prediction engine."""
        job = self.job
        return Job(
            run=job.run,
            inputs=job.inputs,
            output=str(job.out),
            errors="skip",
            begin=job.begin,
            format=job.format,
            columns=job.columns,
            encoding=job.encoding,
            finding=replace(job.finding, keep_empty=True),
            scoring=replace(scoring_of_run(job.run, job.scoring), saliency=job.scoring.saliency or ""),
        )

    def write(self, output: PartialOutput, page: Path) -> InsightsSummary:
        """Read the scored rows, and write the files that were asked for, the page last."""
        job, classifier = self.job, load(self.job.run)
        self.tells_mentions = hasattr(classifier.runtime, "mentions")
        rejected, n_rejected = output.first_rejected, output.summary.rejected
        reason = describe_rejection(rejected) if rejected else ""
        survey = Survey(job.by, self.dates, profile=classifier.profile)
        for mention in self._mentions(output, "counting aspects"):
            survey.add(mention)
        if not survey.n_reviews:
            output.clear()
            what = "no row has a text" if survey.n_blank else "the input has no rows"
            raise InputError(reason or f"{', '.join(job.inputs)}: {what}; name a file that has some")
        tally = Tally(survey, self.labels, group(survey.spellings, word_vectors(classifier), self.given_groups))
        for mention in self._mentions(output, "counting labels"):
            tally.add(mention)
        if job.held_out is not None and self.corpus is not None:
            rates = ErrorRates.measured(classifier, self.corpus, job.held_out.name)
        else:
            rates = ErrorRates.of_run(job.run, self.labels)
        estimator = ShareEstimator(rates.confusion)
        findings = find(tally, estimator)
        facts = PageFacts(
            title=_TITLE,
            model=self._describe_model(classifier),
            errors=rates.describe(estimator),
            trust=self._describe_trust(classifier, survey, estimator.is_corrected),
            is_corrected=estimator.uses_predictive_values
            and estimator.covers([one.count for one in findings.whole.labels]),
            by=job.by or "",
            date=job.date or "",
            n_skipped=n_rejected,
            reason=reason,
            style=find_csv_style(self.sources),
        )
        if job.rows is not None:
            self._write_rows(output, job.rows, tally.groups, facts.style)
        if job.table is not None:
            write_atomically(job.table, facts.style.encode(findings.table()))
        if job.groups is not None and self.given_groups is None:
            write_atomically(job.groups, facts.style.encode(tally.groups.table()))
        page.write_bytes(render_page(findings, facts).encode("utf-8", "replace"))
        return InsightsSummary.of(job.out, findings, n_rejected, reason)

    def _mentions(self, output: PartialOutput, step: str = "") -> Iterator[Mention | EmptyReview]:
        for number, mention in enumerate(read_mentions(output.json_lines(), self.names, self.tells_mentions), start=1):
            yield mention
            if step and number % _STEP_ROWS == 0:
                self.on_step(step, number)

    def _write_rows(self, scored: PartialOutput, path: Path, groups: Groups, style: CsvStyle) -> None:
        """Write a row for each aspect that was found, as `pssa.predict` does: the scored ones without the shares of words.

        :raises InputError: for a row that the format cannot hold.
        """
        output_format = replace(choose_output_format(str(path), None, self.labels).styled(style), escape_formulas=True)
        no_rejected = path.with_name(f".{path.name}.rejected")
        output = PartialOutput(format=output_format, output=path, rejected=no_rejected, begin="replace")
        left = (
            {name: value for name, value in each.fields.items() if name != "explanation"}
            | {"aspect_group": OVERALL if each.is_overall else groups.of(each.aspect)}
            | {"driver": each.driver, IS_MENTION: not each.is_opinion}
            for each in self._mentions(scored)
            if isinstance(each, Mention)
        )
        columns: tuple[str, ...] = ()
        with output.opened({}):
            while rows := list(islice(left, _ROWS_AT_ONCE)):
                columns = columns or tuple(rows[0])
                if misfit := next(filter(None, (output_format.find_misfit(row, columns) for row in rows)), ""):
                    raise InputError(f"{path}: {misfit}")
                n_rows = output.summary.rows
                written = tuple(map(WrittenRow, range(n_rows, n_rows + len(rows))))
                content = output_format.encode(rows, columns)
                window = output.fit(Window(str(path), (0, n_rows), columns=columns, content=content, written=written))
                if window.first_rejected:
                    raise InputError(f"{path}: {window.first_rejected}")
                output.append(window)
                self.on_step("writing rows", output.summary.rows)
            output.publish()

    def _check_files(self) -> None:
        """Refuse inputs that cannot be read twice, and outputs that exist, cannot be written or are inputs too."""
        for source in self.sources:
            if source.is_stream:
                raise InputError(f"{source.title} can be read only once; name a file with {setting('input')}")
        inputs = {Path(source.name).resolve() for source in self.sources}
        named, others = self.job.outputs, set[Path]()
        if self.given_groups is not None and self.job.groups is not None:
            others.add(self.job.groups.resolve())
        elif self.job.groups is not None:
            named = [*named, (self.job.groups, "groups")]
        for path, name in named:
            if path.resolve() in inputs:
                raise InputError(f"{path} is both an input and an output; choose another {setting(name)}")
            if path.resolve() in others:
                raise InputError(f"{path} is named twice; choose another {setting(name)}")
            others.add(path.resolve())
            if path.exists() and self.job.begin == "new":
                raise InputError(f"{path} already exists; choose another {setting(name)}, or replace it with {REPLACE}")
            if not path.parent.is_dir() or path.is_dir():
                reason = "it is a folder" if path.is_dir() else f"the folder {path.parent} does not exist"
                raise InputError(f"{path} cannot be written: {reason}; choose another {setting(name)}")
            require_writable(path)

    def _look_ahead(self, columns: Columns) -> None:
        """Check, by the first rows, that the columns exist and the dates can be read."""
        events = (event for source in self.sources for event in source.events())
        rows = list(islice((event for event in events if isinstance(event, Row)), _ROWS_SEARCHED))
        found = list(dict.fromkeys(name for row in rows for name in row.given))
        by, date = (_find_column(getattr(self.job, option), option, found) for option in ("by", "date"))
        self.job = replace(self.job, by=by, date=date)
        text = columns.column_of("text") or "text"
        text = next((name for name in found if name.lower() == text.lower()), text)
        self.names = FieldNames(text, *columns.aspect_columns)
        self.dates = DateColumn(date, self.job.date_format) if date is not None else None
        if date is None or not rows:
            return
        ahead = DateColumn(date, self.job.date_format)
        for row in rows:
            ahead.add(row.given.get(date))
        ahead.require_dates()
        # What the first rows leave open, later ones may decide.
        if not (len(rows) == _ROWS_SEARCHED and ahead.is_ambiguous):
            self.dates = DateColumn(date, ahead.format)

    def _describe_model(self, classifier: Classifier) -> str:
        job = self.job
        run = "the starter" if is_starter(job.run) else f"the run {name_run(job.run)}"
        finder = f"the tagger of {run}"
        if job.finding.names:
            finder = "the given names"
        elif job.finding.tagger is not None:
            finder = f"the tagger {name_run(job.finding.tagger)}"
        return (
            f"We found the aspects with {finder} and labelled them with {run} ({classifier.name}). Both make mistakes."
        )

    def _describe_trust(self, classifier: Classifier, survey: Survey, is_corrected: bool) -> str:
        """Return what the model was trained on, how much of these reviews it understood, and how far to trust the shares."""
        profile, none = classifier.profile, percent(survey.n_empty / max(survey.n_reviews, 1), 0)
        if profile is None or not survey.n_words:
            alike = "The run does not say what texts it was trained on"
            parts = [f"{alike}. It finds nothing in {none} of these reviews."]
        else:
            *most, last = profile.aspects[:_N_TRAINED] or ("",)
            about = f"was trained on texts about {', '.join(most)}{' and ' * bool(most)}{last}. It " if last else ""
            words, new = survey.n_known_words / survey.n_words, survey.notes[NEW_ASPECT] / max(survey.n_aspects, 1)
            known = f"{percent(words, 0)} of the words" + (
                f" and {percent(1 - new, 0)} of the aspects" if last and profile.notes_aspects else ""
            )
            is_alike = words >= _ALIKE[0] and 1 - new >= _ALIKE[1]
            alike = "" if is_alike else "These reviews differ from its training texts"
            parts = [f"The model {about}knows {known} in these reviews, and finds nothing in {none} of them."]
        if self.job.held_out is not None and is_corrected:
            parts.append(f"The intervals include its mistakes on {self.job.held_out.name}.")
        elif alike:
            doubt = "" if profile is None else f"{alike}: "
            what = "trust the order of the shares, not their exact size, which can lie outside the intervals."
            parts.append(f"{doubt}{what}" if doubt else f"{what[0].upper()}{what[1:]}")
        else:
            parts.append("These reviews are like its training texts, so the shares are about right.")
        return " ".join(parts)


def word_vectors(classifier: Classifier) -> Vectors | None:
    """Return the vectors of a classifier that reads words; None if it does not, or knows too few to tell what is a word."""
    featurizer: Any = getattr(classifier.runtime, "featurizer", None)
    if not hasattr(featurizer, "vocabulary") or len(featurizer.vocabulary) < _LEAST_VOCABULARY:
        return None
    vocabulary = featurizer.vocabulary
    tables = [
        module for module in classifier.torch.model.modules() if "unseen" in dict(module.named_buffers(recurse=False))
    ]
    if not tables:
        return None
    fixed = tables[0].get_buffer("unseen")
    trained = getattr(tables[0], "words", fixed[:0]).detach()

    def vector(word: str) -> npt.NDArray[np.float32] | None:
        place = vocabulary.index(word)
        if place == vocabulary.unk_id:
            return None
        row = trained[place] if place < len(trained) else fixed[place - len(trained)]
        return row.float().cpu().numpy()

    return vector


def _find_column(name: str | None, option: str, found: list[str]) -> str | None:
    """Return a column as the file spells it.

    :raises InputError: if there is none; the message names the columns that there are.
    """
    if name is None or not found or name in found:
        return name
    alike = [column for column in found if column.lower() == name.lower()]
    if len(alike) == 1:
        return alike[0]
    what = f"the input has no column {shorten(name)}; found {join_names(found)}"
    raise InputError(f"{what}; name one of these with {setting(option, 'COLUMN')}")
