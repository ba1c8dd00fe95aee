"""Stress tests: variants of labelled instances that reverse or distract, and how a classifier answers them."""

from pssa.stress.measure import StressResult, compare_all_right, stress
from pssa.stress.variants import KINDS, Variant, VariantSet, make_variants
from pssa.stress.variants_file import read_variants, write_variants

__all__ = [
    "KINDS",
    "StressResult",
    "Variant",
    "VariantSet",
    "compare_all_right",
    "make_variants",
    "read_variants",
    "stress",
    "write_variants",
]
