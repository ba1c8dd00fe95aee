"""Runs of the joint model: train, save, load, export.

A run holds `model.json`, `model.safetensors`, `encoder/` with the encoder's configuration and tokenizer, `metrics.json` and a
card. An exported folder holds the encoder as ONNX instead (`pssa.runs.onnx_runtime`).
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save
from torch import nn

from pssa.aspects.evaluate import evaluate_reviews
from pssa.aspects.sentences import split_review
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.fields import CONFLICT
from pssa.data.files import write_atomically
from pssa.data.formats import find_format
from pssa.data.io import format_of, read
from pssa.data.numbers import percent
from pssa.data.reviews import Opinion, Review, read_reviews
from pssa.data.text_file import InputFile
from pssa.data.tokenize import tokenize
from pssa.data.validation import nearest_name
from pssa.errors import InputError, import_extra, setting
from pssa.joint.decoding import choose_decoding, label_logits
from pssa.joint.model import JointLoss, JointModel
from pssa.joint.pieces import WordPieces
from pssa.joint.runtime import Decoding, Floats, JointRuntime
from pssa.joint.starts import open_start
from pssa.joint.training import (
    AnnotatedSentences,
    JointExample,
    JointSchedule,
    fit_joint,
    joint_examples,
    remember,
)
from pssa.models._pretrained import Pretrained
from pssa.runs.calibration import Calibration, HeldOut
from pssa.runs.classifier import Classifier
from pssa.runs.devices import choose_device
from pssa.runs.directory import RunDirectory, write_json, write_tensors
from pssa.runs.input_profile import InputProfile
from pssa.runs.onnx_export import quiet_export
from pssa.runs.onnx_runtime import ENCODER, HEADS, read_description
from pssa.runs.run_names import STARTER
from pssa.runs.saved_model import load_weights
from pssa.training import Observer

_SCHEMA = 1
_N_NAMED = 20  # aspects that say what the training texts are about
_MAX_PIECES = 256  # of a sentence in training; longer ones are left out
_SETTINGS: dict[str, Any] = {  # with their defaults
    "encoder": None,
    "from_pretrained": None,
    "dev": None,
    "dev_fraction": 0.2,
    "labels": DEFAULT_LABELS,
    "epochs": None,
    "learning_rate": 1.5e-4,
    "seed": 0,
    "device": "auto",
}
_OPTIONS = {"from_pretrained": "--from", "learning_rate": "--lr"}  # whose names differ from those of the settings
_READING = ("format", "encoding", "errors", "label_map", "columns", "occurrence")
_EPOCHS, _MIN_STEPS = 4, 80  # unless a number of epochs is given
_CARD = """---
library_name: pssa
tags: [aspect-based-sentiment-analysis]
---
# {model}

Finds the aspects of a text, labels each as one of {labels}, and shows the words that count.

```python
import pssa

pssa.load("path/to/this/directory").predict("The screen is great but the battery is weak.")
```

