"""Designs of published evaluations, by name.

The publications print no generators. The generators here reproduce every printed row. No rows are
printed of `nist-2to20m12`, so that only its size and resolution are those of the publication.
`nist-2to11m5` is Dataplot's template 2TO11M5, which NIST SP 500-282 names.
"""

from dataclasses import dataclass

from longhaul.designs.design import Design
from longhaul.designs.factorial import two_level
from longhaul.designs.properties import DesignError
from longhaul.files.names import unknown


@dataclass(frozen=True)
class Published:
    """A published design, with the publication that contains it."""

    factors: int
    generators: tuple[str, ...]
    source: str


PUBLISHED = {
    "nist-2to11m5": Published(
        11,
        (
            "x7 = x3*x4*x5", "x8 = x1*x2*x3*x4", "x9 = x1*x2*x6",
            "x10 = x2*x4*x5*x6", "x11 = x1*x4*x5*x6",
        ),
        "Mills et al. 2010, NIST SP 500-282, figure 4-1 (sensitivity of MesoNet)",
    ),
    "nist-2to6m1": Published(
        6, ("x6 = x1*x2*x3*x4*x5",),
        "Mills et al. 2010, NIST SP 500-282, table 6-13 (chapters 6 and 7)",
    ),
    "nist-2to9m4": Published(
        9,
        ("x6 = x2*x3*x4*x5", "x7 = x1*x3*x4*x5", "x8 = x1*x2*x4*x5", "x9 = x1*x2*x3*x5"),
        "Mills et al. 2010, NIST SP 500-282, table 8-13 (chapters 8 and 9)",
    ),
    "nist-2to20m12": Published(
        20,
        (
            "x9 = x2*x5*x8", "x10 = x1*x2*x4*x6", "x11 = x3*x4*x5*x7", "x12 = x3*x4*x6*x8",
            "x13 = x1*x2*x3*x4*x5", "x14 = x1*x3*x4*x6*x7", "x15 = x2*x4*x5*x6*x7",
            "x16 = x1*x3*x5*x6*x8", "x17 = x1*x3*x5*x7*x8", "x18 = x1*x2*x6*x7*x8",
            "x19 = x2*x3*x6*x7*x8", "x20 = x1*x2*x4*x5*x7*x8",
        ),
        "Size and resolution of Mills et al. 2010, NIST SP 500-282, chapter 3, which prints no "
        "rows or generators: these are of the least aberration that the search finds",
    ),
}  # fmt: skip


def published(name: str) -> Design:
    """Return the published design with this name."""
    if name not in PUBLISHED:
        raise DesignError(unknown("design", name, PUBLISHED))
    design = PUBLISHED[name]
    return two_level(design.factors, generators=design.generators)
