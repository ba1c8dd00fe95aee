"""Runs of the joint model: train, save, load, export. `pssa.joint.train` reads what people train on.

A run holds `model.json`, `model.safetensors`, `encoder/` with the encoder's configuration and tokenizer, `metrics.json`,
`config.toml` and a card. An exported folder holds the encoder as ONNX instead (`pssa.runs.onnx_runtime`).
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save
from torch import nn

from pssa.aspects.evaluate import evaluate_reviews
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.files import write_atomically
from pssa.data.reviews import Review
from pssa.data.tokenize import tokenize
from pssa.display import percent
from pssa.errors import InputError, import_extra
from pssa.joint.decoding import choose_decoding, choose_labels, label_logits
from pssa.joint.model import JointLoss, JointModel
from pssa.joint.pieces import WordPieces
from pssa.joint.runtime import Decoding, Floats, JointRuntime, KeptStates
from pssa.joint.starts import new_start, open_start
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
from pssa.runs.saved_model import load_weights
from pssa.training import Observer

MODEL = "joint"  # its name
_SCHEMA = 1
_N_NAMED = 20  # aspects that say what the training texts are about
_MAX_PIECES = 256  # of a sentence in training; longer ones are left out
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
    config: str = "",
) -> Path:
    """Train a joint model and save it in the new directory `out`.

    :param dev: groups of held-out reviews, such as domains, that choose thresholds and calibrate probabilities.
    :param encoder: folder or hub name of a pretrained encoder.
    :param start: joint run to start from, in place of an encoder.
    :param taught: further examples, such as those of a teacher.
    :param mentions: held-out reviews whose annotators marked aspects without an opinion too.
    :param finds: whether `dev` lists all aspects of its reviews; otherwise the model finds as `start` does.
    :param config: content of its `config.toml`; empty: it has none.
    :raises InputError: if a file or `out` cannot be used.
    """
    schedule = schedule or JointSchedule()
    RunDirectory.refuse_taken(Path(out))
    begun = open_start(start, labels) if start else new_start(encoder, labels, schedule.seed)
    pretrained, model = begun.pretrained, begun.model.to(choose_device(device))

    pieces = WordPieces(pretrained.tokenizer.backend_tokenizer, min(pretrained.max_positions, _MAX_PIECES))
    marked = [example for source in sources for example in joint_examples(source, pieces, labels)]
    examples = [each for each in (*marked, *taught) if len(each.sentence.ids) < pieces.max_positions]
    if not any(example.aspects for example in examples):
        raise InputError("no sentence has an aspect; expected reviews with aspects and their labels")
    learned = examples if finds else remember(model, examples)
    fit_joint(model, learned, schedule, loss or JointLoss(), pretrained.mask_id, observer)

    runtime = runtime_of(model.eval(), replace(pieces, max_positions=pretrained.max_positions), labels)
    # Held-out reviews are read once, and asked about often.
    runtime = replace(runtime, encode=KeptStates(runtime.encode), decoding=begun.decoding)
    if finds:
        decoding = choose_decoding(runtime, dev, mentions)
    else:
        decoding = choose_labels(runtime, dev, [begun.decoding.mention_margin])
    runtime = replace(runtime, decoding=decoding)
    held_out = _held_out(runtime, [review for group in dev for review in group])
    if calibration := Calibration.of(held_out):
        runtime = replace(runtime, decoding=replace(runtime.decoding, temperature=calibration.temperature))
    scores = [evaluate_reviews(Classifier(runtime), group).as_dict() for group in dev]
    metrics = {
        **_counts(examples),
        "schedule": asdict(schedule),
        "dev": scores if finds else [{**each, "spans": None, "overall": None} for each in scores],
        "held_out": held_out.confusion(labels),
    }

    with RunDirectory.created(Path(out)) as directory:
        root = directory.root
        pretrained.save(root / "encoder")
        write_tensors(root / "model.safetensors", model.state_dict())
        _write_description(root, MODEL, runtime)
        if config:
            write_atomically(root / "config.toml", config.encode())
        write_atomically(root / "README.md", _card(labels, metrics).encode())
        _profile(sources).after(begun.profile).save(root)
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
        for name in ("README.md", "calibration.json", "config.toml", "inputs.json", "metrics.json"):
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
    """Describe the training texts. An encoder knows aspects that it has not seen, so the commonest are kept, to be named: by
    their mean share of the sources, since one that marks many aspects would speak for all.
    """
    examples, shares = [], defaultdict[str, float](float)
    for source in {id(source): source for source in sources}.values():
        own = Counter[str]()
        for review in source.sentences:
            if words := tokenize(review.text):
                examples.append(Example("0", review.text, review.text, words, (0, 1)))
            own.update(review.text[start:end].casefold() for start, end in review.aspects)
        for name, count in own.items():
            shares[name] += count / own.total()
    commonest = tuple(sorted(shares, key=shares.__getitem__, reverse=True)[:_N_NAMED])
    return replace(InputProfile.of(examples), aspects=commonest, notes_aspects=False)


def _card(labels: Sequence[str], metrics: dict[str, Any]) -> str:
    dev = [each for each in metrics["dev"] if each["spans"]]
    spans = ", ".join(percent(each["spans"]["f1"]) for each in dev)
    accuracy = ", ".join(percent(each["labels"]["accuracy"]) for each in dev if each["labels"])
    counts = {name: metrics[name] for name in ("sentences", "aspects", "with_opinion_words")}
    return _CARD.format(model=MODEL, labels=", ".join(labels), spans=spans, accuracy=accuracy, **counts)


def _counts(examples: Sequence[JointExample]) -> dict[str, int]:
    marked = [words for example in examples if not example.is_taught for words in example.evidence[:-1]]
    return {
        "sentences": len(examples),
        "aspects": sum(len(example.aspects) for example in examples),
        "with_opinion_words": sum(map(bool, marked)),
    }
