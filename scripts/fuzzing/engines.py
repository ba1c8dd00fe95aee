"""Where cases come from: a seeded mutator, hypothesis by a grammar, or libFuzzer guided by the branches that were reached."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import floats, integers, text

from fuzzing.judge import Judge
from fuzzing.mutate import Mutator
from fuzzing.target import Target

__all__ = ["ENGINES", "grown", "guided", "mutated", "warm_up"]


def mutated(judge: Judge, target: Target, cases: int, number: int) -> None:
    """Sound files, changed."""
    mutator = Mutator(target.seeds, target.words, random.Random(number))
    for content in target.seeds:
        judge(content)
    while judge.tally.cases < cases:
        judge(mutator.draw())


def grown(judge: Judge, target: Target, cases: int, number: int) -> None:
    """Cases by the target's grammar; a small grammar may have fewer."""
    assert target.grown is not None

    @seed(number)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.grown)
    def attack(content: bytes) -> None:
        judge(content)

    attack()


def warm_up() -> None:
    """Let hypothesis make its tables of characters, once for all processes that are forked afterwards."""

    @seed(0)
    @settings(max_examples=5, database=None, deadline=None, phases=[Phase.generate])
    @given(text(), floats(), integers())
    def draw(words: str, share: float, number: int) -> None:
        assert words is not None

    draw()


def guided(judge: Judge, target: Target, cases: int, number: int) -> None:
    """Let libFuzzer take the branches of the package for its guide, until `judge` has had enough and ends the process."""
    import atheris

    corpus = Path("corpus")
    corpus.mkdir()
    for place, content in enumerate(target.seeds):
        (corpus / str(place)).write_bytes(content)
    options = [f"-seed={number % 2**31 or 1}", "-rss_limit_mb=0", "-verbosity=0", "-max_len=20000"]
    if target.words:
        Path("words").write_text("".join(f'"{_escaped(word)}"\n' for word in target.words), "ascii")
        options.append("-dict=words")
    atheris.Setup([sys.argv[0], *options, str(corpus)], judge)
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


ENGINES: dict[str, Callable[[Judge, Target, int, int], None]] = {"mutated": mutated, "grown": grown, "guided": guided}
