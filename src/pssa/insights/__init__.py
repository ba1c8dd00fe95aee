"""Insights: what many reviews say about what, how sure that is, and which words say so."""
