"""The measures of the study's claims: general ones, and those of `theory`.

Cells without a proxy have the level `off` of the factor `proxy` if receivers acknowledge each
packet, and `off-delayed` if receivers delay acknowledgements. But in PEP-N01 to PEP-N05 `off` has
delayed acknowledgements, and in PEP-H19 they depend on the factor `receiver`.
"""

from longhaul.studies.measures import GENERAL, Measures

from . import theory

MEASURES = Measures(GENERAL | theory.MEASURES)
