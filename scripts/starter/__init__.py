"""Parts of `scripts/build_starter.py`."""
