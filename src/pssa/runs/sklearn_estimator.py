"""`AspectClassifier`: training and prediction as a scikit-learn estimator, for `cross_val_score`, `GridSearchCV` and `Pipeline`.

Importing this module needs scikit-learn (`pip install 'pssa[sklearn]'`); `pssa` imports it when the name is first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from pssa.data.example import Corpus, Example
from pssa.data.rows import SAME_NAMES
from pssa.data.tables import Table, is_table, table_columns
from pssa.data.validation import join_names, shorten
from pssa.errors import InputError, import_extra
from pssa.runs.asked_rows import examples_of_table
from pssa.runs.directory import TemporaryFolder
from pssa.runs.loading import load
from pssa.runs.training_run import train

_base = import_extra("sklearn.base", "sklearn")
_multiclass = import_extra("sklearn.utils.multiclass", "sklearn")
_validation = import_extra("sklearn.utils.validation", "sklearn")

_STAGES = "stages"  # of a run: its training data and checkpoints, which no prediction needs
_MAX_SEED = 2**31 - 1
_MAX_REPR = 300  # characters


class AspectClassifier(_base.ClassifierMixin, _base.BaseEstimator):  # type: ignore[misc,name-defined]
    """A classifier of (text, aspect) pairs.

    X is a pandas or polars frame with the columns text and aspect, a list of (text, aspect) pairs, or a list of dicts; y holds
    their labels, of any type. The parameters are those of `pssa.train`, by the same names.

    After `fit`, `classes_` holds the labels, `classifier_` is the `pssa.Classifier` and `run_` its directory, which is
    deleted with it; `save` writes a copy. A pickle holds the files of the run, without training data. Unpickling can
    run code, so unpickle only your own; from others, load a saved run with `pssa.load`, which never runs code.
    """

    def __init__(  # noqa: PLR0913 - scikit-learn reads the parameters from this signature
        self,
        model: str | None = None,
        method: str | None = None,
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        vectors: str | None = None,
        encoder: str | None = None,
        settings: Mapping[str, Any] | None = None,
        seed: Any = 0,
        progress: bool | None = False,
    ) -> None:
        """Keep the parameters; `fit` checks them.

        :param model: None: the starter goes on, unless another parameter is one that only other models take.
        :param settings: any other setting of `pssa.train` by name, such as `{"batch_size": 16, "options.hops": 3}`.
        :param seed: None or a generator: a new one for each fit.
        """
        self.model = model
        self.method = method
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.vectors = vectors
        self.encoder = encoder
        self.settings = settings
        self.seed = seed
        self.progress = progress

    def fit(self, X: Table, y: Any) -> Self:  # noqa: N803
        """Train on the labelled pairs."""
        if y is None:
            raise InputError("AspectClassifier requires y to be passed, but the target y is None")
        examples, labels = _examples(X), _validation.column_or_1d(y, warn=True)
        _validation.check_consistent_length(examples, labels)
        _multiclass.check_classification_targets(labels)
        self.classes_, places = np.unique(labels, return_inverse=True)
        names = tuple(map(str, self.classes_))
        if len(names) < 2:
            raise InputError(f"y has one class, {names[0]}; a classifier needs at least two classes")
        labelled = (replace(example, label=names[place]) for example, place in zip(examples, places, strict=True))
        self._train(Corpus(tuple(labelled), names))
        return self

    def predict(self, X: Table) -> Any:  # noqa: N803
        """Return (n,): the label of each pair."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_proba(self, X: Table) -> Any:  # noqa: N803
        """Return (n, C): the probability of each label, in the order of `classes_`."""
        _validation.check_is_fitted(self)
        return self.classifier_.probabilities(_examples(X)).astype(np.float64)

    def save(self, folder: str | Path) -> Path:
        """Write the run to a new folder, which `pssa.load` and every command can read."""
        _validation.check_is_fitted(self)
        return Path(self.classifier_.save(folder))

    def _train(self, corpus: Corpus) -> None:
        names = ("model", "method", "epochs", "learning_rate", "vectors", "encoder")
        given = {name: getattr(self, name) for name in names}
        seed = self.seed
        if not isinstance(seed, (int, np.integer)):
            seed = _validation.check_random_state(seed).randint(_MAX_SEED)
        more = {} if self.settings is None else self.settings
        if not isinstance(more, Mapping):
            raise InputError(f'settings is {shorten(more)}; expected a dict, such as {{"batch_size": 16}}')
        if "out" in more or "progress" in more:  # the run has a folder of its own
            raise InputError("settings has out or progress; use save and the parameter progress instead")
        settings = {name: value for name, value in given.items() if value is not None} | {**more, "seed": int(seed)}
        self.classifier_ = train(corpus, progress=self.progress, **settings)
        self.run_ = Path(str(self.classifier_.folder))

    def __repr__(self) -> str:
        text: str = super().__repr__()
        return text if len(text) <= _MAX_REPR else f"{text[: _MAX_REPR - 4]}...)"

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "run_" in state:
            state = {name: value for name, value in state.items() if name not in ("run_", "classifier_")}
            names = {path.relative_to(self.run_): path for path in sorted(self.run_.rglob("*")) if path.is_file()}
            kept = {name: path for name, path in names.items() if name.parts[0] not in (_STAGES, ".lock")}
            state["_files"] = {str(name): path.read_bytes() for name, path in kept.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = state.pop("_files", None)
        super().__setstate__(state)
        if files is not None:
            scratch = TemporaryFolder()
            self.run_ = scratch.path / "run"
            for name, content in files.items():
                path = self.run_ / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self.classifier_ = replace(load(self.run_), scratch=scratch)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def _examples(given: Any) -> list[Example]:
    """Return the examples of a frame, of dicts, or of (text, aspect) pairs."""
    if isinstance(given, np.ndarray):
        expected = "expected an array of text and aspect, with two columns"
        if given.ndim != 2:
            raise InputError(f"X has {given.ndim} dimensions; {expected}. Reshape your data")
        if given.dtype.kind not in "OUT":
            raise InputError(f"X is an array of {given.dtype}; {expected}, or a frame with these columns")
        given = given.tolist()
    if not is_table(given):
        raise InputError(f"X is a {type(given).__name__}; expected a frame, or a list of (text, aspect) pairs")
    if isinstance(given, (list, tuple)):
        given = [row if isinstance(row, Mapping) else _pair(row, line) for line, row in enumerate(given, 1)]
        if not given:
            raise InputError("X has 0 samples; expected at least one pair of text and aspect")
    elif not SAME_NAMES.suffice(name.lower() for name in table_columns(given)):
        found = join_names(table_columns(given))
        raise InputError(f"X needs the columns text and aspect; found {found}; rename them before fit and predict")
    return examples_of_table(given, SAME_NAMES)


def _pair(row: Any, line: int) -> dict[str, Any]:
    if isinstance(row, (list, tuple)) and len(row) == 2:
        return {"text": row[0], "aspect": row[1]}
    raise InputError(f"row {line} of X is {shorten(row)}; expected a pair of text and aspect")
