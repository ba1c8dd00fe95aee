"""Bulk scoring: files in, files out, in bounded memory."""

from pssa.bulk.engines import LocalEngine, ProcessEngine, RayEngine
from pssa.bulk.job import Engine, Job, Progress, Summary
from pssa.bulk.run_job import predict, predict_file
from pssa.bulk.scorer import Scoring
from pssa.bulk.source import STANDARD

__all__ = [
    "STANDARD",
    "Engine",
    "Job",
    "LocalEngine",
    "ProcessEngine",
    "Progress",
    "RayEngine",
    "Scoring",
    "Summary",
    "predict",
    "predict_file",
]
