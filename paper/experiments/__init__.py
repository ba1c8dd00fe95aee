"""The engine of experiments: cells (a training, a mining, an analysis), their ledger, schedule and comparison.

It knows no table of the paper; `paper.studies` declares which cells a table needs and shows their records.
"""
