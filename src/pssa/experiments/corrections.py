"""A simulated person who corrects mined evidence: the words that people marked, put in place of those that were mined."""

from __future__ import annotations

import random
from dataclasses import replace

from pssa.data.evidence import Evidence
from pssa.data.evidence_order import order_by_use
from pssa.errors import InputError

ORDERS = ("random", "useful")
ALL = "all"


def correct_sentences(mined: Evidence, human: Evidence, sentences: int | str, order: str, seed: int) -> Evidence:
    """Return mined evidence with some instances corrected, out of those in which people marked a word.

    :param sentences: how many, or `all`.
    :param order: `random`, or `useful`: the most useful to correct first, judged by the mined evidence alone.
    :param seed: of the random order.
    """
    chosen = _choose(mined, human, order, seed)[: None if sentences == ALL else int(sentences)]
    examples = list(mined.examples)
    for index in chosen:
        examples[index] = replace(examples[index], findings=human.examples[index].findings)
    edits = (*mined.header.edits, f"{len(chosen)} instances corrected, in {order} order")
    return Evidence(replace(mined.header, edits=edits), tuple(examples))


def _choose(mined: Evidence, human: Evidence, order: str, seed: int) -> list[int]:
    """Return the instances with marked words in the order of correction."""
    if order not in ORDERS:
        raise InputError(f"unknown order {order!r}; known: {', '.join(ORDERS)}")
    marked = [index for index, example in enumerate(human.examples) if example.findings]
    if order == "useful":
        known = {*marked}
        return [each.index for each in order_by_use(mined.examples) if each.index in known]
    random.Random(seed).shuffle(marked)
    return marked
