"""The parts of the embedded corpus: sentences written by hand, a small grammar, and what is expected of both."""
