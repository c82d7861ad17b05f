"""The dissertation's figures from our results in its order, and our own (N.1 to N.10)."""

from .standards.figures import STANDARDS
from .today.figures import TODAY
from .traffic.figures import TRAFFIC
from .transfers.figures import TRANSFERS
from .web.figures import WEB

FIGURES = [*TRANSFERS, *WEB, *TRAFFIC, *STANDARDS, *TODAY]
