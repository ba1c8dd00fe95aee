"""`pipeline`: from raw text to judged aspects in one call.

judge = pssa.pipeline("runs/reviews")
judge("The screen is great but the battery is weak.")   # an `Answer` for each aspect found
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import overload

from pssa.aspects.find import FIND_ADVICE, Finder, FoundAspect, examples_of, find_in_texts, load_finder
from pssa.aspects.names import NameFinder, parse_names
from pssa.aspects.run import has_tagger
from pssa.aspects.spans import check_text
from pssa.data.validation import brief_repr, shorten
from pssa.errors import InputError, setting
from pssa.runs.classifier import Answer, Classifier
from pssa.runs.run_names import STARTER, resolve_run
from pssa.runs.saved_model import load as load_classifier


@dataclass(frozen=True)
class Pipeline:
    """A finder of aspects and a classifier that judges them."""

    classifier: Classifier
    finder: Finder

    def __repr__(self) -> str:
        return brief_repr(self, model=self.classifier.name, finder=type(self.finder).__name__)

    @overload
    def __call__(self, texts: str, batch_size: int = 256) -> list[Answer]: ...

    @overload
    def __call__(self, texts: list[str] | tuple[str, ...], batch_size: int = 256) -> list[list[Answer]]: ...

    def __call__(
        self, texts: str | list[str] | tuple[str, ...], batch_size: int = 256
    ) -> list[Answer] | list[list[Answer]]:
        """Return the answers about each aspect of a text, in its order, or a list of them for each of several texts.

        A text may have several sentences, each aspect is judged in its own, and offsets are those of the text.

        :raises InputError: if a text is not one, or is too long.
        """
        if isinstance(texts, str):
            return self([texts], batch_size)[0]
        for text in texts:
            if not isinstance(text, str):
                raise InputError(f"one of the texts is {shorten(text)}; expected text")
            check_text(text)
        found = find_in_texts(self.finder, texts)
        examples = examples_of([each for inside in found for each in inside])
        answers = iter(self.classifier.answer(examples, batch_size))
        return [[replace(next(answers), start=each.start, end=each.end) for each in inside] for inside in found]


def load(path: str | Path, device: str = "cpu", precision: str = "auto") -> Classifier:
    """Load a run, a stage's model or an ensemble's member from its folder; `starter` is the run that comes with the package.

    If the run has a tagger, `predict` finds the aspects of a table that has none; the tagger is loaded when it is first needed.

    :param device: cpu, cuda, or auto: the GPU where there is one.
    :param precision: float32, bfloat16 for encoders, or auto: bfloat16 for encoders on a GPU.
    :raises InputError: if the folder is not a run, a file in it is damaged, or the model cannot run in this precision.
    """
    classifier, folder = load_classifier(path, device, precision), resolve_run(path)
    return replace(classifier, finder=_TaggerOf(folder, device)) if has_tagger(folder) else classifier


@dataclass(frozen=True)
class _TaggerOf:
    """The tagger of a run, loaded on its first call."""

    run: Path
    device: str

    def __call__(self, texts: Sequence[str]) -> list[tuple[FoundAspect, ...]]:
        return find_in_texts(self._finder, [check_text(text) for text in texts])

    @cached_property
    def _finder(self) -> Finder:
        return load_finder(self.run, self.device)


def pipeline(
    run: str | Path = STARTER,
    *,
    aspects_from: str | Path | None = None,
    aspects: str | Sequence[str] | None = None,
    device: str = "cpu",
    precision: str = "auto",
) -> Pipeline:
    """Load a pipeline that finds the aspects of raw text and labels them.

    :param run: the run of a classifier, by default the one that comes with the package.
    :param aspects_from: the directory of a tagger, a run that has one, or `starter`; by default the run's own tagger.
    :param aspects: names to look for instead, as a list or as text such as `food,"front desk"`.
    :param device: as for `load`, and so is `precision`.
    :raises InputError: if the run has no tagger and nothing else is given, or something cannot be loaded.
    """
    if aspects_from is not None and aspects is not None:
        given = f"{setting('aspects_from')} or {setting('aspects')}"
        raise InputError(f"a tagger finds aspects, or names are looked for; give {given}, not both")
    folder = resolve_run(run)
    if aspects is not None:
        finder: Finder = NameFinder(parse_names(aspects))
    elif aspects_from is None and not has_tagger(folder):
        raise InputError(f"{run} has no tagger; {FIND_ADVICE}")
    else:
        finder = load_finder(folder if aspects_from is None else aspects_from, device)
    return Pipeline(load_classifier(folder, device, precision), finder)
