"""What claims measure."""

from longhaul.studies.measures import GENERAL, Measures

from .loss_free import measures as loss_free
from .mixed import contrasts as mixed

MEASURES = Measures(GENERAL | mixed.MEASURES | loss_free.MEASURES)
