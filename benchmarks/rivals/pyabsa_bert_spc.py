"""PyABSA's plainest model of a pair: BERT-SPC."""

from __future__ import annotations

from rivals.contest import main
from rivals.pyabsa_classifier import Classifier

if __name__ == "__main__":
    main(Classifier("BERT_SPC"))
