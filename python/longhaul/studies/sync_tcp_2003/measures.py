"""What claims measure."""

from longhaul.studies.measures import GENERAL

from .transfers.measures import TRANSFERS

MEASURES = {**GENERAL, **TRANSFERS}
