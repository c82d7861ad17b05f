"""Figures of runs: each is declared once, with the function or expression that computes it.

A figure is of a `run`, of the flows of a `label`, of a `link`, or of a `proxy`. Summaries,
comparisons, analyses, responses of campaigns, evaluations, pages and axes of plots read the
registry for its unit, title and meaning (`longhaul.figures.words`). Another figure is one
declaration, in `labels`, `links`, `proxies` or `runs`.
"""

from longhaul.figures.registry import Figure, every, find

__all__ = ["Figure", "every", "find"]
