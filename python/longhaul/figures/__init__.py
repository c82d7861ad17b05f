"""Figures of runs: each is declared once, with the function or expression that computes it.

A figure is of a `run`, of the flows of a `label`, or of a `link`. Summaries, comparisons, analyses,
responses of campaigns, evaluations, pages and axes of plots read the registry for its unit, title
and meaning (`longhaul.figures.words`). Another figure is one declaration, in `labels`,
`links` or `runs`.
"""

from longhaul.figures.registry import Figure, every, find

__all__ = ["Figure", "every", "find"]
