"""Review of evidence: people flip, drop and add words, and the corrected evidence trains the next model."""

from __future__ import annotations

from pssa.serve.review.session import Review

__all__ = ["Review"]
