"""The parts of `scripts/faults.py`: what is done to a process or to its disk, and what must be left afterwards."""
