"""Rows of the paper's tables that ours stand beside: (model, data set, method) to accuracy and macro-F1."""

from __future__ import annotations

__all__ = ["PAPER"]

Key = tuple[str, str, str]

# The paper's overall table: accuracy, macro-F1.
PAPER: dict[Key, tuple[float, float]] = {
    ("memnet", "laptop", "base"): (68.97, 63.28),
    ("memnet", "rest", "base"): (77.32, 65.88),
    ("memnet", "twitter", "base"): (67.71, 66.17),
    ("tnet", "laptop", "base"): (72.67, 67.75),
    ("tnet", "rest", "base"): (78.98, 69.53),
    ("tnet", "twitter", "base"): (72.74, 70.97),
    ("tnet_att", "laptop", "base"): (72.56, 67.13),
    ("tnet_att", "rest", "base"): (79.31, 67.71),
    ("tnet_att", "twitter", "base"): (71.67, 70.23),
    ("memnet", "laptop", "aw K=5"): (70.53, 65.24),
    ("memnet", "rest", "aw K=5"): (78.75, 69.15),
    ("memnet", "laptop", "pg K=5"): (70.84, 65.58),
    ("memnet", "rest", "pg K=5"): (78.98, 69.42),
    ("tnet_att", "laptop", "aw K=5"): (74.18, 69.28),
    ("tnet_att", "rest", "aw K=5"): (80.11, 70.79),
    ("tnet_att", "laptop", "pg K=5"): (74.49, 69.67),
    ("tnet_att", "rest", "pg K=5"): (80.14, 71.72),
    ("bertabsa", "laptop", "base"): (81.38, 77.88),
    ("bertabsa", "rest", "base"): (86.61, 80.49),
    ("bertabsa", "twitter", "base"): (76.59, 75.67),
    ("bertabsa_cls", "laptop", "base"): (80.56, 76.98),
    ("bertabsa_cls", "rest", "base"): (86.72, 80.21),
    ("bertabsa_cls", "twitter", "base"): (76.13, 75.10),
    ("bertabsa_att", "laptop", "base"): (81.53, 78.02),
    ("bertabsa_att", "rest", "base"): (86.79, 80.71),
    ("bertabsa_att", "twitter", "base"): (76.25, 74.98),
    ("bertabsa_att", "laptop", "aw K=5"): (82.21, 79.06),
    ("bertabsa_att", "rest", "aw K=5"): (87.45, 81.65),
    ("bertabsa_att", "twitter", "aw K=5"): (77.21, 76.19),
    ("bertabsa_att", "laptop", "pg K=5"): (82.64, 79.30),
    ("bertabsa_att", "rest", "pg K=5"): (87.86, 82.34),
    ("bertabsa_att", "twitter", "pg K=5"): (77.60, 76.45),
}
