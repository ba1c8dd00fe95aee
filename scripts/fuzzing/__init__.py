"""The parts of `scripts/fuzz.py`: what is attacked, where the cases come from, and who judges what came of them."""
