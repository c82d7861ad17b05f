"""All measures for the study's claims: those of its parts, and those that all studies share."""

from longhaul.studies.measures import GENERAL, Measures

from . import competitors, setup
from .loss_free import measures as loss_free
from .mixed import contrasts as mixed
from .mixed import cut
from .sensitivity import measures as sensitivity

MEASURES = Measures(
    GENERAL
    | mixed.MEASURES
    | cut.MEASURES
    | loss_free.MEASURES
    | sensitivity.MEASURES
    | competitors.MEASURES
    | setup.MEASURES
)
