"""The research archive: what was measured for the paper's tables and beyond, and the pages that show it."""
