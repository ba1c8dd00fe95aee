"""Examples to outcomes, in one go where that works and one by one where it does not.

What Python warns of while an example is read becomes the warning of its outcome, and an example that cannot be scored spoils
no other.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pssa import models
from pssa.data.example import Example
from pssa.errors import InputError
from pssa.runs.classifier import Answer, Classifier
from pssa.runs.explain import Explanation, explain

_ON_GPU, _WORD_ROWS, _PIECE_ROWS = 256, 32, 8
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scored:
    """What came of one aspect: an answer, an explanation, or an error."""

    value: Answer | Explanation | None
    warning: str = ""
    error: str = ""

    def as_dict(self, *doubts: str) -> dict[str, Any]:
        """Plain values under the names of the service; `doubts` are warnings from before."""
        if self.value is None:
            return {"error": self.error}
        fields = {key: value for key, value in self.value.as_dict().items() if key != "text"}
        warning = "; ".join(filter(None, (*doubts, self.warning)))
        return fields | {"warning": warning} if warning else fields


def score(classifier: Classifier, examples: Sequence[Example], saliency: str | None) -> list[Scored]:
    """Outcomes in the order of the examples; `saliency` None: labels only."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            values = _values(classifier, examples, saliency)
    except Exception as error:
        if len(examples) > 1:
            return [score(classifier, [example], saliency)[0] for example in examples]
        return [Scored(None, error=_reason(error))]
    doubts = [_doubt(classifier, example) for example in examples] if caught else [""] * len(examples)
    return [_outcome(value, doubt) for value, doubt in zip(values, doubts, strict=True)]


def _values(
    classifier: Classifier, examples: Sequence[Example], saliency: str | None
) -> Sequence[Answer | Explanation]:
    return (
        classifier.answer(examples, _together(classifier))
        if saliency is None
        else explain(classifier, examples, saliency)
    )


def _together(classifier: Classifier) -> int:
    """How many sentences of like length are best read at once: on a CPU, padding soon costs more than company brings."""
    if next(classifier.model.parameters()).device.type != "cpu":
        return _ON_GPU
    return _WORD_ROWS if models.reads(classifier.name) == "words" else _PIECE_ROWS


def _outcome(value: Answer | Explanation, doubt: str) -> Scored:
    shares = value.shares if isinstance(value, Explanation) else ()
    answer = value.answer if isinstance(value, Explanation) else value
    if not all(map(math.isfinite, (*answer.probabilities.values(), *shares))):
        return Scored(None, error="the model gives no finite number for this text")
    return Scored(value, doubt)


def _doubt(classifier: Classifier, example: Example) -> str:
    """What is warned of where this example is read alone: a batch's warning does not say whose it is."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.index([example])
    return "; ".join(dict.fromkeys(str(warning.message) for warning in caught))


def _reason(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    _log.error("an example could not be scored", exc_info=error)
    return f"could not be scored ({type(error).__name__}); the log of the service says why"
