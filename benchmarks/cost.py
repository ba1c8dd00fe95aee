"""What a method costs: wall time of `pssa train --method X` as a multiple of `--method base`, same machine, same run.

python benchmarks/cost.py --train FILE --vectors F --methods base,aw-as,pg-as
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import pssa


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--model", default="tnet_att")
    parser.add_argument("--methods", default="base,aw-as,pg-as")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    base = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for method in arguments.methods.split(","):
            run = Path(folder) / method
            began = time.perf_counter()
            pssa.train(
                arguments.train,
                run,
                model=arguments.model,
                method=method,
                seed=arguments.seed,
                vectors=str(arguments.vectors or ""),
                device="cpu",
            )
            seconds = time.perf_counter() - began
            base = base or seconds
            epochs = json.loads((run / "metrics.json").read_text())["epochs"]
            print(f"{method}: {seconds:.1f} s, {seconds / base:.2f} times base ({epochs} epochs)", flush=True)


if __name__ == "__main__":
    main()