| | |
|---|---|
| training data | {sentences} sentences, {aspects} aspects, {with_opinion_words} of them with marked opinion words |
| held-out exact-span F1 | {spans} |
| held-out labels, accuracy | {accuracy} |
"""


def train_reviews(
    data: Any,
    out: str | Path,
    settings: Mapping[str, Any],
    observer: Observer | None = None,
) -> Path:
    """Train a joint model.

    Files that list all opinions of each text (triplets, quadruples, SemEval XML) teach it to find aspects and to label them.
    Rows of a text, an aspect and a label teach it labels alone: it starts from a run, and goes on finding as that does.

    :param data: a file, several, or rows as for any other training.
    :param settings: by name, as of any other training: `encoder`, `dev`, `dev_fraction`, `labels`, `epochs`, `learning_rate`,
        `seed`, `device`, and how files are read: `format`, `encoding`, `errors`, `label_map`, `columns` and `occurrence`.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    if unknown := sorted(settings.keys() - {*_SETTINGS, *_READING}):
        known = {name: setting(name, option=_OPTIONS.get(name, "")) for name in (*_SETTINGS, *_READING)}
        near = nearest_name(unknown[0], known)
        advice = f"did you mean {known[near]}?" if near else f"known: {', '.join(known.values())}"
        raise InputError(f"{setting(unknown[0])} is not a setting of the model joint; {advice}")
    values = _SETTINGS | dict(settings)
    reading = {name: settings[name] for name in _READING if name in settings} | {"labels": values["labels"]}
    if bool(values["encoder"]) == bool(values["from_pretrained"]):
        example = setting("encoder", "sentence-transformers/all-MiniLM-L6-v2")
        start = setting("from_pretrained", "RUN", option="--from RUN")
        raise InputError(f"the model joint starts from a pretrained encoder, such as {example}, or from a run: {start}")
    if not 0 < values["dev_fraction"] < 1:
        raise InputError(f"dev_fraction is {values['dev_fraction']}; it must be greater than 0 and less than 1")
    if (values["epochs"] is not None and values["epochs"] < 1) or not values["learning_rate"] > 0:
        raise InputError("expected at least one epoch and a learning rate above 0")
    RunDirectory.refuse_taken(Path(out))
    several = isinstance(data, (list, tuple)) and all(isinstance(each, (str, Path)) for each in data)
    files = list(data) if several else [data]
    read_ones = [_read(each, reading) for each in files]
    groups, complete = [reviews for reviews, _ in read_ones], all(listed for _, listed in read_ones)
    if not complete and values["from_pretrained"] is None:
        what = "rows of a text, an aspect and a label do not say which aspects there are"
        raise InputError(
            f"{what}; start from a run that finds them: {setting('from_pretrained', STARTER, option=f'--from {STARTER}')}"
        )
    if values["dev"] is not None:
        held = _read(values["dev"], reading)[0]
    else:
        order = [(group, row) for group, reviews in enumerate(groups) for row in range(len(reviews))]
        random.Random(values["seed"]).shuffle(order)
        kept_out = {*order[: min(len(order) - 1, max(1, round(values["dev_fraction"] * len(order))))]}
        held = tuple(groups[group][row] for group, row in sorted(kept_out))
        groups = [
            tuple(review for row, review in enumerate(reviews) if (group, row) not in kept_out)
            for group, reviews in enumerate(groups)
        ]
    sources = []
    for path, reviews in zip(files, groups, strict=True):
        opinions = [opinion for review in (*reviews, *held) for opinion in review.opinions]
        if unknown_labels := {opinion.label for opinion in opinions} - {*values["labels"], CONFLICT}:
            raise InputError.at(
                path, None, f"has the label {min(unknown_labels)!r}; declare it with {setting('labels')}"
            )
        sentences = [sentence for review in reviews for sentence in split_review(review)[0]]
        if not complete:
            sources.append(AnnotatedSentences([each for each in sentences if each.opinions], "some", False))
            continue
        # Formats that list aspects alone mark those without an opinion too, and say nothing of opinions about the whole.
        has_words = any(opinion.words for opinion in opinions)
        sources.append(AnnotatedSentences(sentences, "opinions" if has_words else "all", has_words))
    return train_joint(
        sources,
        [held],
        out,
        encoder=values["encoder"] or "",
        start=None if values["from_pretrained"] is None else Path(values["from_pretrained"]),
        labels=values["labels"],
        schedule=JointSchedule(
            values["epochs"] or _EPOCHS,
            values["learning_rate"],
            min_steps=0 if values["epochs"] else _MIN_STEPS,
            seed=values["seed"],
        ),
        device=values["device"],
        observer=observer,
        finds=complete,
    )


def _read(source: Any, reading: Mapping[str, Any]) -> tuple[Sequence[Review], bool]:
    """Return the texts with their opinions, and whether the source lists all opinions of a text."""
    if isinstance(source, (str, Path)):
        file = InputFile.of(source, reading.get("encoding"))
        if find_format(format_of(file, reading.get("format"))).lists_all_aspects:
            return read_reviews(source, **reading)[0], True
    examples = source.examples if isinstance(source, Corpus) else read(source, **reading).examples
    texts: dict[str, list[Opinion]] = {}
    for example in examples:
        if example.label is not None:
            texts.setdefault(example.text, []).append(Opinion(example.label, example.aspect_chars))
    return [Review(text, tuple(opinions)) for text, opinions in texts.items()], False


