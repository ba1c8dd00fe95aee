"""What errors name: a field of the job for those who call us, and the option that sets it for those who type."""

from __future__ import annotations

__all__ = ["AGAIN", "OUTPUT", "REJECTED", "REPLACE", "RESUME", "SKIP"]

OUTPUT = "`output` (--output)"
REJECTED = "`rejected` (--rejected)"
RESUME = '`begin="resume"` (--resume)'
REPLACE = '`begin="replace"` (--force)'
SKIP = '`errors="skip"` (--errors skip)'
AGAIN = f"begin again with {REPLACE}"
