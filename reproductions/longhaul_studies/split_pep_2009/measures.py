"""Measures that only this study needs; other claims use general measures.

Cells without a proxy have the level `off` of the factor `proxy` if receivers acknowledge each
packet, and `off-delayed` if receivers delay acknowledgements.
"""

from longhaul.studies.measures import GENERAL, Measures

from . import theory

MEASURES = Measures(GENERAL | theory.MEASURES)
