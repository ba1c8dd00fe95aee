"""Instances, file formats, splits, vocabularies, batches and evidence."""

from pssa.data.check import Report, check
from pssa.data.evidence import Evidence
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.io import read, stream, write
from pssa.data.split import folds, hold_out

__all__ = [
    "DEFAULT_LABELS",
    "Corpus",
    "Evidence",
    "Example",
    "Report",
    "check",
    "folds",
    "hold_out",
    "read",
    "read_evidence",
    "stream",
    "write",
    "write_evidence",
]
