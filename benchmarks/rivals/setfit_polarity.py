"""SetFit's `PolarityModel`: the aspect with three words around it, a colon and the sentence, embedded, and a logistic regression.

The model is called as `AbsaModel` calls it, with the aspects given. Words are cut at white space, where SetFit would let spaCy
parse the sentence first; that is left out of its time.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rivals.contest import LABELS, Row, Score, main


@dataclass(frozen=True)
class Doc:
    """The part of a spaCy document that SetFit uses."""

    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the words joined to one text."""
        return " ".join(self.words)

    def __getitem__(self, words: slice) -> Doc:
        return Doc(self.words[words])


class Polarity:
    """The contender."""

    name = "SetFit PolarityModel"
    packages: tuple[str, ...] = ("setfit", "sentence-transformers", "transformers", "torch")

    def train(self, rows: Sequence[Row], encoder: Path, folder: Path, epochs: int) -> None:
        """Fit the regression on all rows; the encoder is not tuned, because pairs of rows would take too long here."""
        model = _open(encoder)
        texts = list(model.prepend_aspects(*_documents(rows)))
        model.fit(texts, [row.label for row in rows], num_epochs=1)
        # The model card would need spaCy's version.
        model.create_model_card = lambda path, model_name: Path(path, "README.md").touch()
        model.save_pretrained(str(folder))

    def load(self, folder: Path) -> Score:
        """Load the saved model."""
        model = _open(folder)

        def score(rows: Sequence[Row], batch_size: int) -> list[str]:
            inputs = list(model.prepend_aspects(*_documents(rows)))
            return [str(label) for label in model.predict(inputs, batch_size=batch_size, show_progress_bar=False)]

        return score


def _open(folder: Path) -> Any:
    setfit = importlib.import_module("setfit")
    return setfit.span.modeling.PolarityModel.from_pretrained(
        str(folder), labels=list(LABELS), device="cpu", local_files_only=True
    )


def _documents(rows: Sequence[Row]) -> tuple[list[Doc], list[list[slice]]]:
    docs, aspects = [], []
    for row in rows:
        first = len(row.text[: row.start].split())
        docs.append(Doc(tuple(row.text.split())))
        aspects.append([slice(first, first + len(row.aspect.split()))])
    return docs, aspects


if __name__ == "__main__":
    main(Polarity())