def train_joint(  # noqa: PLR0913 - a task, not a value
    sources: Sequence[AnnotatedSentences],
    dev: Sequence[Sequence[Review]],
    out: str | Path,
    *,
    encoder: str = "",
    start: Path | None = None,
    labels: Sequence[str] = DEFAULT_LABELS,
    schedule: JointSchedule | None = None,
    loss: JointLoss | None = None,
    device: str = "auto",
    observer: Observer | None = None,
    taught: Sequence[JointExample] = (),
    mentions: Sequence[Review] = (),
    finds: bool = True,
) -> Path:
    """Train a joint model and save it in the new directory `out`.

    :param dev: groups of held-out reviews, such as domains, that choose thresholds and calibrate probabilities.
    :param encoder: folder or hub name of a pretrained encoder.
    :param start: joint run of the same labels to start from, in place of an encoder.
    :param taught: further examples, such as those of a teacher.
    :param mentions: held-out reviews whose annotators marked aspects without an opinion too.
    :param finds: whether `dev` lists all aspects of its reviews; otherwise the model finds as `start` does.
    :raises InputError: if a file or `out` cannot be used.
    """
    out, schedule = Path(out), schedule or JointSchedule()
    RunDirectory.refuse_taken(out)
    kept: Decoding | None = None
    if start is None:
        pretrained = Pretrained.open(encoder)
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(schedule.seed)
            model = JointModel(pretrained.body(None, 0.0), pretrained.dimension, len(labels))
    else:
        pretrained, model, decoding = open_start(start, labels)
        kept = None if finds else decoding
    model.to(choose_device(device))
    pieces = WordPieces(pretrained.tokenizer.backend_tokenizer, min(pretrained.max_positions, _MAX_PIECES))
    examples = [example for source in sources for example in joint_examples(source, pieces, labels)]
    examples = [example for example in (*examples, *taught) if len(example.sentence.ids) < pieces.max_positions]
    if not any(example.aspects for example in examples):
        raise InputError("no sentence has an aspect; expected reviews with aspects and their labels")
    known = _metrics(examples, schedule)
    if not finds:
        examples = remember(model, examples)
    fit_joint(model, examples, schedule, loss or JointLoss(), pretrained.mask_id, observer)
    return save_joint(
        model.eval(),
        pretrained,
        sources,
        dev,
        out,
        labels=labels,
        mentions=mentions,
        known=known,
        kept=kept,
    )


def save_joint(  # noqa: PLR0913 - what a run is made of
    model: JointModel,
    pretrained: Pretrained,
    sources: Sequence[AnnotatedSentences],
    dev: Sequence[Sequence[Review]],
    out: str | Path,
    *,
    labels: Sequence[str] = DEFAULT_LABELS,
    mentions: Sequence[Review] = (),
    known: Mapping[str, Any],
    kept: Decoding | None = None,
) -> Path:
    """Choose the thresholds of a trained model, calibrate and measure it, and save it in the new directory `out`.

    :param known: what its metrics say beside its scores.
    :param kept: how aspects are found, where `dev` cannot choose it.
    """
    pieces = WordPieces(pretrained.tokenizer.backend_tokenizer, pretrained.max_positions)
    runtime = runtime_of(model, pieces, labels)
    runtime = replace(runtime, decoding=choose_decoding(runtime, dev, mentions=mentions, kept=kept))
    held_out = _held_out(runtime, [review for group in dev for review in group])
    if calibration := Calibration.of(held_out):
        runtime = replace(runtime, decoding=replace(runtime.decoding, temperature=calibration.temperature))
    scores = [evaluate_reviews(Classifier(runtime), group).as_dict() for group in dev]
    if kept is not None:
        scores = [{**each, "spans": None, "overall": None} for each in scores]
    metrics = {**known, "dev": scores, "held_out": held_out.confusion(labels)}

    with RunDirectory.created(Path(out)) as directory:
        root = directory.root
        pretrained.save(root / "encoder")
        write_tensors(root / "model.safetensors", model.state_dict())
        _write_description(root, "joint", runtime)
        write_atomically(root / "README.md", _card(labels, metrics).encode())
        _profile(sources).save(root)
        if calibration:
            calibration.save(root)
        write_json(root / "metrics.json", metrics)
    return Path(out)


def runtime_of(model: JointModel, pieces: WordPieces, labels: Sequence[str]) -> JointRuntime:
    """Return what answers with this model, in torch."""
    device = next(model.parameters()).device
    heads = {name: value.detach().cpu().numpy() for name, value in model.state_dict().items()}
    heads = {name: value for name, value in heads.items() if not name.startswith("body.")}

    @torch.inference_mode()
    def encode(ids: Any, present: Any) -> Floats:
        inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(present)}
        found = model.body(**{name: value.to(device) for name, value in inputs.items()})
        states: Floats = found.last_hidden_state.float().cpu().numpy()
        return states

    return JointRuntime(encode, heads, pieces, tuple(labels))


def load_joint(folder: Path, device: str = "cpu") -> JointRuntime:
    """Load a run for answers in torch.

    :raises InputError: if a file is missing or damaged.
    """
    return load_with_model(folder, device)[0]


def load_with_model(folder: Path, device: str = "cpu") -> tuple[JointRuntime, JointModel]:
    """Load a run and its model; see `load_joint`."""
    values = read_description(folder)
    pretrained = Pretrained.load(folder / "encoder")
    model = JointModel(pretrained.body("eager", 0.0), pretrained.dimension, len(values["labels"]))
    load_weights(folder / "model.safetensors", model)
    model.eval().to(choose_device(device))
    pieces = WordPieces(pretrained.tokenizer.backend_tokenizer, values["max_positions"])
    runtime = runtime_of(model, pieces, values["labels"])
    return replace(runtime, decoding=Decoding(**values["decoding"])), model


