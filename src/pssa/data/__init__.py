"""Data: instances, files, splits, vocabularies and batches."""

from pssa.data.check import Report, check
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.read import from_dataset, read, stream
from pssa.data.split import folds, hold_out
from pssa.data.write import write

__all__ = [
    "DEFAULT_LABELS",
    "Corpus",
    "Example",
    "Report",
    "check",
    "folds",
    "from_dataset",
    "hold_out",
    "read",
    "stream",
    "write",
]
