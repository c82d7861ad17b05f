"""Measures of this study's claims alone; the others are measures of any study.

Without a proxy a cell has `proxy` off, where receivers acknowledge each packet, or off-delayed.
"""

from longhaul.studies.measures import GENERAL, Measures

from . import theory

MEASURES = Measures(GENERAL | theory.MEASURES)