def export_joint(run: Path, out: Path, *, quantize: bool = True) -> Path:
    """Write a run as a folder that ONNX Runtime answers, without torch.

    :param quantize: to eight bits: a quarter of the size and twice the speed, for tenths of a point.
    :raises InputError: if `run` is not one, `out` exists, or a library is missing.
    """
    for library in ("onnx", "onnxscript", "onnxruntime"):
        import_extra(library, "onnx")
    runtime, model = load_with_model(run, "cpu")

    with RunDirectory.created(out) as directory:
        root = directory.root
        with tempfile.TemporaryDirectory() as scratch, quiet_export():
            exported = Path(scratch) / ENCODER
            exported.write_bytes(_exported(model.body))
            if quantize:
                _quantize(exported, root / ENCODER)
            else:
                shutil.copyfile(exported, root / ENCODER)
        heads = {name: np.ascontiguousarray(value) for name, value in runtime.heads.items()}
        write_atomically(root / HEADS, save(heads))
        for path in (run / "encoder").iterdir():
            shutil.copyfile(path, root / path.name)
        for name in ("README.md", "calibration.json", "inputs.json", "metrics.json"):
            if (run / name).is_file():
                shutil.copyfile(run / name, root / name)
        _write_description(root, "onnx", runtime)
    return out


class _Body(nn.Module):
    """The encoder as a function of two tensors."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, ids: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        """Return the states (B, P, D)."""
        states: torch.Tensor = self.body(input_ids=ids, attention_mask=present).last_hidden_state
        return states


def _exported(body: nn.Module) -> bytes:
    free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    samples = torch.full((3, 17), 5), torch.ones(3, 17, dtype=torch.long)
    program = torch.onnx.export(
        _Body(body).eval(),
        samples,
        dynamo=True,
        verbose=False,
        dynamic_shapes=(free, free),
        input_names=["input_ids", "attention_mask"],
        output_names=["states"],
    )
    assert program is not None
    found = program.model_proto
    for part in (found, found.graph, *found.graph.node):  # traces of this machine
        del part.metadata_props[:]
        part.doc_string = ""
    return bytes(found.SerializeToString())


def _quantize(source: Path, target: Path) -> None:
    quantization = import_extra("onnxruntime.quantization", "onnx")
    quantization.quantize_dynamic(
        str(source),
        str(target),
        weight_type=quantization.QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gemm", "Gather"],
    )


def _write_description(root: Path, runtime: str, model: JointRuntime) -> None:
    values = {
        "schema": _SCHEMA,
        "runtime": runtime,
        "model": model.name,
        "labels": model.labels,
        "max_positions": model.pieces.max_positions,
        "decoding": asdict(model.decoding),
    }
    write_json(root / "model.json", values)


def _held_out(runtime: JointRuntime, reviews: Sequence[Review]) -> HeldOut:
    """Return the probabilities of the marked aspects of reviews that the model has not learned from."""
    logits, gold = label_logits(runtime, reviews)
    probabilities = torch.from_numpy(np.exp(logits))[None]
    return HeldOut(probabilities, torch.from_numpy(gold), "held-out reviews", kept_out=True)


def _profile(sources: Sequence[AnnotatedSentences]) -> InputProfile:
    """Describe the training texts. An encoder knows aspects that it has not seen, so the commonest are kept, to be named."""
    examples, named = [], Counter[str]()
    for review in (review for source in sources for review in source.sentences):
        if words := tokenize(review.text):
            examples.append(Example("0", review.text, review.text, words, (0, 1)))
        named.update(review.text[start:end].casefold() for start, end in review.aspects)
    commonest = tuple(name for name, _ in named.most_common(_N_NAMED))
    return replace(InputProfile.of(examples), aspects=commonest, notes_aspects=False)


def _card(labels: Sequence[str], metrics: dict[str, Any]) -> str:
    dev = [each for each in metrics["dev"] if each["spans"]]
    spans = ", ".join(percent(each["spans"]["f1"]) for each in dev)
    accuracy = ", ".join(percent(each["labels"]["accuracy"]) for each in dev if each["labels"])
    counts = {name: metrics[name] for name in ("sentences", "aspects", "with_opinion_words")}
    return _CARD.format(model="joint", labels=", ".join(labels), spans=spans, accuracy=accuracy, **counts)


def _metrics(examples: Sequence[JointExample], schedule: JointSchedule) -> dict[str, Any]:
    return {
        "sentences": len(examples),
        "aspects": sum(len(example.aspects) for example in examples),
        "with_opinion_words": sum(
            bool(words) for example in examples if not example.is_taught for words in example.evidence[:-1]
        ),
        "schedule": asdict(schedule),
    }
