"""Analyses of trained models; each is a function `(AnalysisInput, **settings) -> plain values`.

To add one, write the function and list it in `ANALYSES`; `Analysis(training, "name")` in an exhibit requests it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from torch import nn

from paper.experiments.mining_stats import word_counts
from pssa import models, saliency
from pssa.data import Corpus, Evidence
from pssa.data.evidence import KINDS
from pssa.data.opinion_words import OpinionWords, evidence_from_opinion_words
from pssa.errors import InputError
from pssa.evaluation import correlate, marked_words, measure_agreement, score
from pssa.runs.classifier import Classifier
from pssa.runs.explain import explain, trust
from pssa.runs.torch_runtime import TorchRuntime
from pssa.saliency import observe
from pssa.stress import make_variants
from pssa.stress import stress as measure_stress
from pssa.stress.variants import VERSION

# Buckets of training frequency, by the largest frequency of each.
FREQUENCY_BUCKETS = {"0": 0, "1-2": 2, "3-10": 10, "11-50": 50, "> 50": float("inf")}
_DIGITS = 10


@dataclass(frozen=True)
class AnalysisInput:
    """A trained model and the data to analyse it with."""

    classifier: Classifier
    train: Corpus
    test: Corpus
    opinion_rows: OpinionWords | None  # of the test corpus, if people marked words in it
    evidence: Evidence | None = None  # of the train corpus, if it supervised the model

    def cut_test(self) -> Corpus:
        """Return the test corpus, cut to the length that the model reads."""
        return replace(self.test, examples=tuple(self.classifier.torch.featurizer.cut(self.test)))


def agreement(given: AnalysisInput, saliencies: Sequence[str] = ("attention", "gradient")) -> dict[str, Any]:
    """Correlate the saliencies on test and, if people marked words, measure their agreement with them."""
    classifier, corpus = given.classifier, given.cut_test()
    indexed = classifier.torch.index(corpus)
    candidates = indexed.table.candidates
    scores = {name: observe(classifier.torch.model, indexed, saliency.build(name, {})).scores for name in saliencies}
    found: dict[str, Any] = {"correlation": [asdict(pair) for pair in correlate(scores, candidates)]}
    if given.opinion_rows is not None:
        marked = marked_words(evidence_from_opinion_words(given.opinion_rows, corpus), candidates.shape[1])
        found["agreement"] = asdict(measure_agreement(scores, marked, indexed, classifier.labels))
    return found


def faithfulness(
    given: AnalysisInput, saliencies: Sequence[str] = ("attention", "gradient"), limit: int = 0
) -> dict[str, Any]:
    """Measure comprehensiveness and sufficiency on test, by way of taking words away and by saliency.

    :param limit: number of instances, drawn at random and the same for every model; 0: all.
    """
    found: dict[str, Any] = trust(given.classifier, given.test, saliencies, limit=limit).as_dict()["faithfulness"]
    return found


def heat(given: AnalysisInput, test: Sequence[int] = (), train: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Return prediction and attention for single instances, by line number from 1; lines past the end are left out.

    BERTABSA has no attention layer of its own. Its attention is that of the encoder's top layer, from the aspect's positions,
    mean over the heads.
    """
    classifier = _with_visible_attention(given.classifier)
    found = []
    for part, corpus, lines in (("test", given.test, test), ("train", given.train, train)):
        found += _explain_lines(classifier, part, corpus, [line for line in lines if line <= len(corpus)])
    return found


def scores(given: AnalysisInput) -> dict[str, Any]:
    """Return accuracy, macro-F1 and the number of each predicted label, for a test part that the training did not have."""
    labels = given.classifier.labels
    predicted = given.classifier.torch.predicted_labels(given.test.examples)
    found = score([example.label or "" for example in given.test], predicted, labels)
    numbers = label_numbers(predicted, labels)
    return {"accuracy": found.accuracy, "macro_f1": found.macro_f1, "predicted": numbers, "labels": list(labels)}


def label_numbers(predicted: Sequence[str], labels: Sequence[str]) -> str | list[int]:
    """Return the number of each label: a digit each, or a list if there are more labels than digits."""
    numbers = [labels.index(label) for label in predicted]
    return "".join(map(str, numbers)) if len(labels) <= _DIGITS else numbers


