"""Bulk scoring: files in, files out, in bounded memory."""

from pssa.bulk.aspects import find_aspects
from pssa.bulk.engines import Engine, LocalEngine, ProcessEngine, RayEngine
from pssa.bulk.finding import FindingOptions
from pssa.bulk.job import Job, Progress, predict
from pssa.bulk.rows import Summary
from pssa.bulk.scorer import Scoring
from pssa.bulk.source import STANDARD

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
