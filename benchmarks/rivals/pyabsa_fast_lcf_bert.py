"""PyABSA's default for quick scoring: FAST-LCF-BERT."""

from __future__ import annotations

from rivals.contest import main
from rivals.pyabsa_classifier import Classifier

if __name__ == "__main__":
    main(Classifier("FAST_LCF_BERT"))