def rare_words(given: AnalysisInput) -> dict[str, dict[str, float]]:
    """Group test instances by the training frequency of their rarest marked opinion word.

    Each bucket has sums over its instances: correct answers, attention on marked words, and what even attention would give them.
    """
    if given.opinion_rows is None:
        raise InputError("this data set has no marked opinion words; analyse one that has")
    classifier, counts, corpus = given.classifier, word_counts(given.train), given.cut_test()
    marked = evidence_from_opinion_words(given.opinion_rows, corpus).examples
    seen = observe(classifier.torch.model, classifier.torch.index(corpus), saliency.build("attention", {}))
    found = {name: {"instances": 0, "right": 0, "mass": 0.0, "even": 0.0} for name in FREQUENCY_BUCKETS}
    for number, (example, marks) in enumerate(zip(corpus, marked, strict=True)):
        words = [finding.word for finding in marks.findings]
        if not words:
            continue
        row = found[frequency_bucket(min(counts[example.words[word].lower()] for word in words))]
        row["instances"] += 1
        row["right"] += classifier.labels[int(seen.predicted[number])] == example.label
        row["mass"] += float(seen.scores[number, words].sum())
        row["even"] += len(words) / len(example.candidates)
    return found


def frequency_bucket(count: int) -> str:
    """Return the bucket of a word with this training frequency."""
    return next(name for name, most in FREQUENCY_BUCKETS.items() if count <= most)


def round_attention(given: AnalysisInput) -> dict[str, dict[str, Any]]:
    """Sum a supervised model's attention on the words of its evidence, by round and kind, in whole training sentences."""
    if given.evidence is None:
        raise InputError("no evidence supervised this model; analyse one that was trained with evidence")
    model, indexed = given.classifier.torch.model, given.classifier.torch.index(given.train)
    scores = observe(model, indexed, saliency.build("attention", {})).scores
    rounds: dict[int, dict[str, Any]] = {}
    for row, example in zip(scores, given.evidence.examples, strict=True):
        for finding in example.findings:
            blank = {kind: {"words": 0, "attention": 0.0} for kind in KINDS}
            sums = rounds.setdefault(finding.iteration, blank)[finding.kind]
            sums["words"] += 1
            sums["attention"] += float(row[finding.word])
    return {str(number): rounds[number] for number in sorted(rounds)}


def mined_words(given: AnalysisInput, lines: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Return what was mined from single training instances, by line number from 1; lines past the end are left out."""
    if given.evidence is None:
        raise InputError("no evidence supervised this model; analyse one that was trained with evidence")
    found = []
    for line in (line for line in lines if line <= len(given.train)):
        example, mined = given.train[line - 1], given.evidence.examples[line - 1]
        about = {"line": line, "words": list(example.words), "aspect": list(example.aspect), "gold": example.label}
        findings = sorted(mined.findings, key=lambda finding: finding.iteration)
        found.append({**about, "findings": [asdict(finding) for finding in findings]})
    return found


def stress(given: AnalysisInput, version: int = VERSION) -> dict[str, Any]:
    """Count right answers to variants of the test corpus; where people marked opinion words, these are reversed.

    `right` has a digit for each instance: whether the original and every variant were right.

    :param version: of the variants.
    """
    if version != VERSION:
        raise InputError(
            f"this version of the code makes variants of version {VERSION}; version {version} was asked for"
        )
    marked = None
    if given.opinion_rows is not None:
        marked = evidence_from_opinion_words(given.opinion_rows, given.test)
    result = measure_stress(given.classifier, make_variants(given.test, marked))
    return result.as_dict() | {"right": "".join(str(int(each)) for each in result.all_right)}


ANALYSES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (agreement, faithfulness, heat, mined_words, rare_words, round_attention, scores, stress)
}


def find(name: str) -> Callable[..., Any]:
    """Return the analysis called `name`."""
    if name not in ANALYSES:
        raise InputError(f"unknown analysis {name!r}; known: {', '.join(ANALYSES)}")
    return ANALYSES[name]


def _explain_lines(classifier: Classifier, part: str, corpus: Corpus, lines: Sequence[int]) -> list[dict[str, Any]]:
    explanations = explain(classifier, [corpus[line - 1] for line in lines])
    return [
        {
            "part": part,
            "line": line,
            "text": given.text,
            "spans": [list(span) for span in given.spans],
            "aspect": list(given.aspect),
            "shares": [round(share, 4) for share in given.shares],
            "gold": corpus[line - 1].label,
            "probabilities": given.answer.probabilities,
            "saliency": given.saliency,
        }
        for line, given in zip(lines, explanations, strict=True)
    ]


def _with_visible_attention(classifier: Classifier) -> Classifier:
    """Return the classifier, or one with the same parameters whose self-attention can be read."""
    can_refine = "refine" in models.option_defaults(classifier.name)
    if classifier.saliencies[0] == "attention" or not can_refine:
        return classifier
    runtime = replace(classifier.torch, members=(_refining_model(classifier.torch),), vote_weights=(1.0,))
    return replace(classifier, runtime=runtime)


def _refining_model(classifier: TorchRuntime) -> nn.Module:
    model = classifier.model
    options = {"refine": "average"} | ({"head": "dense"} if getattr(model, "dense", None) is not None else {})
    made = models.build(classifier.name, classifier.featurizer.table, len(classifier.labels), options, seed=0)
    made.load_state_dict(model.state_dict())
    return made.to(next(model.parameters()).device).eval()
