"""What `--help` says of a command beside its options: before them what it does, after them examples."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["page"]

_EXAMPLES = "examples:\n"


def page(description: str, *examples: str) -> dict[str, Any]:
    """What `add_parser` takes of it: one or two sentences, and commands that can be given."""
    return {
        "description": description,
        "epilog": _EXAMPLES + "\n".join(f"  {example}" for example in examples),
        "formatter_class": _Formatter,
    }


class _Formatter(argparse.HelpFormatter):
    """Breaks the description at the width of the terminal, and no example, so that each can be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_EXAMPLES) else super()._fill_text(text, width, indent)
