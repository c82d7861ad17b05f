"""All measures of the study's claims."""

from longhaul.studies.measures import GENERAL, Measures

from .transfers.measures import TRANSFERS
from .web.measures import WEB

MEASURES = Measures(GENERAL | TRANSFERS | WEB)
