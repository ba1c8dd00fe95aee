"""PyABSA's `SentimentClassifier` with its FAST-LCF-BERT, and with its BERT-SPC, on the same encoder.

Its trainer looks for data sets on the network and chooses its model on the test file, so a plain loop trains here; scoring is
`SentimentClassifier.predict` on a list, as its documentation does it. Only models that parse sentences need a spaCy model; these
do not, and the one that it insists on loading is an empty one.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from rivals.contest import LABELS, Row, Score

_BATCH, _RATE, _CLIP = 16, 1e-4, 1.0
_LABELS = tuple(label.capitalize() for label in LABELS)


class Classifier:
    """The contender."""

    packages: tuple[str, ...] = ("pyabsa", "transformers", "torch")

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"PyABSA {model}"

    def train(self, rows: Sequence[Row], encoder: Path, folder: Path, epochs: int) -> None:
        """Train with a plain loop over the tensors that PyABSA builds from the rows."""
        torch.manual_seed(0)
        folder.mkdir(parents=True)
        importlib.import_module("spacy").blank("en").to_disk(folder / "spacy")
        classifier = _open(self.model, encoder, folder)
        data = classifier.dataset
        data.prepare_infer_sample([_marked(row) for row in rows])
        classifier.model.train()
        optimizer = torch.optim.Adam(classifier.model.parameters(), lr=_RATE)
        order = random.Random(0)
        places = list(range(len(rows)))
        for _ in range(epochs):
            order.shuffle(places)
            for first in range(0, len(places), _BATCH):
                taken = places[first : first + _BATCH]
                columns = classifier.config.inputs_cols
                batch = {name: torch.stack([data[place][name] for place in taken]) for name in columns}
                gold = torch.tensor([LABELS.index(rows[place].label) for place in taken])
                loss = torch.nn.functional.cross_entropy(classifier.model(batch)["logits"], gold)
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(classifier.model.parameters(), _CLIP)
                optimizer.step()
                optimizer.zero_grad()
        safetensors = importlib.import_module("safetensors.torch")
        safetensors.save_model(classifier.model, str(folder / "model.safetensors"))
        (folder / "encoder").symlink_to(encoder.resolve())

    def load(self, folder: Path) -> Score:
        """Load the model with its weights."""
        classifier = _open(self.model, folder / "encoder", folder)
        importlib.import_module("safetensors.torch").load_model(classifier.model, str(folder / "model.safetensors"))

        def score(rows: Sequence[Row], batch_size: int) -> list[str]:
            texts = [_marked(row) for row in rows]
            # It reports every row and a table on standard output.
            with redirect_stdout(StringIO()):
                found = classifier.predict(
                    texts, print_result=False, ignore_error=False, eval_batch_size=batch_size, merge_results=False
                )
            return [str(answer["sentiment"]).lower() for answer in found]

        return score


def _marked(row: Row) -> str:
    # Without a label it prints a warning for every row, which would cost it time.
    return f"{row.text[: row.start]}[B-ASP]{row.aspect}[E-ASP]{row.text[row.end :]}$LABEL${row.label.capitalize()}"


def _open(model: str, encoder: Path, folder: Path) -> Any:
    pyabsa = importlib.import_module("pyabsa")
    task = pyabsa.AspectPolarityClassification
    ensembler = importlib.import_module("pyabsa.tasks.AspectPolarityClassification.instructor.ensembler")
    config = task.APCConfigManager.get_apc_config_english()
    hidden = importlib.import_module("transformers").AutoConfig.from_pretrained(encoder).hidden_size
    known = {
        "model": getattr(task.APCModelList, model),
        "model_name": model.lower(),
        "dataset_name": "laptop",
        "pretrained_bert": str(encoder),
        "spacy_model": str(folder / "spacy"),
        "hidden_dim": hidden,
        "embed_dim": hidden,
        "output_dim": len(LABELS),
        "device": "cpu",
        "index_to_label": dict(enumerate(_LABELS)),
        "label_to_index": {label: place for place, label in enumerate(_LABELS)},
    }
    for name, value in known.items():
        setattr(config, name, value)
    whole = ensembler.APCEnsembler(config, load_dataset=False)
    return task.SentimentClassifier(checkpoint=(whole, config, whole.tokenizer))
