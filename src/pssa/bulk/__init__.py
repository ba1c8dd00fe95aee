"""Bulk scoring: files in, files out, in bounded memory."""

from pssa.bulk.local import Summary, predict_file

__all__ = ["Summary", "predict_file"]
