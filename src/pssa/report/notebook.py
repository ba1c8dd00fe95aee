"""What notebooks show of a corpus, of evidence, of an evaluation and of an explanation; see `pssa.display`.

Each is one block of HTML with its own style, escaped like every page, and small whatever the size of the object.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from itertools import islice

from pssa.data.english import is_content_word
from pssa.data.evidence import ACTIVE, KINDS, Evidence, ExampleEvidence
from pssa.data.evidence_stats import stats
from pssa.data.example import Corpus, Example
from pssa.display import percent
from pssa.report.html import render
from pssa.report.sections import Table, choose_evidence
from pssa.runs.answers import Explanation
from pssa.runs.evaluate import Evaluation

_N_EXAMPLES = 5
_N_WORDS = 8
_MAX_TEXT = 200  # characters of a sentence

Part = tuple[str, str]  # a part of a sentence, and its class: aspect, active, misleading or none


@singledispatch
def draw(value: object) -> str:
    """Return the block of an object."""
    raise TypeError(f"notebooks show no {type(value).__name__}")


@draw.register
def _(corpus: Corpus) -> str:
    counts = corpus.label_counts()
    dropped = [f"{count} dropped as {reason}" for reason, count in corpus.dropped.items()]
    shown = [[each.label or "", _sentence(each)] for each in islice(corpus, _N_EXAMPLES)]
    return _block(
        f"Corpus of {len(corpus)} instances",
        facts=[", ".join([f"{count} {label}" for label, count in counts.items()] + dropped)],
        sentences=shown,
        n_more=len(corpus) - len(shown),
    )


@draw.register
def _(evidence: Evidence) -> str:
    found, header = stats(evidence, top=200), evidence.header
    facts = [", ".join(f"{getattr(found, kind)} {kind}" for kind in KINDS) + " words"]
    facts.append(f"mined by {header.method} with {header.model}, {header.saliency}")
    words = {kind: getattr(found, f"{kind}_words") for kind in KINDS}
    for kind, profiles in words.items():
        if top := [str(each["word"]) for each in profiles if is_content_word(str(each["word"]))][:_N_WORDS]:
            facts.append(f"most often {kind}: {', '.join(top)}")
    chosen = choose_evidence(evidence.examples, _N_EXAMPLES)
    shown = [[each.label, _marked(each)] for each in chosen]
    n_more = found.examples - found.examples_without - len(shown)
    return _block(f"Evidence in {found.examples} instances", facts=facts, sentences=shown, n_more=n_more)


@draw.register
def _(evaluation: Evaluation) -> str:
    scores, majority = evaluation.scores, evaluation.majority
    facts = [
        f"accuracy {percent(scores.accuracy)}, macro-F1 {percent(scores.macro_f1)}",
        f"always the most frequent label: {percent(majority.accuracy)}, {percent(majority.macro_f1)}",
    ]
    facts += [f"{tag} ({part.instances}): {percent(part.accuracy)}" for tag, part in evaluation.slices.items()]
    by_label: Table = (
        "By label",
        ("label", "precision", "recall", "F1", "instances", *(f"as {label}" for label in scores.labels)),
        [
            [label, percent(each.precision), percent(each.recall), percent(each.f1), each.support, *row]
            for (label, each), row in zip(scores.per_class.items(), scores.confusion, strict=True)
        ],
    )
    return _block(f"Evaluation on {scores.instances} instances", facts=facts, tables=[by_label])


@draw.register
def _(explanation: Explanation) -> str:
    return render("notebook.html.jinja", title="", explanation=explanation, facts=(), tables=(), sentences=(), n_more=0)


def _block(
    title: str,
    facts: Sequence[str] = (),
    tables: Sequence[Table] = (),
    sentences: Sequence[Sequence[object]] = (),
    n_more: int = 0,
) -> str:
    values = {"title": title, "facts": facts, "tables": tables, "sentences": sentences, "n_more": n_more}
    return render("notebook.html.jinja", explanation=None, **values)


def _sentence(example: Example) -> list[Part]:
    """Return the parts of a sentence, its aspect marked."""
    start, end = example.aspect_chars
    first = max(0, end - _MAX_TEXT)
    before = ("... " if first else "") + example.text[first:start]
    after = example.text[end : first + _MAX_TEXT]
    rest = " ..." if len(example.text) > first + _MAX_TEXT else ""
    return [(before, ""), (example.text[start:end], "aspect"), (after + rest, "")]


def _marked(example: ExampleEvidence) -> list[Part]:
    """Return the words of a sentence, its aspect and its findings marked."""
    kinds = example.kinds
    signs = {word: "+" if kind == ACTIVE else "−" for word, kind in kinds.items()}
    parts: list[Part] = []
    for place, word in enumerate(example.words):
        is_apart = place and example.spans[place - 1][1] < example.spans[place][0]
        parts.append((" " if is_apart else "", ""))
        is_aspect = example.aspect[0] <= place < example.aspect[1]
        parts.append((word + signs.get(place, ""), "aspect" if is_aspect else kinds.get(place, "")))
    return parts
