"""Runs: from data and settings to a directory that holds a classifier."""

from pssa.runs.classifier import Answer, Classifier
from pssa.runs.config import Config
from pssa.runs.mining_run import mine
from pssa.runs.saved_model import load
from pssa.runs.training_run import resume, train

__all__ = ["Answer", "Classifier", "Config", "load", "mine", "resume", "train"]
