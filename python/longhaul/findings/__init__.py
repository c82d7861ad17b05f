"""The analyses that `longhaul analyze` applies to tables of factors and responses."""

# Each module registers its analyses, in the order of the list.
from longhaul.findings import factors, shares, correlations, competitors, users  # noqa: F401, I001
from longhaul.findings.registry import (
    ANALYSES,
    MAX_ROWS,
    Analysis,
    Findings,
    Options,
    Text,
    analyse,
    refuse_unused,
)

__all__ = [
    "ANALYSES",
    "MAX_ROWS",
    "Analysis",
    "Findings",
    "Options",
    "Text",
    "analyse",
    "refuse_unused",
]
