"""What claims measure."""

from collections.abc import Mapping

from longhaul.studies.ledger import Measure
from longhaul.studies.measures import GENERAL

from .loss_free import measures as loss_free
from .mixed import contrasts as mixed

MEASURES: Mapping[str, Measure] = {**GENERAL, **mixed.MEASURES, **loss_free.MEASURES}
