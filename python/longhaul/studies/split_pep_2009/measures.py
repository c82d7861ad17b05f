"""What only this study's claims measure; the rest are measures of any study.

Without a proxy a cell has `proxy` off, where receivers acknowledge each packet, or off-delayed.
"""

from longhaul.studies.data import Data
from longhaul.studies.measures import GENERAL, Measures

from . import theory
from .theory import MBPS

MEASURES = Measures(GENERAL | theory.MEASURES)
measure = MEASURES.register

# Web flows that the link carries whole, by which what one offers is measured.
CARRIED = 500


@measure
def offered_percent(data: Data, of: str, flows: float) -> float:
    """What so many web flows offer, in per cent of the link, by what few of them send."""
    return 100.0 * flows * _offered_by_one(data, of) / MBPS


@measure
def flows_to_fill(data: Data, of: str) -> float:
    """Web flows that offer what the link carries."""
    return MBPS / _offered_by_one(data, of)


def _offered_by_one(data: Data, of: str) -> float:
    """Mbit/s on the wire of one web flow, where the link carries all."""
    curve = data.curve("mbps", "flows", of).where(0, CARRIED)
    return float(curve.y.sum() / curve.x.sum())
