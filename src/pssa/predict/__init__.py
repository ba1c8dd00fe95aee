"""Bulk scoring: files in, files out, in bounded memory."""

from pssa.predict.engines import Engine, LocalEngine, ProcessEngine, RayEngine
from pssa.predict.finding import FindingOptions
from pssa.predict.job import Job, Progress, find_aspects, predict
from pssa.predict.rows import Summary
from pssa.predict.scorer import Scoring
from pssa.predict.source import STANDARD

__all__ = [
    "STANDARD",
    "Engine",
    "FindingOptions",
    "Job",
    "LocalEngine",
    "ProcessEngine",
    "Progress",
    "RayEngine",
    "Scoring",
    "Summary",
    "find_aspects",
    "predict",
]
