"""`FindingOptions`: how aspects of rows without any are found.

A row that has an aspect keeps it. Any other row becomes a row of the output for each aspect that is found in its text, with its
own columns and `aspect`, `from` and `to`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pssa.aspects.find import FIND_ADVICE, FOLDER, open_tagger
from pssa.aspects.names import NameFinder
from pssa.data.rows import Columns
from pssa.errors import InputError, setting
from pssa.runs.answers import Answer
from pssa.runs.input_profile import added_column
from pssa.runs.loading import finds_aspects, is_joint
from pssa.runs.run_names import resolve_run


@dataclass(frozen=True)
class FindingOptions:
    """How aspects of rows without any are found: by the tagger of the run, unless another tagger or names are given."""

    tagger: Path | None = None  # directory of a tagger, or of a run that has one
    names: tuple[str, ...] = ()
    keep_empty: bool = False  # write a row without aspect and label for a text in which nothing is found
    min_score: float = 0.0  # of an aspect that a joint model finds
    mentions: bool = False  # whether a joint model answers aspects without an opinion too
    columns: Columns = field(default_factory=Columns)  # of the inputs; the output has the same names
    has_scores: bool = False  # whether the run finds them itself, and says how sure it is

    def __post_init__(self) -> None:
        if self.tagger is not None and self.names:
            given = f"{setting('aspects_from')} or {setting('aspects')}"
            raise InputError(f"a tagger finds aspects, or names are looked for; give {given}, not both")
        if self.names:
            NameFinder(self.names)

    @property
    def finds(self) -> bool:
        """Whether aspects are looked for, once this is resolved."""
        return bool(self.tagger or self.names)

    def resolve(self, run: Path, columns: Columns) -> FindingOptions | None:
        """Return the same with the run's own tagger where nothing else is given; None if the run has none.

        :raises InputError: if the tagger cannot be used, or nothing can be found that could be empty.
        """
        root = resolve_run(self.tagger or run)
        if (self.min_score or self.mentions) and (self.names or not is_joint(root)):
            what = setting("min_score") if self.min_score else setting("mentions")
            raise InputError(f"{what} is for aspects that a joint model finds, such as the starter; leave it out")
        if self.tagger is None and not self.names and not finds_aspects(root):
            if self.keep_empty:
                raise InputError(f"{setting('keep_empty')} is about texts in which nothing is found; {FIND_ADVICE}")
            return None
        if self.names:
            return replace(self, columns=columns)
        has_scores = is_joint(root) and root == resolve_run(run)
        tagger = root if is_joint(root) else open_tagger(root).root
        return replace(self, tagger=tagger, columns=columns, has_scores=has_scores)

    def of_run(self, run: Path) -> dict[str, Any]:
        """Return what `pssa.load` needs to find aspects in this way."""
        root = resolve_run(run)
        is_own = self.tagger in (None, root, root / FOLDER)
        own = {"min_score": self.min_score, "mentions": self.mentions}
        return {"aspects_from": None if is_own else self.tagger, "aspects": self.names or None, **own}

    def place(self, fields: Mapping[str, Any], answer: Answer | None, is_named: bool) -> dict[str, Any]:
        """Return the fields of the aspect that an answer is about: as its row names it, if it does, with its offsets.

        One that a joint model found has its score: how sure the model is that the text gives an opinion about it.
        """
        aspect, start, end = self.columns.aspect_columns
        place: dict[str, Any] = dict.fromkeys((aspect, start, end))
        if answer is not None:
            named = fields.get(aspect) if is_named else None
            place[aspect] = named if isinstance(named, str) and named.strip() else answer.aspect or None
            if answer.end:  # otherwise it is about the text as a whole
                place |= {start: answer.start, end: answer.end}
        if self.has_scores:
            place[added_column(fields, "score")] = answer and answer.score
        return place
