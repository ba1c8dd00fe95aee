"""The golden values: resolved settings and trained weights that a change of the code must not change.

PYTHONPATH=.:src python -m tests.goldens.values    writes them again, where a change is meant
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tests.models.encoders import write_encoder

from pssa import models
from pssa.data import embedded
from pssa.errors import PssaError
from pssa.runs import Config, methods
from pssa.runs.prepared_data import prepare
from pssa.runs.resolve import build_saliency, choose_penalty, consensus_rule, loop_settings, mining_rule
from pssa.runs.training_run import write_run
from pssa.runs.warm_start import merge_settings

HERE = Path(__file__).parent
SETTINGS, WEIGHTS = HERE / "settings.json", HERE / "weights.json"
_TINY: dict[str, Any] = {"model": "memnet", "dimension": 16, "epochs": 2, "learning_rate": 0.01, "initial_bound": 0.1}

# Settings, and the number of instances they are resolved for; 0: all of the embedded corpus. `dev` adds development data.
COMBINATIONS: list[tuple[int, dict[str, Any]]] = [
    (0, {}),
    (60, {}),
    (60, {"from_pretrained": "none"}),
    (60, {"epochs": 3}),
    (60, {"min_steps": 0}),
    (60, {"usual_epochs": 0}),
    (60, {"model": "memnet"}),
    (60, {"model": "memnet", "dev": True}),
    (60, {"from_pretrained": "none", "dev": True}),
    (0, {"dev": True}),
    *((0, {"model": model}) for model in ("memnet", "tnet", "tnet_att", "bertabsa", "bertabsa_att", "bertabsa_cls")),
    *((60, {"model": model}) for model in ("tnet", "bertabsa", "bertabsa_att", "bertabsa_cls")),
    *((0, {"method": name}) for name in ("kt", "boosting", "adaboost", "aw-as", "pg-as", "rm-as", "consensus")),
    *((0, {"method": name, "model": "memnet"}) for name in ("aw-as", "pg-as", "consensus")),
    *((0, {"method": name, "model": "bertabsa_att"}) for name in ("aw-as", "pg-as", "rm-as", "consensus")),
    (60, {"method": "consensus", "model": "bertabsa_att"}),
    (60, {"method": "consensus", "model": "bertabsa_att", "consensus_epochs": 2}),
    *((0, {"preset": name, "method": "pg-as"}) for name in ("paper", "paper-rest", "release", "release-rest")),
    *((0, {"preset": name, "method": "pg-as", "model": "memnet"}) for name in ("paper", "release")),
    *((0, {"preset": name, "method": "aw-as", "model": "bertabsa_att"}) for name in ("paper", "release")),
    (0, {"preset": "paper", "model": "tnet"}),
    (0, {"preset": "paper", "gamma": 3, "mining.iterations": 2, "method": "pg-as"}),
    (0, {"method": "pg-as", "penalty": "letter"}),
    (0, {"method": "pg-as", "penalty": "release", "model": "memnet"}),
    (0, {"method": "pg-as", "gamma": 0, "epsilon": 2.5, "words": "active"}),
    (0, {"method": "pg-as", "saliency": "attention"}),
    (0, {"method": "consensus", "saliency": "leave_one_out", "consensus_folds": 3, "consensus_threshold": 0.3}),
    (0, {"method": "consensus", "gate": "held-out", "final_epochs": "search"}),
    (0, {"model": "bertabsa_cls", "method": "aw-as", "refine": "all"}),
    (0, {"model": "bertabsa_att", "unit": "piece", "max_pieces": 40, "method": "pg-as"}),
    (0, {"augment": "contrast", "contrast_share": 0.5}),
    (0, {"calibrate": "held_out", "calibration_fraction": 0.2}),
    (0, {"clip_norm": 2, "schedule": "linear", "warmup": 0.2, "batch_size": 7, "accumulation": 2}),
    (0, {"options": {"hidden": 20, "dropout": 0.5}, "training": {"patience": 3}, "seed": 5}),
    (0, {"conflict": "keep", "labels": "positive,negative,neutral,conflict", "label_map": {"good": "positive"}}),
    (0, {"model": "memnet", "method": "boosting", "hops": 2, "class_weights": "balanced"}),
    (0, {"learning_rate": "fast"}),
    (0, {"model": "memnet", "encoder": "x"}),
    (0, {"leanring_rate": 0.1}),
]


def resolved_settings(encoder: Path) -> list[dict[str, Any]]:
    """Return what each combination becomes before its training starts, without values that are at their default."""
    return [{"instances": n, "given": given, **_resolve(n, given, encoder)} for n, given in COMBINATIONS]


def _resolve(n_instances: int, given: dict[str, Any], encoder: Path) -> dict[str, Any]:
    corpus = embedded.load("train")
    corpus = corpus.select(range(n_instances)) if n_instances else corpus
    dev = embedded.load("test").select(range(40)) if given.get("dev") else None
    settings = {name: value for name, value in given.items() if name != "dev"}
    if models.uses_encoder(settings.get("model", "memnet")):
        settings["encoder"] = str(encoder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            config, _ = prepare(corpus, dev, merge_settings(Config(), settings | {"device": "cpu"}))
    except PssaError as error:
        return {"error": type(error).__name__}
    usual = Config().flat()
    flat = {name: value for name, value in config.flat().items() if name not in usual or value != usual[name]}
    if "data.encoder" in flat:
        flat["data.encoder"] = "ENCODER"
    device = torch.device("cpu")
    loop = asdict(loop_settings(config, device))
    if config.training.precision == "auto":
        del loop["precision"]  # it follows from the processor
    found: dict[str, Any] = {"settings": flat, "loop": loop}
    method = methods.find(config.method)
    if method.mines:
        name = method.saliency(config)
        rule = consensus_rule(config) if config.method == "consensus" else mining_rule(config)
        found |= {"saliencies": {name: repr(build_saliency(config, name)).split(" at 0x")[0]}}
        found |= {"rule": asdict(rule), "penalty": asdict(choose_penalty(config))}
        if config.method == "consensus":
            found |= {"folds": config.mining.consensus_folds, "judge_epochs": config.mining.consensus_epochs}
    plain: dict[str, Any] = json.loads(json.dumps(found, sort_keys=True))
    return plain


def trained_weights(folder: Path) -> dict[str, str]:
    """Return a digest of the weights that each method ends with, on a part of the embedded corpus."""
    corpus = embedded.load("train").select(range(120))
    every = {name: {**_TINY, "method": name} for name in methods.names()}
    every |= {
        "tnet_att pg-as": {**_TINY, "model": "tnet_att", "method": "pg-as", "hidden": 8, "initial_bound": 0.1},
        "tnet search": {**_TINY, "model": "tnet", "hidden": 8, "filters": 8, "epochs": None, "max_epochs": 3},
        "contrast": {**_TINY, "augment": "contrast"},
    }
    encoder = folder / "encoder"
    encoder.mkdir()
    write_encoder(encoder, "bert")
    of_encoders: dict[str, Any] = {"encoder": str(encoder), "epochs": 1, "batch_size": 16, "precision": "float32"}
    every["bertabsa_att pg-as, sentences shared"] = {"model": "bertabsa_att", "method": "pg-as", **of_encoders}
    of_encoders["share_sentences"] = False  # as the recorded results
    every |= {f"{name} aw-as": {"model": name, "method": "aw-as", **of_encoders} for name in ("bertabsa_att",)}
    every |= {name: {"model": name, **of_encoders} for name in ("bertabsa", "bertabsa_cls")}
    found = {}
    for number, (name, settings) in enumerate(every.items()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_run(corpus, folder / str(number), device="cpu", progress=False, **settings)
        found[name] = _digest(folder / str(number))
    return found


def _digest(run: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(run.rglob("model.safetensors")):
        if "stages" not in path.parts:
            for name, tensor in sorted(load_file(path).items()):
                digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def machine() -> str:
    """Return what the last bits of a training depend on."""
    cores = Path("/proc/cpuinfo").read_text("utf-8") if Path("/proc/cpuinfo").is_file() else ""
    # Libraries choose their kernels by the processor: two with AVX512 may add up in another order.
    found = dict(
        re.findall(r"^(vendor_id|cpu family|model|stepping)\s*: (.*)$", cores.partition("\n\n")[0], re.MULTILINE)
    )
    return f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, {', '.join(found.values())}"


def main() -> None:
    """Write the values of this version of the code."""
    torch.set_num_threads(1)  # as in tests
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "known").mkdir()
        write_encoder(folder / "known", "bert")
        lines = [json.dumps(each, sort_keys=True) for each in resolved_settings(folder / "known")]
        SETTINGS.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
        weights = {"machine": machine(), "weights": trained_weights(folder)}
        WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
