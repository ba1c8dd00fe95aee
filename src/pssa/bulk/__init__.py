"""Bulk scoring: files in, files out, in bounded memory."""

from pssa.bulk.job import Engine, Job, Progress, Summary
from pssa.bulk.local import LocalEngine, predict_file
from pssa.bulk.run_job import predict
from pssa.bulk.scorer import Scoring
from pssa.bulk.source import STANDARD

__all__ = ["STANDARD", "Engine", "Job", "LocalEngine", "Progress", "Scoring", "Summary", "predict", "predict_file"]
