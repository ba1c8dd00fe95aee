"""PSSA: aspect-based sentiment classifiers whose attention teaches itself.

    import pssa

    classifier = pssa.train("reviews.csv", "runs/reviews", model="tnet_att")
    classifier.predict("The screen is great but the battery is weak.", "battery").label

Importing the package is quick and touches neither network nor torch; names are loaded when they are first used.
"""

from __future__ import annotations

import os

from pssa.lazy import lazy_names

__version__ = "0.1.0"

# Threads that wait for each other must sleep, and not spin: beside other programs spinning makes training up to ten
# times slower. OpenMP reads this when torch is imported, which is later unless the caller did so before.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

__getattr__, __dir__ = lazy_names(__name__, __file__)
