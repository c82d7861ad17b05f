"""What claims measure."""

from longhaul.studies.measures import GENERAL

from .transfers.measures import TRANSFERS
from .web.measures import WEB

MEASURES = {**GENERAL, **TRANSFERS, **WEB}
